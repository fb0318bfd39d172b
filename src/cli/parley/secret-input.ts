import { createInterface } from "node:readline";
import { CommandError } from "../command-error.ts";

/** A terminal or pipe to read a secret from. */
export interface SecretInput {
  isTTY?: boolean;
  setRawMode?(raw: boolean): unknown;
  on(event: "data", take: (chunk: Buffer) => void): unknown;
  off(event: "data", take: (chunk: Buffer) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

// The keys in raw mode: Enter and Ctrl-D, Ctrl-C, Backspace.
const ENTER = ["\r", "\n", "\u0004"];
const INTERRUPT = "\u0003";
const ERASE = ["\b", "\u007f"];

let piped: AsyncIterator<string> | undefined;

/**
 * Reads one secret: from a terminal without showing it, else the next line of standard input.
 * @throws CommandError if there is none
 */
export async function readSecret(
  prompt: string,
  input: SecretInput = process.stdin,
  show: (text: string) => void = (text) => process.stderr.write(text),
): Promise<string> {
  const text = input.isTTY ? await typed(prompt, input, show) : await nextLine(input);
  if (text.trim() === "") throw new CommandError("No secret on standard input: pipe it in.", 2);
  return text.trim();
}

async function nextLine(input: SecretInput): Promise<string> {
  piped ??= createInterface({ input: input as unknown as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  const { value, done } = await piped.next();
  return done ? "" : String(value);
}

function typed(prompt: string, input: SecretInput, show: (text: string) => void): Promise<string> {
  show(prompt);
  // In raw mode the terminal echoes nothing.
  input.setRawMode?.(true);
  return new Promise((resolve, reject) => {
    let text = "";
    const end = () => {
      input.off("data", take);
      input.setRawMode?.(false);
      input.pause();
      show("\n");
    };
    const take = (chunk: Buffer) => {
      for (const character of chunk.toString("utf8")) {
        if (character === INTERRUPT) {
          end();
          return reject(new CommandError("Nothing was saved."));
        }
        if (ENTER.includes(character)) {
          end();
          return resolve(text);
        }
        text = ERASE.includes(character) ? text.slice(0, -1) : text + character;
      }
    };
    input.on("data", take);
    input.resume();
  });
}
