import { stripVTControlCharacters, styleText } from "node:util";

const stream = process.stderr;
const isPlain = !stream.isTTY || Boolean(process.env.NO_COLOR);

/** Writes a line to stderr. Removes colors if stderr is not a terminal. */
export function log(line: string): void {
  stream.write(`${isPlain ? stripVTControlCharacters(line) : line}\n`);
}

/** Runs one step of a command, then prints its result and duration. */
export async function step<T>(work: () => Promise<T>, say: (result: T) => string): Promise<T> {
  const begun = performance.now();
  const result = await work();
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
  log(`${styleText("green", "✓", { stream })} ${say(result)} ${styleText("dim", `(${seconds} s)`, { stream })}`);
  return result;
}

export function printError(sentence: string): void {
  log(`${styleText("red", "✗", { stream })} ${sentence}`);
}

export function printWarning(sentence: string): void {
  log(`${styleText("yellow", "!", { stream })} ${sentence}`);
}
