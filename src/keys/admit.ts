import { BatchedCalls } from "../calls/batched-calls.ts";
import { callObject, NEARBY } from "../calls/call-object.ts";
import { clientNetwork } from "../http/client-network.ts";
import type { Caller } from "../model/caller.ts";
import type { Admission, WindowState } from "../model/key.ts";
import type { Need } from "../model/permission.ts";
import { fromText } from "../platform/answer-text.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import { perIsolate } from "../platform/per-isolate.ts";
import { countRefusal, takeRefusals } from "./refusal-counts.ts";
import type { WellFormedKey } from "./well-formed-key.ts";

/** One request that needs admission. */
export interface AdmissionQuery extends WellFormedKey {
  address: string | null;
  permission: Need | null;
}

export type RefusedAdmission = Admission & { outcome: "refused" };
/** Null: the batch asked for more units than were left, and this request must ask again. */
type Share = { outcome: "admitted"; caller: Caller; window: WindowState } | RefusedAdmission | null;

/** A cached refusal. `until` is in Unix milliseconds. */
interface Remembered {
  until: number;
  refused: RefusedAdmission;
}

/** For how long a refusal is cached. After a limit is raised, clients may get 429 for this long. */
const REFUSED_FOR_MS = 1_000;

const kept = perIsolate(() => ({
  calls: new BatchedCalls<null, Share>(),
  /** By query. A final refusal is by the secret's hash, because it applies to all addresses and permissions. */
  refusals: new BoundedMap<string, Remembered>(10_000),
  /** Readers whose last request was refused, by `readerOf`. */
  refusedReaders: new BoundedMap<string, true>(10_000),
}));

/**
 * Asks the key's object to admit a request. Concurrent requests with the same query share one call; the nth request
 * gets the nth unit.
 *
 * A change of a key applies to the very next request. So a refusal that a change could lift is not cached: a wrong
 * address, a missing permission, a spent quota or an expiry costs one call of the object each time. There are two
 * exceptions, both cached for a second: a rate limit, until its window ends at most, and a secret that is no longer
 * valid.
 *
 * @param meanwhile starts a read during the call; not called if the same reader's last request was refused
 */
export async function admit(
  env: Env,
  ctx: Pick<ExecutionContext, "waitUntil">,
  asking: AdmissionQuery,
  meanwhile?: () => void,
) {
  const { calls, refusals, refusedReaders } = kept(env);
  const name = JSON.stringify([asking.id, asking.hash, asking.address, asking.permission]);
  const remembered = [refusals.get(name), refusals.get(asking.hash)].find((each) => each && isNear(each.until));
  if (remembered) {
    const { refused } = remembered;
    // A key that doesn't exist has no counts.
    if (refused.window) countRefusal(env, ctx, asking.id, refused.reason);
    return refused;
  }
  if (meanwhile && !(refusedReaders.size > 0 && refusedReaders.has(readerOf(asking)))) meanwhile();
  for (;;) {
    const share = await calls.ask(ctx, name, null, (all) => askObject(env, asking, all.length));
    if (share === null) continue;
    if (share.outcome === "refused") {
      refusedReaders.set(readerOf(asking), true);
      remember(refusals, name, asking.hash, share);
    } else if (refusedReaders.size > 0) {
      refusedReaders.delete(readerOf(asking));
    }
    return share;
  }
}

/** Identifies a reader by secret, network and permission, so that a refused client doesn't slow down others. */
function readerOf({ hash, address, permission }: AdmissionQuery): string {
  return JSON.stringify([hash, clientNetwork(address), permission]);
}

/** Caches a refusal if `admit` allows it. */
function remember(refusals: Map<string, Remembered>, name: string, hash: string, refused: RefusedAdmission): void {
  if (refused.final) {
    refusals.delete(name);
    refusals.set(hash, { until: Date.now() + REFUSED_FOR_MS, refused });
  } else if (refused.reason === "rate_limited") {
    const until = Math.min(Date.now() + REFUSED_FOR_MS, refused.window?.reset ?? 0);
    refusals.set(name, { until, refused });
  }
}

/** Whether a cached refusal still counts. A clock that was set back must not prolong it. */
function isNear(until: number): boolean {
  const left = until - Date.now();
  return left > 0 && left <= REFUSED_FOR_MS;
}

/** Makes one call for `units` requests. @returns one share for each request, in order of arrival */
async function askObject(env: Env, { id, hash, address, permission }: AdmissionQuery, units: number): Promise<Share[]> {
  const refused = takeRefusals(env, id);
  // `callObject` may retry. Both tries have the same id, so a call whose answer was lost is counted once.
  const call = crypto.randomUUID();
  const asked = { call, hash, address, permission, units, ...(refused && { refused }), asText: true };
  const admission = fromText(await callObject(env.KEYS, id, (key) => key.admit(id, asked), NEARBY));
  return Array.from({ length: units }, (_, nth) => {
    if (admission.outcome === "refused") return admission;
    const { granted, caller, window } = admission;
    return nth < granted
      ? { outcome: "admitted", caller, window: { ...window, remaining: window.remaining + granted - 1 - nth } }
      : null;
  });
}
