import type { ChannelNews } from "../../model/channel-warning.ts";
import {
  type Breaker,
  isCurrentProbe,
  openBreaker,
  probeFailed,
  probeInconclusive,
  probeUnused,
  startProbe,
} from "./breaker.ts";

/**
 * Decides when the chats of a channel may call their network. Pure functions of the channel's state and the current time.
 * Times are Unix milliseconds.
 */

export interface ChannelPace {
  /** The virtual clock: the earliest start that is not yet reserved. */
  clock: number;
  /** The earliest start of the next granted attempt. It spaces late reservations that arrive together. */
  nextGrantAt: number;
  /** The network asked for a pause until this time: no attempt may start before it, even with a reservation. */
  pausedUntil: number;
  breaker: Breaker | null;
  /** Counts recoveries. A report from an earlier epoch is ignored. */
  epoch: number;
  /** The epoch of the last attempt that showed that the channel works; less than any epoch if none has. */
  provenEpoch: number;
  /** The version of the credentials; null before it is known. */
  credentialsVersion: string | null;
  /** When an attempt last showed that the channel works; null if none has since the credentials changed. */
  provenAt: number | null;
  /** When the trial in progress times out, which also identifies the trial; 0 without a trial. */
  trialUntil: number;
}

export interface PermitQuery {
  /** The start that an earlier permit reserved, and that has arrived. */
  reservedAt: number | null;
  /** Whether the request can wait for the end of a trial; if not, it must ask again later. */
  canWait: boolean;
  /** The epoch in which the channel last refused this message; null if it never did. */
  brokenEpoch: number | null;
  /** Reserves a start only within this many milliseconds; absent for no limit. The attempt is not a probe. */
  withinMs?: number | undefined;
}

/**
 * - `granted`: the attempt may start at `at`, at most `SHORT_WAIT_MS` from now. A `probe` or a `trial` must report how it
 *   ends.
 * - `wait`: a trial is in progress. Ask again when it ends.
 * - `later`: ask again at `at`, with `at` as the reservation.
 */
export type Permit =
  | { outcome: "granted"; at: number; probe: number | null; trial: number | null }
  | { outcome: "wait" }
  | { outcome: "later"; at: number; broken: boolean };

type Decision = { permit: Permit; pace: ChannelPace };

const NEVER = -1;

export const INITIAL_PACE: ChannelPace = {
  clock: 0,
  nextGrantAt: 0,
  pausedUntil: 0,
  breaker: null,
  epoch: 0,
  provenEpoch: NEVER,
  credentialsVersion: null,
  provenAt: null,
  trialUntil: 0,
};

/** A wait of at most this length happens in memory, because an alarm would cost a write. */
export const SHORT_WAIT_MS = 1_000;
/** How long a reserved start is valid. After that, chats that are all late get new starts. */
const RESERVATION_VALID_MS = 10_000;
/** How long a channel counts as proven after an attempt showed that it works. In the second half, one attempt renews this. */
export const PROVEN_FOR_MS = 60_000;
/** A trial delays other attempts for at most this long. Then another trial may start. */
export const TRIAL_MS = 5_000;
/** The clock is stored once it is this far ahead of the stored value. */
const CLOCK_AHEAD_MS = 5_000;

/**
 * Assigns a start to an attempt.
 *
 * - Starts are `1000 / perSecond` ms apart on the virtual clock, so a burst over many chats is spread evenly.
 * - While the breaker is open, one attempt at a time may start, as a probe.
 * - If the channel is not proven, one attempt starts first, as a trial, and the others wait for its result. So a revoked
 *   token costs one call, however many chats wait. Attempts on a proven channel don't wait for a trial.
 * @param random from 0 to 1, for the jitter
 */
