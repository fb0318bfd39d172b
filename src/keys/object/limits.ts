import { type KeyLimits, MIN_GRANT_PACE, type WindowState } from "../../model/key.ts";

/** A key's counts, stored as one value. Both counts include reserved units. */
export interface Counters {
  /** When the running window began; 0 before the first request. */
  windowStart: number;
  windowCount: number;
  /** The UTC month that `monthCount` counts, `2026-11`. */
  month: string;
  monthCount: number;
}

/** The part of an object's state that is only in memory and may be lost at any moment. */
export interface Reservation {
  /** Units that the stored counters include but no request has used. Using them needs no write. */
  units: number;
  /** When the last request was admitted; null if unknown. */
  lastAt: number | null;
  /** Units that isolates hold or have not returned, also of a window before this one. They are counted. */
  granted: number;
}

const BUSY_PACE_MS = 1_000;
const WINDOW_BLOCK = 0.05;
const QUOTA_BLOCK = 0.01;

export const NO_COUNTERS: Counters = { windowStart: 0, windowCount: 0, month: "", monthCount: 0 };
export const NO_RESERVATION: Reservation = { units: 0, lastAt: null, granted: 0 };
/** While less of the limit is left, nobody gets units ahead: another caller might need them. */
const MIN_SHARE_LEFT = 0.2;

/** The last result of `monthOf`: formatting a month takes longer than the rest of a decision. */
let cachedMonth = { from: 0, until: 0, month: "" };

/** The UTC calendar month of a time, `2026-11`, and when it ends. */
export function monthOf(now: number): { month: string; until: number } {
  if (now < cachedMonth.from || now >= cachedMonth.until) {
    const date = new Date(now);
    const first = (month: number) => Date.UTC(date.getUTCFullYear(), month);
    const month = date.toISOString().slice(0, 7);
    cachedMonth = { from: first(date.getUTCMonth()), until: first(date.getUTCMonth() + 1), month };
  }
  return cachedMonth;
}

/**
 * Counts the units of admitted requests, and those that are granted ahead. `counters` is the same object if nothing must
 * be stored for them.
 *
 * Below one request per second, each unit is written when it is used. Above that rate, a block of units is reserved, so
 * that a busy key writes rarely. An object that loses its memory counts reserved and granted units as used. So a limit is
 * never exceeded, and a crash costs at most one block.
 * @param counters after `rollOver`, like `reservation`
 */
export function countUnits(
  limits: KeyLimits,
  counters: Counters,
  reservation: Reservation,
  { units, ahead }: { units: number; ahead: number },
  now: number,
): { counters: Counters; reservation: Reservation } {
  const granted = reservation.granted + ahead;
  const missing = units + ahead - reservation.units;
  if (missing <= 0) return { counters, reservation: { units: -missing, lastAt: now, granted } };
  const busy = reservation.lastAt !== null && now - reservation.lastAt < BUSY_PACE_MS;
  const block = blockSize(limits, remainingQuota(limits, counters, reservation)) - granted;
  const rest = Math.min(
    block - Math.max(0, units - reservation.units),
    limits.rateLimit - counters.windowCount - missing,
  );
  const reserved = missing + (busy ? Math.max(0, rest) : 0);
  return {
    counters: {
      windowStart: counters.windowStart || now,
      windowCount: counters.windowCount + reserved,
      month: counters.month,
      monthCount: counters.monthCount + reserved,
    },
    reservation: { units: reserved - missing, lastAt: now, granted },
  };
}

/**
 * How many units an isolate may get ahead, beside those that its requests use. All that is reserved or granted is at
 * most one block.
 * @param pace the isolate's requests in about a second
 * @param left what is left of the limit and of the quota after those requests
 */
export function unitsAhead(
  limits: KeyLimits,
  { granted }: Reservation,
  pace: number,
  left: { window: number; quota: number },
): number {
  if (pace <= MIN_GRANT_PACE || left.window < limits.rateLimit * MIN_SHARE_LEFT) return 0;
  return Math.max(0, Math.min(pace, blockSize(limits, left.quota) - granted));
}

