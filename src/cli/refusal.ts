/** Why `npm start` will not go on, in one sentence for the terminal. The exit code is 2 for a fault in the arguments. */
export class Refusal extends Error {
  readonly exitCode: 1 | 2;

  constructor(sentence: string, exitCode: 1 | 2 = 1) {
    super(sentence);
    this.exitCode = exitCode;
  }
}

/** What the system said, without Node's decoration: `EACCES: permission denied`. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/, \w+ '.*$/s, "");
}
