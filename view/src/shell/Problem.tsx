// An error, as the server says it, or as a view of the page met it.

import { Component, type ReactNode } from "react";

export function Problem({ error }: { error: Error }) {
  return (
    <p className="problem" role="alert">
      {error.message}
    </p>
  );
}

/** Keeps what goes wrong in a view, such as drawing without WebGL, from taking the page with it. */
export class Guard extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    return this.state.error ? <Problem error={this.state.error} /> : this.props.children;
  }
}
