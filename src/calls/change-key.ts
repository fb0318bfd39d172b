import { GRANTS_OVER_AFTER_MS } from "../model/key.ts";
import { SYSTEM_CLOCK } from "../platform/clock.ts";
import { doEach, type Failed, settleEach } from "../platform/concurrency.ts";
import { answerWithin, callObject, NEARBY } from "./call-object.ts";
import { commitFenced } from "./change-fence.ts";

const STOP_TIMEOUT_MS = 20_000;

/**
 * Runs `commit`, a write to the directory that changes `keyIds`, so that it applies to the very next request of each
 * key. See `commitFenced`.
 * @throws ApiError `unavailable` if an object could not be notified before, or not in time
 */
export function changeKeys<R>(env: Env, keyIds: readonly string[], commit: () => Promise<R>): Promise<R> {
  return commitFenced({
    begin: async (change) => {
      const waits: number[] = [];
      await doEach(keyIds, async (id) => waits.push(await beginChange(env, id, change)));
      return Math.max(0, ...waits);
    },
    commit,
    end: (change) => doEach(keyIds, (id) => callObject(env.KEYS, id, (key) => key.endChange(change), NEARBY)),
    notEnded: { event: "key_change_not_confirmed" },
  });
}

/**
 * Makes keys whose organization the directory marks as being deleted refuse their very next request. Their objects can
 * then be erased.
 * @returns those whose object could not be reached
 */
export async function stopKeys(env: Env, keyIds: readonly string[]): Promise<Failed<string>[]> {
  const change = crypto.randomUUID();
  const waits: number[] = [];
  const failed = await settleEach(keyIds, async (id) => {
    waits.push(await answerWithin(STOP_TIMEOUT_MS, () => beginChange(env, id, change)));
  });
  await SYSTEM_CLOCK.wait(Math.max(0, ...waits));
  return failed;
}

/** @returns after how many milliseconds no isolate uses what the key's object granted before */
async function beginChange(env: Env, id: string, change: string): Promise<number> {
  const overInMs: number | undefined = await callObject(env.KEYS, id, (key) => key.beginChange(change, true), NEARBY);
  // An object of an earlier version returns nothing, and does not know what a later version before it granted.
  return overInMs ?? GRANTS_OVER_AFTER_MS;
}
