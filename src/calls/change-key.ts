import { GRANTS_OVER_AFTER_MS } from "../model/key.ts";
import { SYSTEM_CLOCK } from "../platform/clock.ts";
import { type Failed, settleEach } from "../platform/concurrency.ts";
import { answerWithin, callObject, NEARBY } from "./call-object.ts";
import { commitFenced } from "./change-fence.ts";

const BEGIN_TIMEOUT_MS = 20_000;

/**
 * Runs `commit`, a write to the directory that changes `keyIds`, so that it applies to the very next request of each
 * key. See `commitFenced`.
 * @throws ApiError `unavailable` if an object could not be notified before, or not in time
 */
export function changeKeys<R>(env: Env, keyIds: readonly string[], commit: () => Promise<R>): Promise<R> {
  return changeKeysAfter(env, keyIds, async () => null, commit);
}

/**
 * As `changeKeys`, for a commit that depends on what an object knows.
 * @param read asks the object when the change has begun
 */
export function changeKeysAfter<B, R>(
  env: Env,
  keyIds: readonly string[],
  read: () => Promise<B>,
  commit: (read: B) => Promise<R>,
): Promise<R> {
  return commitFenced({
    begin: async (change) => {
      const [failed] = await begin(env, keyIds, change);
      if (failed) throw failed.error;
      return answerWithin(BEGIN_TIMEOUT_MS, read);
    },
    commit,
    end: async (change) => {
      const [failed] = await end(env, keyIds, change);
      if (failed) throw failed.error;
    },
    notEnded: { event: "key_change_not_confirmed" },
  });
}

/**
 * Makes keys whose organization the directory marks as being deleted refuse their very next request. Their objects can
 * then be erased.
 * @returns those whose object could not be reached
 */
export function stopKeys(env: Env, keyIds: readonly string[]): Promise<Failed<string>[]> {
  return begin(env, keyIds, crypto.randomUUID());
}

/** Step one at the keys' objects. @returns those that could not be reached */
function begin(env: Env, keyIds: readonly string[], change: string): Promise<Failed<string>[]> {
  return tell(keyIds, async (id) => {
    const ms: number | undefined = await answerWithin(BEGIN_TIMEOUT_MS, () =>
      callObject(env.KEYS, id, (key) => key.beginChange(change, true), NEARBY),
    );
    // An object of an earlier version returns nothing, and does not know what a later version before it granted.
    return ms ?? GRANTS_OVER_AFTER_MS;
  });
}

/** Step three. An object may have granted units although the change was under way. */
function end(env: Env, keyIds: readonly string[], change: string): Promise<Failed<string>[]> {
  return tell(keyIds, async (id) => {
    const ms: number | undefined = await callObject(env.KEYS, id, (key) => key.endChange(change), NEARBY);
    // An object of an earlier version returns nothing.
    return ms ?? 0;
  });
}

/**
 * Notifies the keys' objects, and waits once for all until no isolate uses what they granted before.
 * @param call returns after how many milliseconds no isolate uses what the key's object granted
 * @returns those that could not be reached
 */
async function tell(keyIds: readonly string[], call: (id: string) => Promise<number>): Promise<Failed<string>[]> {
  let overInMs = 0;
  const failed = await settleEach(keyIds, async (id) => {
    const ms = await call(id);
    overInMs = Math.max(overInMs, ms);
  });
  if (overInMs > 0) await SYSTEM_CLOCK.wait(overInMs);
  return failed;
}
