import { causeOf } from "../log.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import { callObject } from "../platform/call-object.ts";
import type { Counts } from "../platform/counts.ts";
import { perIsolate } from "../platform/per-isolate.ts";
import type { RefusalReason } from "./decide.ts";

/** Longer than a refusal is remembered, so that a client that keeps asking has its next call carry the counts. */
const REPORT_AFTER_MS = 2_000;

/** Per key: requests that this isolate refused from memory and that the key's object has not counted yet. */
const uncounted = perIsolate(() => new BoundedMap<string, Counts<RefusalReason>>(10_000));

/** Counts a request that was refused from memory. The key's object learns of it within two seconds. */
export function countRefusal(
  env: Env,
  ctx: Pick<ExecutionContext, "waitUntil">,
  keyId: string,
  reason: RefusalReason,
): void {
  const counts = uncounted(env).get(keyId);
  if (counts) {
    counts[reason] = (counts[reason] ?? 0) + 1;
    return;
  }
  uncounted(env).set(keyId, { [reason]: 1 });
  ctx.waitUntil(reportLater(env, keyId));
}

/** The uncounted refusals of a key, which the caller now reports to the key's object; null if there are none. */
export function takeRefusals(env: Env, keyId: string): Counts<RefusalReason> | null {
  const counts = uncounted(env).get(keyId) ?? null;
  if (counts) uncounted(env).delete(keyId);
  return counts;
}

async function reportLater(env: Env, keyId: string): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, REPORT_AFTER_MS));
  const refused = takeRefusals(env, keyId);
  if (!refused) return;
  const call = crypto.randomUUID();
  try {
    await callObject(env.KEYS, keyId, (key) => key.countRefused(keyId, refused, call));
  } catch (error) {
    console.warn({ event: "refusals_not_counted", keyId, error: causeOf(error) });
  }
}
