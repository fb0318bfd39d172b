import { eq } from "drizzle-orm";
import { eachAtOnce } from "../at-once.ts";
import { directory } from "../db/client.ts";
import { apiKeys } from "../db/schema.ts";
import { unavailable } from "../http/errors.ts";
import { causeOf } from "../log.ts";
import { callObject } from "../objects.ts";

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
  const result = await beginAndCommit(env, change, keyIds, commit);
  await confirm(env, change, async () => keyIds);
  return result;
}

/**
 * As `changeKeys`, for all keys of an organization. One that is made while this runs, and used before the commit, has
 * seen the directory as it was: it is told with the others afterwards.
 */
export async function changeAllKeys<R>(env: Env, organizationId: string, commit: () => Promise<R>): Promise<R> {
  const change = crypto.randomUUID();
  const result = await beginAndCommit(env, change, await keysOf(env, organizationId), commit);
  await confirm(env, change, () => keysOf(env, organizationId));
  return result;
}

async function beginAndCommit<R>(
  env: Env,
  change: string,
  keyIds: readonly string[],
  commit: () => Promise<R>,
): Promise<R> {
  const began = Date.now();
  await eachAtOnce(keyIds, (id) => callObject(env.KEYS, id, (key) => key.beginChange(change)));
  const took = Date.now() - began;
  if (took > COMMIT_WITHIN_MS) throw unavailable(`telling ${keyIds.length} keys of a change took ${took} ms`);
  return commit();
}

/** Never throws: the change is made. */
async function confirm(env: Env, change: string, keyIds: () => Promise<readonly string[]>): Promise<void> {
  try {
    await eachAtOnce(await keyIds(), (id) => callObject(env.KEYS, id, (key) => key.endChange(change)));
  } catch (error) {
    console.warn({ event: "key_change_not_confirmed", error: causeOf(error) });
  }
}

async function keysOf(env: Env, organizationId: string): Promise<string[]> {
  const rows = await directory(env)
    .select({ id: apiKeys.id })
    .from(apiKeys)
    .where(eq(apiKeys.organizationId, organizationId));
  return rows.map((row) => row.id);
}
