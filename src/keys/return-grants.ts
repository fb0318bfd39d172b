import { callObject, NEARBY } from "../calls/call-object.ts";
import { SYSTEM_CLOCK } from "../platform/clock.ts";
import { causeOf } from "../platform/log.ts";
import type { HeldGrant, HeldKey } from "./held-grants.ts";

/** How long after its end a grant waits for a call that takes its unused units along. */
const RETURN_AFTER_MS = 1_250;
/** How long after a failure units are returned again. Three seconds after a grant, its object counts them as used. */
const AGAIN_AFTER_MS = 500;

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
  await wait(Math.max(0, Math.min(mostMs, grant.askedAt + mostMs - Date.now())));
  if (key.grants.has(grant)) await giveBack(env, keyId, key);
}

/** Returns a grant whose answer may be lost, if no call of its key takes it along. One at a time for each key. */
export async function returnLost(env: Env, keyId: string, key: HeldKey): Promise<void> {
  if (key.isReturning) return;
  key.isReturning = true;
  await wait(AGAIN_AFTER_MS);
  key.isReturning = false;
  await giveBack(env, keyId, key);
}

/** Tries twice. */
async function giveBack(env: Env, keyId: string, key: HeldKey, isAgain = false): Promise<void> {
  const returned = key.takeEnded();
  if (!returned.some(({ unused }) => unused > 0)) return;
  try {
    await callObject(env.KEYS, keyId, (object) => object.giveBack(keyId, returned), NEARBY);
  } catch (error) {
    key.notReturned(returned);
    console.warn({ event: "grants_not_returned", keyId, error: causeOf(error) });
    if (isAgain) return;
    await wait(AGAIN_AFTER_MS);
    await giveBack(env, keyId, key, true);
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => SYSTEM_CLOCK.timer(ms, resolve));
}
