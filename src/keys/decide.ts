import type { Permission } from "./permissions.ts";

/** What decides over a key's requests. Times are Unix milliseconds. */
export interface KeyRules {
  permissions: readonly Permission[];
  rateLimit: number;
  windowSeconds: number;
  monthlyQuota: number | null;
  expiresAt: number | null;
  revokedAt: number | null;
  hash: string;
  previousHash: string | null;
  previousUntil: number | null;
}

/** The one row that a key's counts are: units of both counts that are used *or reserved*. */
export interface Counters {
  /** When the running window began; 0 before the first request. */
  windowStart: number;
  windowCount: number;
  /** The UTC month that `monthCount` counts, `2026-11`. */
  month: string;
  monthCount: number;
}

/** What an object holds in memory beside its row; all of it may be lost at any moment. */
export interface Reservation {
  /** Units that the row counts already and no request has used: spent without a write, lost with the memory. */
  units: number;
  /** When the last request was admitted; null when not known. */
  lastAt: number | null;
}

export interface AdmissionCheck {
  /** SHA-256 of the key text that came. */
  hash: string;
  permission: Permission | null;
  addressAllowed: boolean;
  /** How many requests ask together. */
  units: number;
}

export interface WindowState {
  limit: number;
  windowSeconds: number;
  remaining: number;
  /** When the running window ends, or would end if one began now; Unix milliseconds. */
  reset: number;
}

export type RefusalReason =
  | "invalid_api_key"
  | "ip_not_allowed"
  | "permission_denied"
  | "rate_limited"
  | "quota_exceeded";

/** `granted` is at least 1 and at most the units asked; `window.remaining` is what is left after them. */
export type Decision =
  | {
      outcome: "admitted";
      granted: number;
      window: WindowState;
      counters: Counters;
      spare: Reservation;
      write: boolean;
    }
  | { outcome: "refused"; reason: RefusalReason; window: WindowState };

const BUSY_PACE_MS = 1_000;
const WINDOW_BLOCK = 0.05;
const QUOTA_BLOCK = 0.01;

export const NO_COUNTERS: Counters = { windowStart: 0, windowCount: 0, month: "", monthCount: 0 };
export const NO_RESERVATION: Reservation = { units: 0, lastAt: null };

/** The last month that was asked for: to spell it out costs more than the rest of a decision. */
let spelled = { from: 0, until: 0, month: "" };

/** The UTC calendar month of a time, `2026-11`. */
function monthOf(now: number): string {
  if (now < spelled.from || now >= spelled.until) {
    const date = new Date(now);
    const first = (month: number) => Date.UTC(date.getUTCFullYear(), month);
    const month = date.toISOString().slice(0, 7);
    spelled = { from: first(date.getUTCMonth()), until: first(date.getUTCMonth() + 1), month };
  }
  return spelled.month;
}

/**
 * Decides over the next requests of a key, and what its counts are after them. The caller makes `counters` durable
 * before it answers when `write` is true. A refusal changes nothing and starts no window.
 *
 * Below one request a second each unit is written as it is used. Above, units are reserved ahead: at most 5 % of the
 * limit and 1 % of what the quota has left at a time, so that a busy key writes seldom, and an object that loses its
 * memory counts the reserved ones as used: a limit is never exceeded, and costs its owner at most that one block.
 */
export function decide(
  rules: KeyRules,
  stored: Counters,
  held: Reservation,
  asked: AdmissionCheck,
  now: number,
): Decision {
  const { counters, spare } = rollOver(rules, stored, held, now);
  const window = windowState(rules, counters, spare, now);
  const refuse = (reason: RefusalReason): Decision => ({ outcome: "refused", reason, window });

  if (!isLive(rules, asked.hash, now)) return refuse("invalid_api_key");
  if (!asked.addressAllowed) return refuse("ip_not_allowed");
  if (asked.permission && !rules.permissions.includes(asked.permission)) return refuse("permission_denied");
  if (window.remaining < 1) return refuse("rate_limited");
  const quotaLeft = remainingQuota(rules, counters, spare);
  if (quotaLeft < 1) return refuse("quota_exceeded");

  const granted = Math.min(asked.units, window.remaining, quotaLeft);
  const missing = granted - spare.units;
  if (missing <= 0) {
    const after = { units: spare.units - granted, lastAt: now };
    const write = counters !== stored;
    return { outcome: "admitted", granted, window: take(window, granted), counters, spare: after, write };
  }
  const busy = spare.lastAt !== null && now - spare.lastAt < BUSY_PACE_MS;
  const block = Math.min(blockSize(rules, quotaLeft), rules.rateLimit - counters.windowCount);
  const reserved = Math.max(missing, busy ? block : 0);
  return {
    outcome: "admitted",
    granted,
    window: take(window, granted),
    counters: {
      windowStart: counters.windowStart || now,
      windowCount: counters.windowCount + reserved,
      month: counters.month,
      monthCount: counters.monthCount + reserved,
    },
    spare: { units: spare.units + reserved - granted, lastAt: now },
    write: true,
  };
}