export function grantPermit(
  pace: ChannelPace,
  { reservedAt, canWait, brokenEpoch, withinMs }: PermitQuery,
  perSecond: number,
  now: number,
  random: number,
): Decision {
  if (pace.breaker && withinMs !== undefined) {
    return { permit: { outcome: "later", at: Math.max(now, pace.breaker.probeAt), broken: true }, pace };
  }
  if (pace.breaker) {
    const { probe, at, breaker } = startProbe(pace.breaker, brokenEpoch === pace.epoch, now, random);
    if (probe === null) return { permit: { outcome: "later", at, broken: true }, pace };
    return { permit: { outcome: "granted", at, probe, trial: null }, pace: { ...pace, breaker } };
  }
  const interval = 1_000 / perSecond;
  const latest = now + (withinMs ?? Number.POSITIVE_INFINITY);
  const isOnTrial = now < pace.trialUntil;
  const provenFor = (pace.provenAt ?? Number.NEGATIVE_INFINITY) + PROVEN_FOR_MS - now;
  if (isOnTrial && provenFor <= 0) {
    return canWait ? { permit: { outcome: "wait" }, pace } : reserve(pace, now + SHORT_WAIT_MS, interval, latest);
  }
  const isReserved = reservedAt !== null && now >= pace.pausedUntil && now - reservedAt <= RESERVATION_VALID_MS;
  // The chat's clock may be slightly ahead, so a reserved start may still be in the future here.
  const reserved = isReserved ? Math.max(now, reservedAt, pace.nextGrantAt) : Number.POSITIVE_INFINITY;
  const isInTime = reserved - now <= SHORT_WAIT_MS;
  const start = isInTime ? reserved : Math.max(now, pace.clock, pace.nextGrantAt);
  const at = Math.ceil(start);
  if (at - now > SHORT_WAIT_MS) return reserve(pace, start, interval, latest);
  const trial = !isOnTrial && provenFor <= PROVEN_FOR_MS / 2 ? at + TRIAL_MS : null;
  const nextGrantAt = start + interval;
  const clock = isInTime ? pace.clock : nextGrantAt;
  return {
    permit: { outcome: "granted", at, probe: null, trial },
    pace: { ...pace, clock, nextGrantAt, ...(trial !== null && { trialUntil: trial }) },
  };
}

/** @param latest a later start is returned, but not reserved */
function reserve(pace: ChannelPace, earliest: number, interval: number, latest: number): Decision {
  const start = Math.max(earliest, pace.clock);
  const permit = { outcome: "later", at: Math.ceil(start), broken: false } as const;
  return { permit, pace: start > latest ? pace : { ...pace, clock: start + interval } };
}

/** Whether a granted start is still valid after the wait: the channel may have broken or been paused in the meantime. */
export function isStillValid(pace: ChannelPace, at: number, epoch: number): boolean {
  return pace.epoch === epoch && pace.pausedUntil <= at && pace.breaker === null;
}

/** The network limited the channel's rate: no attempt starts within the next `afterMs`. */
export function slowDown(pace: ChannelPace, afterMs: number, now: number): ChannelPace {
  const until = now + afterMs;
  return { ...pace, clock: Math.max(pace.clock, until), pausedUntil: Math.max(pace.pausedUntil, until) };
}

/** A granted attempt, as it was when it was granted. */
export interface Attempt {
  /** The number of the probe; null if the attempt is not a probe. */
  probe: number | null;
  /** The channel's epoch when the attempt was granted. */
  epoch: number;
  /** The `trialUntil` of the trial; null or absent if the attempt is not a trial. */
  trial?: number | null | undefined;
  /** The epoch in which the channel had last refused the message. */
  brokenEpoch?: number | null | undefined;
}

/**
 * The network refused the channel itself. Opens the breaker or, after a probe, schedules the next probe. Ignores other
 * attempts, repeated reports and reports from an earlier epoch. A probe with a message that was refused before doubles
 * the wait of only such messages.
 */
export function breakChannel(pace: ChannelPace, reason: string, attempt: Attempt, now: number): ChannelPace {
  const { breaker } = pace;
  if (attempt.epoch !== pace.epoch) return pace;
  if (!breaker) return { ...pace, breaker: openBreaker(reason, now), provenAt: null, trialUntil: 0 };
  if (!isCurrentProbe(breaker, attempt.probe)) return pace;
  return { ...pace, breaker: probeFailed(breaker, reason, attempt.brokenEpoch === pace.epoch, now) };
}

/** The network reported that it refuses the channel, or that it no longer does. See `ChannelNews`. */
export function withNews(pace: ChannelPace, state: NonNullable<ChannelNews["state"]>, now: number): ChannelPace {
  const { breaker } = pace;
  if (typeof state === "object") {
    if (breaker) return pace;
    return { ...pace, breaker: { ...openBreaker(state.broken, now), byNetwork: true }, provenAt: null, trialUntil: 0 };
  }
  return breaker && (state === "mended" || breaker.byNetwork) ? closeBreaker(pace, null) : pace;
}

