import { setTimeout as delay } from "node:timers/promises";
import { CommandError } from "../command-error.ts";
import type { Output } from "./output.ts";
import { type Body, type Service, ServiceFault } from "./service.ts";

const MAX_CALLS = 200;

/**
 * Erases what lies at a path of the operator's: the service does it in steps, and answers 503 while more is left.
 * @param isSure whether the caller said that it may be erased for good
 * @returns the answer, which holds the record
 */
export async function eraseUntilDone(
  service: Service,
  out: Output,
  path: string,
  isSure: boolean | undefined,
): Promise<Body> {
  if (!isSure)
    throw new CommandError("That erases it for good, with all that it holds: say --yes if that is meant.", 2);
  for (let calls = 1; ; calls++) {
    try {
      return (await service.asOperator("DELETE", path)).body;
    } catch (error) {
      const isPart = error instanceof ServiceFault && error.status === 503 && error.retryAfter !== null;
      if (!isPart || calls === MAX_CALLS) throw error;
      if (calls === 1) out.note(`${error.message} More may be left to erase: going on. Ctrl-C ends it.`);
      await delay(Math.max(error.retryAfter ?? 1, 1) * 1_000);
    }
  }
}
