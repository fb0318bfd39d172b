import { doublingMs } from "../platform/backoff.ts";

/**
 * The breaker of a channel that its network refuses: when a probe may look whether the channel works again. Pure
 * functions of the breaker and now. Times are Unix milliseconds.
 */

/** The network refuses the channel itself, not a message: a wrong token, a blocked account. */
export interface Breaker {
  since: number;
  reason: string;
  /** How many probes of messages that had not met the broken channel before found it still broken. */
  failures: number;
  /** How many probes did so of messages that had met it before. */
  repeats: number;
  /** The next attempt that is let through, one at a time, to see whether it works again. */
  probeAt: number;
  /** When a message that met the broken channel before may be the probe, at the earliest. */
  repeatAt: number;
  /** The number of the last probe. */
  probes: number;
  /** Whether that probe is still without its end. */
  isProbing: boolean;
}

/** A probe of which nobody reports the end is over after this long: its chat was lost. */
const PROBE_TAKES_MS = 60_000;
const PROBE = { firstMs: 300_000, maxMs: 2_400_000 };
/** Chats ask up to a fifth later than they could, so that they don't all ask at once: 5 to 56 minutes in all. */
const JITTER = 0.2;

/** The network refused the channel: the first probe may go in five minutes. */
export function openBreaker(reason: string, now: number): Breaker {
  const [probeAt, repeatAt] = [now + probeDelay(0), now + repeatDelay(0, 0)];
  return { since: now, reason, failures: 0, repeats: 0, probeAt, repeatAt, probes: 0, isProbing: false };
}

/**
 * Lets a probe go, or says when to ask again. A message that met the broken channel before waits until others had their
 * turn: if that message is the cause, another one finds out that the channel works.
 * @param isRepeat whether the message met this broken channel before
 * @param random from 0 to 1, for the jitter
 * @returns `probe`: its number, or null until `at`
 */
export function startProbe(
  breaker: Breaker,
  isRepeat: boolean,
  now: number,
  random: number,
): { probe: number | null; at: number; breaker: Breaker } {
  const { failures, probeAt, repeatAt } = breaker;
  const from = isRepeat ? Math.max(probeAt, repeatAt) : probeAt;
  if (now < from) return { probe: null, at: from + Math.round(random * JITTER * probeDelay(failures)), breaker };
  const probe = breaker.probes + 1;
  return { probe, at: now, breaker: { ...breaker, probes: probe, isProbing: true, probeAt: now + PROBE_TAKES_MS } };
}

/** Whether this probe is the last one, and without its end: a report that comes twice is of no probe under way. */
export function isCurrentProbe({ probes, isProbing }: Breaker, probe: number | null): boolean {
  return isProbing && probe === probes;
}

/**
 * A probe found the channel still broken. A message that had not met it doubles the wait of all; one that had met it
 * doubles the wait of such messages alone.
 */
export function probeFailed(breaker: Breaker, reason: string, isRepeat: boolean, now: number): Breaker {
  const over = { ...breaker, reason, isProbing: false };
  if (!isRepeat) {
    const failures = breaker.failures + 1;
    return { ...over, failures, probeAt: now + probeDelay(failures) };
  }
  const repeats = breaker.repeats + 1;
  const probeAt = now + probeDelay(breaker.failures);
  return { ...over, repeats, probeAt, repeatAt: now + repeatDelay(breaker.failures, repeats) };
}

/**
 * A probe ended without a word on the channel: the next one goes after the shortest wait. Its contact may be one that is
 * never reached, and must not keep the others from finding out that the channel works.
 */
export function probeInconclusive(breaker: Breaker, now: number): Breaker {
  return { ...breaker, isProbing: false, probeAt: now + PROBE.firstMs };
}

/** Longer than any message waits that has not met the broken channel. */
function repeatDelay(failures: number, repeats: number): number {
  return probeDelay(failures + repeats) + JITTER * probeDelay(failures);
}

function probeDelay(failures: number): number {
  return doublingMs(PROBE, failures);
}
