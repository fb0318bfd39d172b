import { createInterface } from "node:readline/promises";
import { setTimeout as delay } from "node:timers/promises";
import { CommandError } from "../command-error.ts";
import type { Output } from "./output.ts";
import { type JsonObject, ServiceFault, type ServiceResponse } from "./service.ts";

const MAX_CALLS = 200;

/**
 * Asks on a terminal whether to go on. Without a terminal, only `--yes` confirms.
 * @param action what can't be undone: `delete chat cht_…`
 * @param isSure whether `--yes` was given
 * @throws CommandError unless confirmed
 */
export async function confirm(
  action: string,
  isSure: boolean | undefined,
  input: NodeJS.ReadableStream & { isTTY?: boolean } = process.stdin,
  output: NodeJS.WritableStream = process.stderr,
): Promise<void> {
  if (isSure) return;
  const sentence = `${action[0]?.toUpperCase()}${action.slice(1)}`;
  if (!input.isTTY)
    throw new CommandError(`${sentence}? This can't be undone. Repeat the command with --yes to confirm.`, 2);
  const terminal = createInterface({ input, output });
  // Ctrl-C and Ctrl-D close the prompt without an answer, and leave the cursor behind it.
  const closed = new Promise<string>((resolve) => terminal.once("close", () => resolve("\n")));
  const answer = await Promise.race([terminal.question(`${sentence}? This can't be undone. [y/N] `), closed]);
  terminal.close();
  if (answer === "\n") output.write(answer);
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError("Canceled. Nothing was changed.");
}

/**
 * Deletes a record. The service deletes in steps and answers 503 until it is done.
 * @param deleteRecord one DELETE
 * @returns the answer with the deleted record
 */
export async function deleteUntilDone(out: Output, deleteRecord: () => Promise<ServiceResponse>): Promise<JsonObject> {
  for (let calls = 1; ; calls++) {
    try {
      return (await deleteRecord()).body;
    } catch (error) {
      const isUnfinished = error instanceof ServiceFault && error.status === 503 && error.retryAfter !== null;
      if (!isUnfinished || calls === MAX_CALLS) throw error;
      if (calls === 1)
        out.note(`${error.message} The command continues until everything is deleted. Press Ctrl-C to stop.`);
      await delay(Math.max(error.retryAfter ?? 1, 1) * 1_000);
    }
  }
}
