import { unavailable } from "../http/errors.ts";
import { causeOf } from "../log.ts";
import { callObject } from "../platform/call-object.ts";
import { doEach } from "../platform/concurrency.ts";

/**
 * After `beginChange` an object reads the directory for each request, for a minute. The commit must end within that
 * minute.
 */
const COMMIT_WITHIN_MS = 20_000;

/**
 * Runs `commit`, a write to the directory that changes `keyIds`, so that it applies to the very next request of each
 * key. The keys' objects are notified before and after. If the first notification fails, nothing is written. If the
 * last one fails, the change applies all the same, and the objects stop reading the directory a minute later.
 * @throws ApiError `unavailable` if an object could not be notified before, or not in time
 */
export async function changeKeys<R>(env: Env, keyIds: readonly string[], commit: () => Promise<R>): Promise<R> {
  const change = crypto.randomUUID();
  const began = Date.now();
  await doEach(keyIds, (id) => callObject(env.KEYS, id, (key) => key.beginChange(change)));
  const took = Date.now() - began;
  if (took > COMMIT_WITHIN_MS) throw unavailable(`notifying ${keyIds.length} keys of a change took ${took} ms`);
  const result = await commit();
  try {
    await doEach(keyIds, (id) => callObject(env.KEYS, id, (key) => key.endChange(change)));
  } catch (error) {
    // Not thrown, because the change is written.
    console.warn({ event: "key_change_not_confirmed", error: causeOf(error) });
  }
  return result;
}
