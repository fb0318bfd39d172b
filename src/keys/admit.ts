import { clientNetwork } from "../http/client-network.ts";
import { BatchedCalls } from "../platform/batched-calls.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import { callObject } from "../platform/call-object.ts";
import { perIsolate } from "../platform/per-isolate.ts";
import type { WindowState } from "./decide.ts";
import type { Admission, Caller } from "./key-object.ts";
import type { Permission } from "./permissions.ts";
import { countRefusal, takeRefusals } from "./refusal-counts.ts";
import type { WellFormedKey } from "./well-formed-key.ts";

/** One request that asks to be let in. */
export interface AdmissionQuery extends WellFormedKey {
  address: string | null;
  permission: Permission | null;
}

export type RefusedAdmission = Admission & { outcome: "refused" };
/** Null: the requests of one call asked for more units than were left, and this one has to ask again. */
type Share = { outcome: "admitted"; caller: Caller; window: WindowState } | RefusedAdmission | null;

/** A refusal that this isolate gives again by itself, and until when, in Unix milliseconds. */
interface Remembered {
  until: number;
  refused: RefusedAdmission;
}

/** How long a key may hear 429 after its limit was raised. Saves a call for each further request over the limit. */
const REFUSED_FOR_MS = 1_000;

const kept = perIsolate(() => ({
  calls: new BatchedCalls<null, Share>(),
  /** By what was asked; a final refusal by the secret's hash, because it is the same from everywhere. */
  refusals: new BoundedMap<string, Remembered>(10_000),
  /** Readers whose last request was refused, by `readerOf`. */
  refusedReaders: new BoundedMap<string, true>(10_000),
}));

/**
 * Asks the key's own object whether this request may pass. Requests that wait at the same time and ask for the same
 * share one call; the nth of them gets the nth unit.
 *
 * A refusal that a change of the key could lift is never remembered, because a change counts with the very next request:
 * a wrong address, a missing permission, a spent quota and an expiry cost one call of the object. A key over its limit
 * is remembered for a second and no longer than its window. A dead secret is remembered for a second.
 *
 * @param meanwhile starts a read while the object is asked; not called if the same reader was refused last time
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
    // A key that does not exist has no counts.
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

/** Who reads: a secret from one network with one permission, so that one client's refusal slows down no other client. */
function readerOf({ hash, address, permission }: AdmissionQuery): string {
  return JSON.stringify([hash, clientNetwork(address), permission]);
}

/** Keeps what no change of the key can lift, or what may be late: see `admit`. */
function remember(refusals: Map<string, Remembered>, name: string, hash: string, refused: RefusedAdmission): void {
  if (refused.final) {
    refusals.delete(name);
    refusals.set(hash, { until: Date.now() + REFUSED_FOR_MS, refused });
  } else if (refused.reason === "rate_limited") {
    const until = Math.min(Date.now() + REFUSED_FOR_MS, refused.window?.reset ?? 0);
    refusals.set(name, { until, refused });
  }
}

/** In the future, and by no more than a refusal is remembered: a clock that was set back must not prolong one. */
function isNear(until: number): boolean {
  const left = until - Date.now();
  return left > 0 && left <= REFUSED_FOR_MS;
}

/** One call for `units` requests. @returns what each of them gets, the first one that asked first */
async function askObject(env: Env, { id, hash, address, permission }: AdmissionQuery, units: number): Promise<Share[]> {
  const refused = takeRefusals(env, id);
  // One id for both tries of `callObject`: a call whose answer was lost is counted once.
  const asked = { call: crypto.randomUUID(), hash, address, permission, units, ...(refused && { refused }) };
  const admission = await callObject(env.KEYS, id, (key) => key.admit(id, asked));
  return Array.from({ length: units }, (_, nth) => {
    if (admission.outcome === "refused") return admission;
    const { granted, caller, window } = admission;
    return nth < granted
      ? { outcome: "admitted", caller, window: { ...window, remaining: window.remaining + granted - 1 - nth } }
      : null;
  });
}
