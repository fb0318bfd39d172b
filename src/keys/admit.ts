import { BoundedMap } from "../bounded-map.ts";
import type { Counts } from "../counts.ts";
import type { Permission } from "../db/schema.ts";
import { JoinedCalls } from "../joined-calls.ts";
import { keptPerEnv } from "../kept.ts";
import { callObject } from "../objects.ts";
import type { Refusal, WindowState } from "./admission.ts";
import type { Admission, Caller } from "./key-object.ts";
import type { KnownKey } from "./known-key.ts";

/** One request that asks to be let in. */
export interface Asking extends KnownKey {
  address: string | null;
  permission: Permission | null;
}

export type Refused = Admission & { outcome: "refused" };
/** Null: of what was asked for together there was less than for all, and this one has to ask again. */
type Share = { outcome: "admitted"; caller: Caller; window: WindowState } | Refused | null;

/** `times` it was given from memory, of which the key's object has yet to hear. */
interface Remembered {
  until: number;
  refused: Refused;
  times: number;
}

/** How long a refusal may go on after a limit was raised. It spares a key that is over its limit every further call. */
const REFUSED_FOR_MS = 1_000;

const kept = keptPerEnv(() => ({
  calls: new JoinedCalls<null, Share>(),
  refusals: new BoundedMap<string, Remembered>(10_000),
}));

/**
 * Asks the key's own object whether this request may pass. Requests that wait at the same time and ask for the same
 * share one call, and the nth of them gets the nth unit. A key that is over its limit is remembered for a second, and
 * no longer than its window; so is one that was revoked or never was.
 *
 * @param meanwhile begins what can be begun while the object is asked
 */
export async function admit(
  env: Env,
  ctx: Pick<ExecutionContext, "waitUntil">,
  asking: Asking,
  meanwhile?: () => void,
) {
  const { calls, refusals } = kept(env);
  const name = JSON.stringify([asking.id, asking.hash, asking.address, asking.permission]);
  const remembered = refusals.get(name);
  if (remembered && isNear(remembered.until)) {
    remembered.times++;
    return remembered.refused;
  }
  meanwhile?.();
  for (;;) {
    const share = await calls.ask(ctx, name, null, (all) => askObject(env, asking, all.length, taken(remembered)));
    if (share === null) continue;
    if (share.outcome === "refused" && isRemembered(share)) {
      const until = Math.min(Date.now() + REFUSED_FOR_MS, share.window?.reset ?? Number.POSITIVE_INFINITY);
      refusals.set(name, { until, refused: share, times: refusals.get(name)?.times ?? 0 });
    }
    return share;
  }
}

/** How often a refusal was given from memory, to be told once. */
function taken(remembered: Remembered | undefined): Counts<Refusal> | null {
  if (!remembered?.times) return null;
  const { times } = remembered;
  remembered.times = 0;
  return { [remembered.refused.reason]: times };
}

/** In the future, and no further than a refusal ever is: a clock that was set back prolongs none. */
function isNear(until: number): boolean {
  const left = until - Date.now();
  return left > 0 && left <= REFUSED_FOR_MS;
}

/** What an operator may widen, a quota, an address list, a permission or an expiry, counts at once when he does. */
function isRemembered({ reason, final }: Refused): boolean {
  return reason === "rate_limited" || final === true;
}

/** One call for `units` requests. @returns what each of them gets, the first one that asked first */
async function askObject(
  env: Env,
  { id, hash, address, permission }: Asking,
  units: number,
  refused: Counts<Refusal> | null,
): Promise<Share[]> {
  const asked = { hash, address, permission, units, ...(refused && { refused }) };
  const admission = await callObject(env.KEYS, id, (key) => key.admit(id, asked));
  return Array.from({ length: units }, (_, nth) => {
    if (admission.outcome === "refused") return admission;
    const { granted, caller, window } = admission;
    return nth < granted
      ? { outcome: "admitted", caller, window: { ...window, remaining: window.remaining + granted - 1 - nth } }
      : null;
  });
}
