/** The innermost cause of an error. Drizzle's own error shows a query's parameters; the one within does not. */
export function rootCause(error: unknown): unknown {
  let cause = error;
  while (cause instanceof Error && cause.cause !== undefined) cause = cause.cause;
  return cause;
}