/** Both counts once nothing is reserved: units that no request has used are given back, before the memory of them is lost. */
export function releaseReservation(
  counters: Counters,
  { units, lastAt }: Reservation,
): { counters: Counters; spare: Reservation } {
  const { windowCount, monthCount } = counters;
  return {
    counters: { ...counters, windowCount: windowCount - units, monthCount: monthCount - units },
    spare: { units: 0, lastAt },
  };
}

/** What a key has used, as of `now`; changes nothing. */
export function usageOf(rules: KeyRules, stored: Counters, held: Reservation, now: number) {
  const { counters, spare } = rollOver(rules, stored, held, now);
  return {
    month: counters.month,
    used: counters.monthCount - spare.units,
    quota: rules.monthlyQuota,
    window: windowState(rules, counters, spare, now),
    running: counters.windowStart > 0,
  };
}

/** Whether `hash` is that of a living secret of a living key. */
function isLive(rules: KeyRules, hash: string, now: number): boolean {
  if (rules.revokedAt !== null || (rules.expiresAt !== null && rules.expiresAt <= now)) return false;
  if (hash === rules.hash) return true;
  return hash === rules.previousHash && rules.previousUntil !== null && rules.previousUntil > now;
}

/**
 * The counters as they stand at `now`: a window that ended is none, a month that ended starts at nothing. Both only
 * move forward, so that a clock that jumps back grants nothing twice. Spare units belong to the window in which they
 * were reserved: when it ends, the month gets its own back.
 */
function rollOver(rules: KeyRules, counters: Counters, spare: Reservation, now: number) {
  const month = monthOf(now);
  const newMonth = month > counters.month;
  const windowEnds = counters.windowStart + rules.windowSeconds * 1_000;
  if (counters.windowStart === 0 || now < windowEnds) {
    // The spare units were counted in the old month; in the new one they count again.
    const rolled = newMonth ? { ...counters, month, monthCount: spare.units } : counters;
    return giveBack(rules, rolled, spare);
  }
  return {
    counters: {
      windowStart: 0,
      windowCount: 0,
      month: newMonth ? month : counters.month,
      monthCount: newMonth ? 0 : counters.monthCount - spare.units,
    },
    spare: { units: 0, lastAt: spare.lastAt },
  };
}

/** A key whose limits were narrowed holds no more units in reserve than its new limits allow. */
function giveBack(rules: KeyRules, counters: Counters, spare: Reservation) {
  const excess = spare.units - blockSize(rules, remainingQuota(rules, counters, spare));
  if (spare.units === 0 || excess <= 0) return { counters, spare };
  return {
    counters: {
      ...counters,
      windowCount: counters.windowCount - excess,
      monthCount: counters.monthCount - excess,
    },
    spare: { ...spare, units: spare.units - excess },
  };
}

function windowState(rules: KeyRules, counters: Counters, spare: Reservation, now: number): WindowState {
  return {
    limit: rules.rateLimit,
    windowSeconds: rules.windowSeconds,
    remaining: Math.max(0, rules.rateLimit - (counters.windowCount - spare.units)),
    reset: (counters.windowStart || now) + rules.windowSeconds * 1_000,
  };
}

function take(window: WindowState, units: number): WindowState {
  return { ...window, remaining: window.remaining - units };
}

function remainingQuota(rules: KeyRules, counters: Counters, spare: Reservation): number {
  if (rules.monthlyQuota === null) return Number.POSITIVE_INFINITY;
  return rules.monthlyQuota - (counters.monthCount - spare.units);
}

/** How many units may be reserved at once: few enough that losing them costs little. */
function blockSize(rules: KeyRules, quotaLeft: number): number {
  return Math.max(0, Math.floor(Math.min(rules.rateLimit * WINDOW_BLOCK, quotaLeft * QUOTA_BLOCK)));
}
