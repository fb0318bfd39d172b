import { GRANT_MS, type KeyRules, type RefusalReason, type WindowState } from "../../model/key.ts";
import { lackOf, type Need } from "../../model/permission.ts";
import {
  type Counters,
  countUnits,
  monthOf,
  type Reservation,
  remainingQuota,
  rollOver,
  unitsAhead,
  windowState,
} from "./limits.ts";

export interface AdmissionCheck {
  /** SHA-256 of the key text in the request. */
  hash: string;
  permission: Need | null;
  addressAllowed: boolean;
  /** The number of requests in the batch. */
  units: number;
  /** The calling isolate's requests in about a second, so that it may get units ahead; 0: it gets none. */
  pace: number;
}

/**
 * `granted` is from 1 to the requested units, and `ahead` what the isolate may use beside them until it ends.
 * `window.remaining` is the rest after both.
 */
export type Decision =
  | {
      outcome: "admitted";
      granted: number;
      ahead: { units: number; endsInMs: number } | null;
      window: WindowState;
      counters: Counters;
      reservation: Reservation;
      write: boolean;
    }
  | { outcome: "refused"; reason: RefusalReason; window: WindowState };

/**
 * Admits or refuses the next requests of a key, and computes its new counts. If `write` is true, the caller must store
 * `counters` before it responds. A refusal changes nothing and starts no window.
 */
export function decide(
  rules: KeyRules,
  stored: Counters,
  held: Reservation,
  asked: AdmissionCheck,
  now: number,
): Decision {
  const { counters, reservation } = rollOver(rules, stored, held, now);
  const window = windowState(rules, counters, reservation, now);
  const refuse = (reason: RefusalReason): Decision => ({ outcome: "refused", reason, window });

  const reason = reasonToRefuse(rules, asked, now);
  if (reason) return refuse(reason);
  if (window.remaining < 1) return refuse("rate_limited");
  const quotaLeft = remainingQuota(rules, counters, reservation);
  if (quotaLeft < 1) return refuse("quota_exceeded");

  const granted = Math.min(asked.units, window.remaining, quotaLeft);
  const left = { window: window.remaining - granted, quota: quotaLeft - granted };
  const ahead = unitsAhead(rules, reservation, asked.pace, left);
  const used = countUnits(rules, counters, reservation, { units: granted, ahead }, now);
  return {
    outcome: "admitted",
    granted,
    ahead: ahead > 0 ? { units: ahead, endsInMs: grantEnd(rules, window, asked.hash, now) - now } : null,
    window: { ...window, remaining: left.window - ahead },
    ...used,
    write: used.counters !== stored,
  };
}

/** When a grant to an admitted secret ends: never after its window, its month, its secret or its key. */
function grantEnd(
  { expiresAt, hash: newest, previousUntil }: KeyRules,
  window: WindowState,
  hash: string,
  now: number,
): number {
  const secretEnds = hash === newest ? null : previousUntil;
  const never = Number.POSITIVE_INFINITY;
  return Math.min(now + GRANT_MS, window.reset, monthOf(now).until, expiresAt ?? never, secretEnds ?? never);
}

/** Why a key is refused whatever it has used; null if it is not. */
export function reasonToRefuse(
  rules: KeyRules,
  { hash, addressAllowed, permission }: Omit<AdmissionCheck, "units" | "pace">,
  now: number,
): RefusalReason | null {
  if (!isLive(rules, hash, now)) return "invalid_api_key";
  if (!addressAllowed) return "ip_not_allowed";
  return lackOf(rules, permission);
}

/** Whether the key and the secret with this hash are valid. */
function isLive(rules: KeyRules, hash: string, now: number): boolean {
  if (rules.revokedAt !== null || (rules.expiresAt !== null && rules.expiresAt <= now)) return false;
  if (hash === rules.hash) return true;
  return hash === rules.previousHash && rules.previousUntil !== null && rules.previousUntil > now;
}
