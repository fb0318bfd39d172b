const DEEPEST = 8;
const QUERY = "Failed query: ";
const PARAMETERS = "\nparams: ";

/**
 * An error and its causes for the log: names, messages and stack frames. Drizzle's errors contain the parameters of a
 * statement, which may be bodies, addresses or hashes, so these are removed. Such errors are recognized by their
 * message, because errors lose their class across RPC.
 */
export function causeOf(error: unknown): string {
  const shown: string[] = [];
  let cause = error;
  while (cause instanceof Error && shown.length < DEEPEST) {
    shown.push(textOf(cause));
    cause = cause.cause;
  }
  if (typeof cause === "string") shown.push(cause);
  return shown.join("\ncaused by ") || `no error but ${typeof error}`;
}

function textOf({ name, message, stack = "" }: Error): string {
  const parameters = message.startsWith(QUERY) ? message.indexOf(PARAMETERS) : -1;
  const shown = parameters < 0 ? message : message.slice(0, parameters);
  // The stack begins with the message, including the parameters. The frames follow.
  const at = stack.indexOf(message);
  const frames = at < 0 ? "" : stack.slice(at + message.length);
  return `${name}: ${shown}${frames}`;
}

/** Does work whose failure is only logged. */
export async function warnIfFails(
  fields: { event: string } & Record<string, unknown>,
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    console.warn({ ...fields, error: causeOf(error) });
  }
}

/** The target of structured log lines: `console`, or nothing in a simulation. */
export type Logger = Pick<Console, "log" | "warn" | "error">;
