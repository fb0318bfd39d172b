import { stripVTControlCharacters, styleText } from "node:util";

const stream = process.stderr;
const isPlain = !stream.isTTY || Boolean(process.env.NO_COLOR);

/** One line to stderr: stdout is for what a program or a person takes away. wrangler colours its errors even in a pipe. */
export function log(line: string): void {
  stream.write(`${isPlain ? stripVTControlCharacters(line) : line}\n`);
}

/** Does a step of the start and says, when it is done, what was done and how long it took. */
export async function step<T>(work: () => Promise<T>, say: (result: T) => string): Promise<T> {
  const begun = performance.now();
  const result = await work();
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
  log(`${styleText("green", "✓", { stream })} ${say(result)} ${styleText("dim", `(${seconds} s)`, { stream })}`);
  return result;
}

/** Says in one line what went wrong. */
export function complain(sentence: string): void {
  log(`${styleText("red", "✗", { stream })} ${sentence}`);
}

/** Says in one line what is not as it should be, where the work goes on. */
export function warn(sentence: string): void {
  log(`${styleText("yellow", "!", { stream })} ${sentence}`);
}
