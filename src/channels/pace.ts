import { type Breaker, isCurrentProbe, openBreaker, probeFailed, probeInconclusive, startProbe } from "./breaker.ts";

/**
 * When the chats of a channel may call their network: the decisions, as functions of the channel's state and now.
 * Times are Unix milliseconds.
 */

export interface ChannelPace {
  /** The virtual clock: the earliest start that no attempt has yet. */
  clock: number;
  /** The earliest start after the last one that was let go: reservations that come late together don't start together. */
  nextGrantAt: number;
  /** The network asked for rest until then: no start before it counts, reserved or not. */
  pausedUntil: number;
  breaker: Breaker | null;
  /** Counts recoveries. A report from an earlier epoch is ignored. */
  epoch: number;
  /** The epoch in which an attempt last showed that the channel works. */
  provenEpoch: number;
  /** Which version of the credentials it has; null before it is known. */
  credentials: string | null;
  /** When an attempt last showed that the channel works; null before, and since its credentials were changed. */
  provenAt: number | null;
  /** The trial under way, by the time until which it is waited for. */
  trialUntil: number;
}

export interface PermitQuery {
  /** A start that an earlier permit named, and that has come. */
  reservedAt: number | null;
  /** Whether it would wait for a trial's end, rather than come again. */
  canWait: boolean;
  /** The epoch in which this message last met a broken channel; null if it never did. */
  brokenEpoch: number | null;
}

/**
 * `granted`: the attempt may start at `at`, which is now or nearly; a `probe` and a `trial` tell how they end.
 * `wait`: a trial is under way; ask again once it is over. `later`: ask again at `at`, with it as the reservation.
 */
export type Permit =
  | { outcome: "granted"; at: number; probe: number | null; trial: number | null }
  | { outcome: "wait" }
  | { outcome: "later"; at: number; broken: boolean };

type Answer = { permit: Permit; pace: ChannelPace };

export const INITIAL_PACE: ChannelPace = {
  clock: 0,
  nextGrantAt: 0,
  pausedUntil: 0,
  breaker: null,
  epoch: 0,
  provenEpoch: 0,
  credentials: null,
  provenAt: null,
  trialUntil: 0,
};

/** A start this near is waited for in memory: an alarm would cost a write. */
export const SHORT_WAIT_MS = 1_000;
/** A reserved start is good for this long: chats that all come late together go by the clock again. */
const RESERVED_FOR_MS = 10_000;
/** How long a channel counts as one that works after an attempt showed it; in the second half one attempt shows it anew. */
export const PROVEN_FOR_MS = 60_000;
/** A trial holds the others for this long, should its answer take longer: then one more is made. */
export const TRIAL_MS = 5_000;
/** A clock that is this far ahead of what is stored is stored. */
const CLOCK_AHEAD_MS = 5_000;

/**
 * Gives an attempt its start. Starts lie `1000 / perSecond` ms apart on the virtual clock, so that a burst over many
 * chats queues evenly instead of returning as a herd. While the breaker is open one attempt at a time goes, as a probe.
 * A channel that has not shown of late that it works, lets one attempt go first, as a trial: so a dead token costs one
 * call, however many chats wait. One that has, holds nobody.
 * @param random from 0 to 1, for the jitter
 */
export function grantPermit(
  pace: ChannelPace,
  { reservedAt, canWait, brokenEpoch }: PermitQuery,
  perSecond: number,
  now: number,
  random: number,
): Answer {
  if (pace.breaker) {
    const { probe, at, breaker } = startProbe(pace.breaker, brokenEpoch === pace.epoch, now, random);
    if (probe === null) return { permit: { outcome: "later", at, broken: true }, pace };
    return { permit: { outcome: "granted", at, probe, trial: null }, pace: { ...pace, breaker } };
  }
  const interval = 1_000 / perSecond;
  const isOnTrial = now < pace.trialUntil;
  const provenFor = (pace.provenAt ?? Number.NEGATIVE_INFINITY) + PROVEN_FOR_MS - now;
  if (isOnTrial && provenFor <= 0) {
    return canWait ? { permit: { outcome: "wait" }, pace } : reserve(pace, now + SHORT_WAIT_MS, interval);
  }
  const isReserved = reservedAt !== null && now >= pace.pausedUntil && now - reservedAt <= RESERVED_FOR_MS;
  // The chat's clock may be a little ahead of this one: so may a start that it says has come.
  const reserved = isReserved ? Math.max(now, reservedAt, pace.nextGrantAt) : Number.POSITIVE_INFINITY;
  const isInTime = reserved - now <= SHORT_WAIT_MS;
  const start = isInTime ? reserved : Math.max(now, pace.clock, pace.nextGrantAt);
  const at = Math.ceil(start);
  if (at - now > SHORT_WAIT_MS) return reserve(pace, start, interval);
  const trial = !isOnTrial && provenFor <= PROVEN_FOR_MS / 2 ? at + TRIAL_MS : null;
  const nextGrantAt = start + interval;
  const clock = isInTime ? pace.clock : nextGrantAt;
  return {
    permit: { outcome: "granted", at, probe: null, trial },
    pace: { ...pace, clock, nextGrantAt, ...(trial !== null && { trialUntil: trial }) },
  };
}

function reserve(pace: ChannelPace, earliest: number, interval: number): Answer {
  const start = Math.max(earliest, pace.clock);
  return {
    permit: { outcome: "later", at: Math.ceil(start), broken: false },
    pace: { ...pace, clock: start + interval },
  };
}

