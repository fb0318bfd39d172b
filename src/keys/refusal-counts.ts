import { callObject, NEARBY } from "../calls/call-object.ts";
import type { Counts } from "../model/counts.ts";
import type { CountedRefusal } from "../model/key.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import { warnIfFails } from "../platform/log.ts";
import { perIsolate } from "../platform/per-isolate.ts";

/** Longer than a refusal is cached, so that the next call of a client that keeps trying carries the counts. */
const REPORT_AFTER_MS = 2_000;

/** By key: refusals from this isolate's cache that the key's object has not counted yet. */
const uncounted = perIsolate(() => new BoundedMap<string, Counts<CountedRefusal>>(10_000));

/** Counts a request that was refused from the cache. The key's object gets the count within two seconds. */
export function countRefusal(
  env: Env,
  ctx: Pick<ExecutionContext, "waitUntil">,
  keyId: string,
  reason: CountedRefusal,
): void {
  const counts = uncounted(env).get(keyId);
  if (counts) {
    counts[reason] = (counts[reason] ?? 0) + 1;
    return;
  }
  uncounted(env).set(keyId, { [reason]: 1 });
  ctx.waitUntil(reportLater(env, keyId));
}

/**
 * Takes the uncounted refusals of a key. The caller must report them to the key's object.
 * @returns null if there are none
 */
export function takeRefusals(env: Env, keyId: string): Counts<CountedRefusal> | null {
  const counts = uncounted(env).get(keyId) ?? null;
  if (counts) uncounted(env).delete(keyId);
  return counts;
}

async function reportLater(env: Env, keyId: string): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, REPORT_AFTER_MS));
  const refused = takeRefusals(env, keyId);
  if (!refused) return;
  const call = crypto.randomUUID();
  await warnIfFails({ event: "refusals_not_counted", keyId }, () =>
    callObject(env.KEYS, keyId, (key) => key.countRefused(keyId, refused, call), NEARBY),
  );
}
