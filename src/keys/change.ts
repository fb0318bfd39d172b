import { unavailable } from "../http/errors.ts";
import { callObject } from "../objects.ts";

const AT_ONCE = 20;

/**
 * Makes `commit`, a write to the directory that changes what `keyIds` may do, count with the very next request of each
 * key: their objects are told before and after. Where the first step fails nothing has changed; where the last one
 * fails the change counts all the same, and the objects stop asking the directory a minute later.
 * @throws ApiError `unavailable` when an object could not be told before
 */
export async function changeKeys<R>(env: Env, keyIds: readonly string[], commit: () => Promise<R>): Promise<R> {
  const change = crypto.randomUUID();
  await eachAtOnce(keyIds, (id) => callObject(env.KEYS, id, (key) => key.beginChange(change)));
  const result = await commit();
  try {
    await eachAtOnce(keyIds, (id) => callObject(env.KEYS, id, (key) => key.endChange(change)));
  } catch (error) {
    console.warn({ event: "key_change_not_confirmed", error: String((error as Error).cause ?? error) });
  }
  return result;
}

/** Runs `work` on all items, `AT_ONCE` at a time: a Worker may have few connections open at once. */
async function eachAtOnce<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < items.length; from += AT_ONCE) {
    const results = await Promise.allSettled(items.slice(from, from + AT_ONCE).map(work));
    const failed = results.find((result) => result.status === "rejected");
    if (failed) throw unavailable(failed.reason);
  }
}