/** Counts the unused units of a grant as reserved, or subtracts them from the month if their window is over. */
export function takeBack(
  counters: Counters,
  reservation: Reservation,
  grant: { units: number; windowStart: number; month: string },
  unused: number,
): { counters: Counters; reservation: Reservation } {
  const isSameMonth = grant.month === counters.month;
  const rest = { ...reservation, granted: reservation.granted - grant.units };
  if (grant.windowStart !== counters.windowStart) {
    const monthCount = counters.monthCount - (isSameMonth ? unused : 0);
    return { counters: { ...counters, monthCount }, reservation: rest };
  }
  if (isSameMonth) return { counters, reservation: { ...rest, units: rest.units + unused } };
  return { counters: { ...counters, windowCount: counters.windowCount - unused }, reservation: rest };
}

/** Subtracts unused reserved units from both counts, before the object may lose its memory. */
export function releaseReservation(
  counters: Counters,
  reservation: Reservation,
): { counters: Counters; reservation: Reservation } {
  return release(counters, reservation, reservation.units);
}

/** A key's usage at `now`. */
export function usageOf(limits: KeyLimits, stored: Counters, held: Reservation, now: number) {
  const { counters, reservation } = rollOver(limits, stored, held, now);
  return {
    month: counters.month,
    used: counters.monthCount - reservation.units,
    quota: limits.monthlyQuota,
    window: windowState(limits, counters, reservation, now),
    running: counters.windowStart > 0,
  };
}

/**
 * The counters and the reservation at `now`: resets the count of an ended window or month. Both only move forward, so a
 * clock that is set back grants nothing twice. Reserved units belong to their window: when the window ends, the unused
 * ones are subtracted from the month.
 */
export function rollOver(limits: KeyLimits, counters: Counters, reservation: Reservation, now: number) {
  const { month } = monthOf(now);
  const newMonth = month > counters.month;
  const windowEnds = counters.windowStart + limits.windowSeconds * 1_000;
  if (now < windowEnds) {
    // The reserved units were counted in the old month, and count in the new one too.
    const rolled = newMonth ? { ...counters, month, monthCount: reservation.units } : counters;
    return releaseExcess(limits, rolled, reservation);
  }
  return {
    counters: {
      windowStart: 0,
      windowCount: 0,
      month: newMonth ? month : counters.month,
      monthCount: newMonth ? 0 : counters.monthCount - reservation.units,
    },
    reservation: { ...reservation, units: 0 },
  };
}

/** After a key's limits were lowered, releases the reserved units above the new block size. */
function releaseExcess(limits: KeyLimits, counters: Counters, reservation: Reservation) {
  const block = blockSize(limits, remainingQuota(limits, counters, reservation));
  const excess = Math.min(reservation.units, reservation.units + reservation.granted - block);
  return excess > 0 ? release(counters, reservation, excess) : { counters, reservation };
}

function release(counters: Counters, reservation: Reservation, units: number) {
  const { windowCount, monthCount } = counters;
  return {
    counters: { ...counters, windowCount: windowCount - units, monthCount: monthCount - units },
    reservation: { ...reservation, units: reservation.units - units },
  };
}

/** The window at `now`, after `rollOver`. */
export function windowState(limits: KeyLimits, counters: Counters, reservation: Reservation, now: number): WindowState {
  return {
    limit: limits.rateLimit,
    windowSeconds: limits.windowSeconds,
    remaining: Math.max(0, limits.rateLimit - (counters.windowCount - reservation.units)),
    reset: (counters.windowStart || now) + limits.windowSeconds * 1_000,
  };
}

/** What is left of the monthly quota after `rollOver`; infinity if the key has none. */
export function remainingQuota(limits: KeyLimits, counters: Counters, reservation: Reservation): number {
  if (limits.monthlyQuota === null) return Number.POSITIVE_INFINITY;
  return limits.monthlyQuota - (counters.monthCount - reservation.units);
}

/**
 * The maximum number of units that are reserved or granted: 5 % of the limit and 1 % of the remaining quota, so that a
 * loss costs little.
 */
function blockSize(limits: KeyLimits, quotaLeft: number): number {
  return Math.max(0, Math.floor(Math.min(limits.rateLimit * WINDOW_BLOCK, quotaLeft * QUOTA_BLOCK)));
}
