import { BatchedCalls } from "../calls/batched-calls.ts";
import { callObject, NEARBY } from "../calls/call-object.ts";
import { clientNetwork } from "../http/client-network.ts";
import { type Admission, countedAs, GRANT_MS } from "../model/key.ts";
import type { Need } from "../model/permission.ts";
import { fromText } from "../platform/answer-text.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import { perIsolate } from "../platform/per-isolate.ts";
import { type AdmittedRequest, HeldGrants, type HeldKey, type Requester } from "./held-grants.ts";
import { countRefusal, takeRefusals } from "./refusal-counts.ts";
import { endAfter, returnLater, returnLost } from "./return-grants.ts";
import type { WellFormedKey } from "./well-formed-key.ts";

/** One request that needs admission. */
export interface AdmissionQuery extends WellFormedKey {
  address: string | null;
  permission: Need | null;
}

/** An object of an earlier version knows only the permission. */
const REACH: Need = "contact:reach";
const SEND: Need = "messages:send";

export type RefusedAdmission = Admission & { outcome: "refused" };
type AdmittedShare = AdmittedRequest & { outcome: "admitted" };
/** Null: the batch asked for more units than were left, and this request must ask again. */
type Share = AdmittedShare | RefusedAdmission | null;

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
  grants: new HeldGrants(),
}));

/**
 * Admits a request with a unit that the key's object granted this isolate before, or asks the object. Concurrent requests
 * with the same query share one call; the nth request gets the nth unit.
 *
 * A change of a key applies to the very next request. So a refusal that a change could lift is not cached: a wrong
 * address, a missing permission, a spent quota or an expiry costs one call of the object each time. There are two
 * exceptions, both cached for a second: a rate limit, until its window ends at most, and a secret that is no longer
 * valid. A change waits, before it is written, until what was granted before is over.
 *
 * @param meanwhile starts a read during the call; not called if there is no call, or if the same reader's last request was
 *   refused
 */
export async function admit(
  env: Env,
  ctx: Pick<ExecutionContext, "waitUntil">,
  asking: AdmissionQuery,
  meanwhile?: () => void,
) {
  const { calls, refusals, refusedReaders, grants } = kept(env);
  const name = JSON.stringify([asking.id, asking.hash, asking.address, asking.permission]);
  const requester = grants.requester(asking.id, name);
  requester.count();
  const held = use(requester);
  if (held) return held;
  const remembered = [refusals.get(name), refusals.get(asking.hash)].find((each) => each && isNear(each.until));
  if (remembered) {
    const { refused } = remembered;
    // A key that doesn't exist has no counts.
    if (refused.window) countRefusal(env, ctx, asking.id, countedAs(refused.reason));
    return refused;
  }
  if (meanwhile && !(refusedReaders.size > 0 && refusedReaders.has(readerOf(asking)))) meanwhile();
  for (;;) {
    const share = await calls.ask(ctx, name, null, (all) => askObject(env, ctx, asking, requester, all.length));
    if (share === null) continue;
    if (share.outcome === "refused") {
      // Another request may have got units ahead, which are why nothing was left.
      const late = isSpent(share) ? use(requester) : null;
      if (late) return late;
      refusedReaders.set(readerOf(asking), true);
      remember(refusals, name, asking.hash, share);
    } else if (refusedReaders.size > 0) {
      refusedReaders.delete(readerOf(asking));
    }
    return share;
  }
}

/** Reads a key and its usage, in which its object counts what this isolate holds. Null: it doesn't exist. */
export async function describeKey(env: Env, id: string) {
  const described = await callObject(env.KEYS, id, (key) => key.describe(id), NEARBY);
  const { units } = kept(env).grants.key(id);
  if (!described || units === 0) return described;
  const { usage } = described;
  const { used, window } = usage;
  // What the window or the month before granted may not be returned yet.
  const remaining = Math.min(window.limit, window.remaining + units);
  const unused = { used: Math.max(0, used - units), window: { ...window, remaining } };
  return { ...described, usage: { ...usage, ...unused } };
}

/** Identifies a reader by secret, network and permission, so that a refused client doesn't slow down others. */
function readerOf({ hash, address, permission }: AdmissionQuery): string {
  return JSON.stringify([hash, clientNetwork(address), permission]);
}

function isSpent({ reason }: RefusedAdmission): boolean {
  return reason === "rate_limited" || reason === "quota_exceeded";
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

function use(requester: Requester): AdmittedShare | null {
  const held = requester.use();
  return held && { outcome: "admitted", ...held };
}

/** Makes one call for `requests`, if there is no grant for them by now. @returns one share for each, in order of arrival */
async function askObject(
  env: Env,
  ctx: Pick<ExecutionContext, "waitUntil">,
  { id, hash, address, permission }: AdmissionQuery,
  requester: Requester,
  requests: number,
): Promise<Share[]> {
  const shares: Share[] = [];
  for (let held = use(requester); held; held = shares.length < requests ? use(requester) : null) shares.push(held);
  const units = requests - shares.length;
  if (units === 0) return shares;

  const { key, pace } = requester;
  const refused = takeRefusals(env, id);
  const returned = key.takeEnded();
  const nth = key.nextCall();
  // `callObject` may retry. Both tries have the same id, so a call whose answer was lost is counted once.
  const call = crypto.randomUUID();
  const held = requester.newGrant(call);
  const cancelEnd = held && endAfter(held, GRANT_MS);
  const asked = {
    call,
    hash,
    address,
    ...(permission === REACH ? { permission: SEND, reaches: true } : { permission }),
    units,
    returned,
    asText: true,
    ...(refused && { refused }),
    ...(held && { pace }),
  };
  let admission: Admission;
  try {
    admission = fromText(await callObject(env.KEYS, id, (object) => object.admit(id, asked), NEARBY));
  } catch (error) {
    // The answer may be lost with a grant, of which nothing is used then.
    key.notReturned(held ? [...returned, { id: call, unused: Number.MAX_SAFE_INTEGER }] : returned);
    ctx.waitUntil(returnLost(env, id, key));
    // Those without a unit ask again.
    if (shares.length > 0) return [...shares, ...Array<Share>(units).fill(null)];
    throw error;
  } finally {
    if (held) requester.asked();
  }
  if (admission.outcome === "refused") {
    cancelEnd?.();
    return [...shares, ...Array<Share>(units).fill(withHeld(admission, key))];
  }
  const { granted, caller, window, grant } = admission;
  key.answered(nth, window);
  if (held && grant) {
    requester.keep(held, grant, caller);
    ctx.waitUntil(returnLater(env, id, key, held));
  } else {
    cancelEnd?.();
  }
  const own = Array.from({ length: units }, (_, before): Share => {
    if (before >= granted) return null;
    return { outcome: "admitted", caller, window: key.withUnits(window, window.remaining + granted - 1 - before) };
  });
  return [...shares, ...own];
}

/** A refusal for another reason than the window shows what is left of it, also what this isolate holds. */
function withHeld(refused: RefusedAdmission, key: HeldKey): RefusedAdmission {
  const { reason, window } = refused;
  return window && reason !== "rate_limited" ? { ...refused, window: key.withUnits(window) } : refused;
}
