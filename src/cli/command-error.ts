/** Ends a command with one sentence on stderr. The exit code is 2 for wrong arguments, else 1. */
export class CommandError extends Error {
  readonly exitCode: 1 | 2;

  constructor(sentence: string, exitCode: 1 | 2 = 1) {
    super(sentence);
    this.exitCode = exitCode;
  }
}

/** The system's reason, without Node's additions: `EACCES: permission denied`. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/, \w+ '.*$/s, "");
}
