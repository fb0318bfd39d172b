const DEEPEST = 8;
const QUERY = "Failed query: ";
const PARAMETERS = "\nparams: ";

/**
 * An error and what caused it, as a log may hold them: names, messages and stack frames. Drizzle's errors carry what a
 * statement was given, which is bodies, addresses and hashes: of those the statement alone is shown. They are known by
 * their message, because an error that comes from an object has lost its class.
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
  // The stack repeats the message, parameters and all: its frames are what follows.
  const at = stack.indexOf(message);
  const frames = at < 0 ? "" : stack.slice(at + message.length);
  return `${name}: ${shown}${frames}`;
}

/** Where structured log lines go: `console`, or nowhere in a simulation. */
export type Logger = Pick<Console, "log" | "warn" | "error">;
