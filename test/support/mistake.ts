/** An error in the arguments of a command. */
export class Mistake extends Error {}

/** The number that an option has. @throws Mistake if it is not a whole number above 0 */
export function wholeNumber(option: string, text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new Mistake(`--${option} must be a whole number above 0`);
}

/** Runs a command and returns its exit code: 2 for an error in its arguments, which is printed on one line. */
export async function exitCodeOf(command: () => number | Promise<number>): Promise<number> {
  try {
    return await command();
  } catch (error) {
    if (!isMistake(error)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 2;
  }
}

function isMistake(error: unknown): error is Error {
  if (error instanceof Mistake) return true;
  return error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
}
