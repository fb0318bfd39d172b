import { doEach } from "../platform/concurrency.ts";
import { callObject, NEARBY } from "./call-object.ts";
import { commitFenced } from "./change-fence.ts";

/**
 * Runs `commit`, a write to the directory that changes `keyIds`, so that it applies to the very next request of each
 * key. See `commitFenced`.
 * @throws ApiError `unavailable` if an object could not be notified before, or not in time
 */
export function changeKeys<R>(env: Env, keyIds: readonly string[], commit: () => Promise<R>): Promise<R> {
  return commitFenced({
    begin: (change) => doEach(keyIds, (id) => callObject(env.KEYS, id, (key) => key.beginChange(change), NEARBY)),
    commit,
    end: (change) => doEach(keyIds, (id) => callObject(env.KEYS, id, (key) => key.endChange(change), NEARBY)),
    notEnded: { event: "key_change_not_confirmed" },
  });
}
