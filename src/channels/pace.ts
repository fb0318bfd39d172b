/**
 * When the chats of a channel may call their network: the decisions, as functions of the channel's state and now.
 * Times are Unix milliseconds.
 */

/** A network that refuses the channel itself, not a message: a wrong token, a blocked account. */
interface Breaker {
  since: number;
  reason: string;
  /** How many probes found it still broken. */
  failures: number;
  /** The next attempt that is let through, one at a time, to see whether it works again. */
  probeAt: number;
}

export interface ChannelPace {
  /** The virtual clock: the earliest start that no attempt has yet. */
  clock: number;
  /** The earliest start after the last one that was let go: reservations that come late together don't start together. */
  line: number;
  /** The network asked for rest until then: no start before it counts, reserved or not. */
  pausedUntil: number;
  breaker: Breaker | null;
  /** How often it was mended: an attempt that was let go before tells nothing of the channel as it is now. */
  mended: number;
  /** When an attempt last showed that the channel works; null before, and since its credentials were changed. */
  provenAt: number | null;
  /** The trial under way, by the time until which it is waited for. */
  trialUntil: number;
}

export interface Ask {
  /** A start that an earlier leave named, and that has come. */
  reservedAt: number | null;
  /** Whether it would wait for a trial's end, rather than come again. */
  isPatient: boolean;
}

/**
 * `go`: the attempt may start at `at`, which is now or nearly; a `probe` and a `trial` tell how they end.
 * `wait`: a trial is under way; ask again once it is over. `later`: ask again at `at`, with it as the reservation.
 */
export type Leave =
  | { leave: "go"; at: number; probe: boolean; trial: number | null }
  | { leave: "wait" }
  | { leave: "later"; at: number; broken: boolean };

type Answer = { leave: Leave; pace: ChannelPace };

export const STEADY: ChannelPace = {
  clock: 0,
  line: 0,
  pausedUntil: 0,
  breaker: null,
  mended: 0,
  provenAt: null,
  trialUntil: 0,
};

/** A start this near is waited for in memory: an alarm would cost a write. */
export const NEAR_MS = 1_000;
/** A reserved start is good for this long: chats that all come late together go by the clock again. */
const RESERVED_FOR_MS = 10_000;
/** How long a channel counts as one that works after an attempt showed it; in the second half one attempt shows it anew. */
export const PROVEN_FOR_MS = 60_000;
/** A trial holds the others for this long, should its answer take longer: then one more is made. */
export const TRIAL_MS = 5_000;
/** A probe whose end nobody told, because its chat was lost, is over then. */
const PROBE_TAKES_MS = 60_000;
const FIRST_PROBE_MS = 300_000;
const MAX_PROBE_MS = 3_000_000;
/** A clock that is this far ahead of what is stored is stored. */
const CLOCK_AHEAD_MS = 5_000;
/** Chats ask up to a fifth later than they could, so that they don't all ask at once: 5 to 60 minutes in all. */
const JITTER = 0.2;

/**
 * Gives an attempt its start. Starts lie `1000 / perSecond` ms apart on the virtual clock, so that a burst over many
 * chats queues evenly instead of returning as a herd. While the breaker is open one attempt at a time goes, as a probe.
 * A channel that has not shown of late that it works, lets one attempt go first, as a trial: so a dead token costs one
 * call, however many chats wait. One that has, holds nobody.
 * @param random from 0 to 1, for the jitter
 */
export function takeLeave(
  pace: ChannelPace,
  { reservedAt, isPatient }: Ask,
  perSecond: number,
  now: number,
  random: number,
): Answer {
  if (pace.breaker) return probe(pace, pace.breaker, now, random);
  const interval = 1_000 / perSecond;
  const isOnTrial = now < pace.trialUntil;
  const provenFor = (pace.provenAt ?? Number.NEGATIVE_INFINITY) + PROVEN_FOR_MS - now;
  if (isOnTrial && provenFor <= 0) {
    return isPatient ? { leave: { leave: "wait" }, pace } : reserve(pace, now + NEAR_MS, interval);
  }
  const isReserved = reservedAt !== null && now >= pace.pausedUntil && now - reservedAt <= RESERVED_FOR_MS;
  // The chat's clock may be a little ahead of this one: so may a start that it says has come.
  const reserved = isReserved ? Math.max(now, reservedAt, pace.line) : Number.POSITIVE_INFINITY;
  const isInTime = reserved - now <= NEAR_MS;
  const start = isInTime ? reserved : Math.max(now, pace.clock, pace.line);
  const at = Math.ceil(start);
  if (at - now > NEAR_MS) return reserve(pace, start, interval);
  const trial = !isOnTrial && provenFor <= PROVEN_FOR_MS / 2 ? at + TRIAL_MS : null;
  const line = start + interval;
  const clock = isInTime ? pace.clock : line;
  return {
    leave: { leave: "go", at, probe: false, trial },
    pace: { ...pace, clock, line, ...(trial !== null && { trialUntil: trial }) },
  };
}