/** Whether a start that was waited for still counts: meanwhile the channel may have broken, or been told to rest. */
export function isStillValid(pace: ChannelPace, at: number, epoch: number): boolean {
  return pace.epoch === epoch && pace.pausedUntil <= at && pace.breaker === null;
}

/** The network said that this channel is too fast: nobody starts before `afterMs` are over. */
export function slowDown(pace: ChannelPace, afterMs: number, now: number): ChannelPace {
  const until = now + afterMs;
  return { ...pace, clock: Math.max(pace.clock, until), pausedUntil: Math.max(pace.pausedUntil, until) };
}

/** What an attempt was when it was let go. */
export interface Attempt {
  /** The number of the probe; null for an attempt that is no probe. */
  probe: number | null;
  /** The channel's epoch at that time. */
  epoch: number;
  /** Which trial it was; null or absent where it was none. */
  trial?: number | null | undefined;
  /** The epoch in which its message had last met a broken channel. */
  brokenEpoch?: number | null | undefined;
}

/**
 * The network refused the channel itself: opens the breaker or, if a probe found that out, sets the next probe. All
 * other attempts add nothing, and neither does a report that comes twice or is from before the channel was mended.
 * A probe of a message that had met the broken channel before doubles the wait of such messages alone.
 */
export function breakChannel(pace: ChannelPace, reason: string, attempt: Attempt, now: number): ChannelPace {
  const { breaker } = pace;
  if (attempt.epoch !== pace.epoch) return pace;
  if (!breaker) return { ...pace, breaker: openBreaker(reason, now), provenAt: null, trialUntil: 0 };
  if (!isCurrentProbe(breaker, attempt.probe)) return pace;
  return { ...pace, breaker: probeFailed(breaker, reason, attempt.brokenEpoch === pace.epoch, now) };
}

/** A probe ended without a word on the channel itself. */
export function rescheduleProbe(
  pace: ChannelPace,
  attempt: Pick<Attempt, "epoch" | "probe">,
  now: number,
): ChannelPace {
  const { breaker } = pace;
  if (!breaker || attempt.epoch !== pace.epoch || !isCurrentProbe(breaker, attempt.probe)) return pace;
  return { ...pace, breaker: probeInconclusive(breaker, now) };
}

/** A trial ended: either it showed that the channel works, or the next attempt is one. */
export function endTrial(pace: ChannelPace, attempt: Omit<Attempt, "probe">, works: boolean, now: number): ChannelPace {
  if (pace.breaker || attempt.epoch !== pace.epoch) return pace;
  const trialUntil = works || attempt.trial === pace.trialUntil ? 0 : pace.trialUntil;
  if (!works) return { ...pace, trialUntil };
  return { ...pace, trialUntil, provenAt: now, provenEpoch: pace.epoch };
}

/** The channel works, as a probe showed at `provenAt`; or, if that is null, its credentials were changed. */
export function closeBreaker(pace: ChannelPace, provenAt: number | null): ChannelPace {
  const epoch = pace.epoch + 1;
  const provenEpoch = provenAt === null ? pace.provenEpoch : epoch;
  return { ...pace, breaker: null, epoch, provenEpoch, provenAt, trialUntil: 0 };
}

/**
 * The channel's record was read. With other credentials than before the channel may work: the breaker closes, and the
 * next attempt is a trial.
 */
export function withCredentials(pace: ChannelPace, credentials: string): ChannelPace {
  if (pace.credentials === credentials) return pace;
  return { ...(pace.credentials === null ? pace : closeBreaker(pace, null)), credentials };
}

/** What the end of a probe or a trial makes of the channel, where it was not found broken. Of an older breaker: nothing. */
export function attemptEnded(pace: ChannelPace, attempt: Attempt, works: boolean, now: number): ChannelPace {
  if (attempt.probe === null) return endTrial(pace, attempt, works, now);
  if (!works) return rescheduleProbe(pace, attempt, now);
  return attempt.epoch === pace.epoch ? closeBreaker(pace, now) : pace;
}

/** Whether those who wait for a start, or for a trial's end, must look again. */
export function affectsWaiters(before: ChannelPace, pace: ChannelPace): boolean {
  const isTrialOver = before.trialUntil !== 0 && pace.trialUntil !== before.trialUntil;
  return breakerChanged(before, pace) || isTrialOver || pace.pausedUntil !== before.pausedUntil;
}

/**
 * Whether a change must be stored now: that of the breaker at once; the clock only now and then, for losing it costs a
 * few early starts.
 * @param storedClock the clock that was stored last
 */
export function mustStore(before: ChannelPace, pace: ChannelPace, storedClock: number, now: number): boolean {
  return (
    breakerChanged(before, pace) ||
    pace.provenEpoch !== before.provenEpoch ||
    pace.clock - Math.max(storedClock, now) >= CLOCK_AHEAD_MS
  );
}

function breakerChanged(before: ChannelPace, pace: ChannelPace): boolean {
  return pace.breaker !== before.breaker || pace.epoch !== before.epoch;
}

/** When further chats may be woken that waited for the channel: those woken before have nearly all begun by then. */
export function wakeMoreAt({ clock, provenAt }: ChannelPace, now: number): number {
  return Math.max(provenAt === null ? now + SHORT_WAIT_MS : now, clock - SHORT_WAIT_MS);
}
