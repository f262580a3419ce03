// An error, as the server says it.

export function Problem({ error }: { error: Error }) {
  return (
    <p className="problem" role="alert">
      {error.message}
    </p>
  );
}
