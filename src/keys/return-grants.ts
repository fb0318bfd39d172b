import { callObject, NEARBY } from "../calls/call-object.ts";
import type { ReturnedGrant } from "../model/key.ts";
import { SYSTEM_CLOCK } from "../platform/clock.ts";
import { warnIfFails } from "../platform/log.ts";
import type { HeldGrant, HeldKey } from "./held-grants.ts";

/** How long after its end a grant waits for a call that takes its unused units along. */
const RETURN_AFTER_MS = 1_250;

/** Ends a grant by a timer too, because a clock may stand still or be set back. @returns a function that cancels it */
export function endAfter(grant: HeldGrant, ms: number): () => void {
  return SYSTEM_CLOCK.timer(ms, () => {
    grant.isOver = true;
  });
}

/** Returns what is unused of a grant after its end, if no call of its key took it along. */
export async function returnLater(env: Env, keyId: string, key: HeldKey, grant: HeldGrant): Promise<void> {
  endAfter(grant, grant.endsInMs);
  const mostMs = grant.endsInMs + RETURN_AFTER_MS;
  // From the call on: its answer may be late.
  const leftMs = Math.max(0, Math.min(mostMs, grant.askedAt + mostMs - Date.now()));
  await new Promise<void>((resolve) => SYSTEM_CLOCK.timer(leftMs, resolve));
  if (!key.grants.has(grant)) return;
  const returned = key.takeEnded();
  if (returned.some(({ unused }) => unused > 0)) await giveBack(env, keyId, key, returned);
}

async function giveBack(env: Env, keyId: string, key: HeldKey, returned: ReturnedGrant[]): Promise<void> {
  await warnIfFails({ event: "grants_not_returned", keyId }, async () => {
    try {
      await callObject(env.KEYS, keyId, (object) => object.giveBack(keyId, returned), NEARBY);
    } catch (error) {
      key.notReturned(returned);
      throw error;
    }
  });
}