/** A probe ended without showing whether the channel works. */
export function rescheduleProbe(
  pace: ChannelPace,
  attempt: Pick<Attempt, "epoch" | "probe">,
  now: number,
): ChannelPace {
  const { breaker } = pace;
  if (!breaker || attempt.epoch !== pace.epoch || !isCurrentProbe(breaker, attempt.probe)) return pace;
  return { ...pace, breaker: probeInconclusive(breaker, now) };
}

/** A trial ended. If it did not show that the channel works, the next attempt is a trial. */
export function endTrial(pace: ChannelPace, attempt: Omit<Attempt, "probe">, works: boolean, now: number): ChannelPace {
  if (pace.breaker || attempt.epoch !== pace.epoch) return pace;
  const trialUntil = works || attempt.trial === pace.trialUntil ? 0 : pace.trialUntil;
  if (!works) return { ...pace, trialUntil };
  return { ...pace, trialUntil, provenAt: now, provenEpoch: pace.epoch };
}

/** Closes the breaker: a probe showed at `provenAt` that the channel works or, if null, the credentials changed. */
export function closeBreaker(pace: ChannelPace, provenAt: number | null): ChannelPace {
  const epoch = pace.epoch + 1;
  const provenEpoch = provenAt === null ? pace.provenEpoch : epoch;
  return { ...pace, breaker: null, epoch, provenEpoch, provenAt, trialUntil: 0 };
}

/** Applies the version of the credentials. A new version closes the breaker, and the next attempt is a trial. */
export function withCredentials(pace: ChannelPace, credentialsVersion: string): ChannelPace {
  if (pace.credentialsVersion === credentialsVersion) return pace;
  return { ...(pace.credentialsVersion === null ? pace : closeBreaker(pace, null)), credentialsVersion };
}

/** A probe or a trial ended without finding the channel broken. Reports from an earlier epoch are ignored. */
export function attemptEnded(pace: ChannelPace, attempt: Attempt, works: boolean, now: number): ChannelPace {
  if (attempt.probe === null) return endTrial(pace, attempt, works, now);
  if (!works) return rescheduleProbe(pace, attempt, now);
  return attempt.epoch === pace.epoch ? closeBreaker(pace, now) : pace;
}

/** A probe or a trial did not begin, because its message expired or was canceled. The next attempt takes its place. */
export function attemptUnused(pace: ChannelPace, attempt: Attempt, now: number): ChannelPace {
  if (attempt.probe === null) return endTrial(pace, attempt, false, now);
  const { breaker } = pace;
  if (!breaker || attempt.epoch !== pace.epoch || !isCurrentProbe(breaker, attempt.probe)) return pace;
  return { ...pace, breaker: probeUnused(breaker, now) };
}

/** Whether requests that wait for a start or for the end of a trial must decide again. */
export function affectsWaiters(before: ChannelPace, pace: ChannelPace): boolean {
  const isTrialOver = before.trialUntil !== 0 && pace.trialUntil !== before.trialUntil;
  return breakerChanged(before, pace) || isTrialOver || pace.pausedUntil !== before.pausedUntil;
}

/**
 * Whether a change must be stored now. A change of the breaker or the credentials is stored at once. The clock is stored
 * only occasionally, because losing it only makes a few starts early.
 * @param storedClock the last stored clock
 */
export function mustStore(before: ChannelPace, pace: ChannelPace, storedClock: number, now: number): boolean {
  return (
    breakerChanged(before, pace) ||
    pace.provenEpoch !== before.provenEpoch ||
    pace.credentialsVersion !== before.credentialsVersion ||
    pace.clock - Math.max(storedClock, now) >= CLOCK_AHEAD_MS
  );
}

function breakerChanged(before: ChannelPace, pace: ChannelPace): boolean {
  return pace.breaker !== before.breaker || pace.epoch !== before.epoch;
}

/** When to wake more of the waiting chats. By then, nearly all chats that were woken before have started. */
export function wakeMoreAt({ clock, provenAt }: ChannelPace, now: number): number {
  return Math.max(provenAt === null ? now + SHORT_WAIT_MS : now, clock - SHORT_WAIT_MS);
}