function probe(pace: ChannelPace, breaker: Breaker, now: number, random: number): Answer {
  if (now < breaker.probeAt) {
    const at = breaker.probeAt + Math.round(random * JITTER * probeDelay(breaker.failures));
    return { leave: { leave: "later", at, broken: true }, pace };
  }
  return {
    leave: { leave: "go", at: now, probe: true, trial: null },
    pace: { ...pace, breaker: { ...breaker, probeAt: now + PROBE_TAKES_MS } },
  };
}

function reserve(pace: ChannelPace, earliest: number, interval: number): Answer {
  const start = Math.max(earliest, pace.clock);
  return {
    leave: { leave: "later", at: Math.ceil(start), broken: false },
    pace: { ...pace, clock: start + interval },
  };
}

/** Whether a start that was waited for still counts: meanwhile the channel may have broken, or been told to rest. */
export function isStillGood(pace: ChannelPace, at: number, mended: number): boolean {
  return pace.mended === mended && pace.pausedUntil <= at && pace.breaker === null;
}

/** The network said that this channel is too fast: nobody starts before `afterMs` are over. */
export function slowDown(pace: ChannelPace, afterMs: number, now: number): ChannelPace {
  const until = now + afterMs;
  return { ...pace, clock: Math.max(pace.clock, until), pausedUntil: Math.max(pace.pausedUntil, until) };
}

/** What an attempt was when it was let go. */
export interface Attempt {
  probe: boolean;
  /** `mended` of the channel at that time. */
  mended: number;
  /** Which trial it was; null or absent where it was none. */
  trial?: number | null | undefined;
}

/**
 * The network refused the channel itself: opens the breaker or, where a probe found that out, makes the wait for the
 * next one longer. What else was under way adds nothing, and what was sent before the channel was mended is old news.
 */
export function breakChannel(pace: ChannelPace, reason: string, attempt: Attempt, now: number): ChannelPace {
  const { breaker } = pace;
  if (attempt.mended !== pace.mended || (breaker && !attempt.probe)) return pace;
  const failures = breaker ? breaker.failures + 1 : 0;
  const since = breaker?.since ?? now;
  const opened = { since, reason, failures, probeAt: now + probeDelay(failures) };
  return { ...pace, breaker: opened, provenAt: null, trialUntil: 0 };
}

/**
 * A probe ended without a word on the channel itself: the next one goes after the shortest wait. It may have been of a
 * chat whose contact is never reached, which must not keep the others from finding out that the channel works.
 */
export function probeAgain(pace: ChannelPace, attempt: Pick<Attempt, "mended">, now: number): ChannelPace {
  const { breaker } = pace;
  if (!breaker || attempt.mended !== pace.mended) return pace;
  return { ...pace, breaker: { ...breaker, probeAt: now + FIRST_PROBE_MS } };
}

/** A trial ended: either it showed that the channel works, or the next attempt is one. */
export function endTrial(pace: ChannelPace, attempt: Omit<Attempt, "probe">, works: boolean, now: number): ChannelPace {
  if (pace.breaker || attempt.mended !== pace.mended) return pace;
  const trialUntil = works || attempt.trial === pace.trialUntil ? 0 : pace.trialUntil;
  return { ...pace, trialUntil, provenAt: works ? now : pace.provenAt };
}

/** The channel works, as a probe showed at `provenAt`; or, where that is null, its credentials were changed. */
export function mendChannel(pace: ChannelPace, provenAt: number | null): ChannelPace {
  return { ...pace, breaker: null, mended: pace.mended + 1, provenAt, trialUntil: 0 };
}

/** What the end of a probe or a trial makes of the channel, where it was not found broken. Of an older breaker: nothing. */
export function attemptEnded(pace: ChannelPace, attempt: Attempt, works: boolean, now: number): ChannelPace {
  if (!attempt.probe) return endTrial(pace, attempt, works, now);
  if (!works) return probeAgain(pace, attempt, now);
  return attempt.mended === pace.mended ? mendChannel(pace, now) : pace;
}

/** Whether those who wait for a start, or for a trial's end, must look again. */
export function isNews(before: ChannelPace, pace: ChannelPace): boolean {
  const isTrialOver = before.trialUntil !== 0 && pace.trialUntil !== before.trialUntil;
  return isOther(before, pace) || isTrialOver || pace.pausedUntil !== before.pausedUntil;
}

/**
 * Whether a change must be stored now: that of the breaker at once; the clock only now and then, for losing it costs a
 * few early starts.
 * @param storedClock the clock that was stored last
 */
export function mustStore(before: ChannelPace, pace: ChannelPace, storedClock: number, now: number): boolean {
  return isOther(before, pace) || pace.clock - Math.max(storedClock, now) >= CLOCK_AHEAD_MS;
}

function isOther(before: ChannelPace, pace: ChannelPace): boolean {
  return pace.breaker !== before.breaker || pace.mended !== before.mended;
}

/** When further chats may be woken that waited for the channel: those woken before have nearly all begun by then. */
export function wakeMoreAt({ clock, provenAt }: ChannelPace, now: number): number {
  return Math.max(provenAt === null ? now + NEAR_MS : now, clock - NEAR_MS);
}

/** 5 minutes, doubling to 50. */
function probeDelay(failures: number): number {
  return Math.min(MAX_PROBE_MS, FIRST_PROBE_MS * 2 ** failures);
}
