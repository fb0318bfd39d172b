import { unavailable } from "../http/errors.ts";
import { causeOf } from "../log.ts";
import { callObject } from "../platform/call-object.ts";
import { eachAtOnce } from "../platform/concurrency.ts";

/** An object reads the directory for each request for a minute: the commit, D1's own time too, must lie within. */
const COMMIT_WITHIN_MS = 20_000;

/**
 * Makes `commit`, a write to the directory that changes what `keyIds` may do, count with the very next request of each
 * key: their objects are told before and after. Where the first step fails nothing has changed; where the last one
 * fails the change counts all the same, and the objects stop asking the directory a minute later.
 * @throws ApiError `unavailable` when the objects could not be told before, or not in time
 */
export async function changeKeys<R>(env: Env, keyIds: readonly string[], commit: () => Promise<R>): Promise<R> {
  const change = crypto.randomUUID();
  const began = Date.now();
  await eachAtOnce(keyIds, (id) => callObject(env.KEYS, id, (key) => key.beginChange(change)));
  const took = Date.now() - began;
  if (took > COMMIT_WITHIN_MS) throw unavailable(`telling ${keyIds.length} keys of a change took ${took} ms`);
  const result = await commit();
  try {
    await eachAtOnce(keyIds, (id) => callObject(env.KEYS, id, (key) => key.endChange(change)));
  } catch (error) {
    // Not thrown, because the change is made.
    console.warn({ event: "key_change_not_confirmed", error: causeOf(error) });
  }
  return result;
}
