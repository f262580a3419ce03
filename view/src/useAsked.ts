// An answer of the server as the state of a component.

import { type DependencyList, useEffect, useState } from "react";

export interface Asked<T> {
  /** The last answer; it stays until the next one, so that the page does not flicker. */
  value: T | undefined;
  error: Error | null;
  isLoading: boolean;
}

/** Ask again whenever `dependencies` change, and give up what was asked before. `null` asks nothing. */
export function useAsked<T>(ask: ((signal: AbortSignal) => Promise<T>) | null, dependencies: DependencyList): Asked<T> {
  const [asked, setAsked] = useState<Asked<T>>({ value: undefined, error: null, isLoading: ask !== null });
  useEffect(() => {
    if (!ask) {
      setAsked({ value: undefined, error: null, isLoading: false });
      return undefined;
    }
    const controller = new AbortController();
    setAsked((before) => ({ ...before, isLoading: true }));
    ask(controller.signal).then(
      (value) => controller.signal.aborted || setAsked({ value, error: null, isLoading: false }),
      (error) => controller.signal.aborted || setAsked({ value: undefined, error, isLoading: false }),
    );
    return () => controller.abort();
  }, dependencies);
  return asked;
}

/** Return `value` once it has stayed the same for `ms`. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
