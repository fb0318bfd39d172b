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
  /** The network asked for rest until then: no start before it counts, reserved or not. */
  pausedUntil: number;
  breaker: Breaker | null;
  /** How often it was mended: an attempt that was let go before tells nothing of the channel as it is now. */
  mended: number;
}

export interface Reservation {
  /** A start that an earlier leave named, and that has come. */
  reservedAt: number | null;
}

/** `go`: the attempt may start at `at`, which is now or nearly. `later`: ask again at `at`, with it as the reservation. */
export type Leave = { leave: "go"; at: number; probe: boolean } | { leave: "later"; at: number; broken: boolean };

export const STEADY: ChannelPace = { clock: 0, pausedUntil: 0, breaker: null, mended: 0 };

/** A start this near is waited for in memory: an alarm would cost a write. */
export const NEAR_MS = 1_000;
/** A reserved start is good for this long: chats that all come late together go by the clock again. */
const RESERVED_FOR_MS = 10_000;
/** A probe whose end nobody told, because its chat was lost, is over then. */
const PROBE_TAKES_MS = 60_000;
const FIRST_PROBE_MS = 300_000;
const MAX_PROBE_MS = 3_000_000;
/** Chats ask up to a fifth later than they could, so that they don't all ask at once: 5 to 60 minutes in all. */
const JITTER = 0.2;

/**
 * Gives an attempt its start. Starts lie `1000 / perSecond` ms apart on the virtual clock, so that a burst over many
 * chats queues evenly instead of returning as a herd. While the breaker is open one attempt at a time goes, as a probe.
 * @param random from 0 to 1, for the jitter
 */
export function takeLeave(
  pace: ChannelPace,
  { reservedAt }: Reservation,
  perSecond: number,
  now: number,
  random: number,
): { leave: Leave; pace: ChannelPace } {
  const { breaker } = pace;
  if (breaker) {
    if (now < breaker.probeAt) {
      const at = breaker.probeAt + Math.round(random * JITTER * probeDelay(breaker.failures));
      return { leave: { leave: "later", at, broken: true }, pace };
    }
    return {
      leave: { leave: "go", at: now, probe: true },
      pace: { ...pace, breaker: { ...breaker, probeAt: now + PROBE_TAKES_MS } },
    };
  }
  // The chat's clock may be a little ahead of this one.
  if (reservedAt !== null && now >= pace.pausedUntil && Math.abs(now - reservedAt) <= allowance(reservedAt, now)) {
    return { leave: { leave: "go", at: Math.max(now, reservedAt), probe: false }, pace };
  }
  const clock = Math.max(now, pace.clock);
  const at = Math.ceil(clock);
  const leave: Leave = at - now <= NEAR_MS ? { leave: "go", at, probe: false } : { leave: "later", at, broken: false };
  return { leave, pace: { ...pace, clock: clock + 1_000 / perSecond } };
}

function allowance(reservedAt: number, now: number): number {
  return reservedAt > now ? NEAR_MS : RESERVED_FOR_MS;
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
  return { ...pace, breaker: { since, reason, failures, probeAt: now + probeDelay(failures) } };
}

/** A probe ended without a word on the channel itself: the next one takes as long as if it had found it broken. */
export function probeAgain(pace: ChannelPace, attempt: Pick<Attempt, "mended">, now: number): ChannelPace {
  const { breaker } = pace;
  if (!breaker || attempt.mended !== pace.mended) return pace;
  return { ...pace, breaker: { ...breaker, probeAt: now + probeDelay(breaker.failures) } };
}

/** The channel works: a probe came through, or its credentials were changed. */
export function mendChannel(pace: ChannelPace): ChannelPace {
  return { ...pace, breaker: null, mended: pace.mended + 1 };
}

/** 5 minutes, doubling to 50. */
function probeDelay(failures: number): number {
  return Math.min(MAX_PROBE_MS, FIRST_PROBE_MS * 2 ** failures);
}
