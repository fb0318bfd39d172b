import { doublingMs } from "../../platform/backoff.ts";

/**
 * The circuit breaker of a channel: decides when a probe may test whether the network accepts the channel again. Pure
 * functions of the breaker and the current time. Times are Unix milliseconds.
 */

/** An open breaker: the network refuses the channel itself, for example because of a wrong token or a blocked account. */
export interface Breaker {
  since: number;
  reason: string;
  /** How many probes failed with a message that had not been refused by this broken channel before. */
  failures: number;
  /** How many probes failed with a message that had been refused by this broken channel before. */
  repeats: number;
  /** The earliest time of the next probe. Only one probe runs at a time. */
  probeAt: number;
  /** The earliest time of a probe with a message that was refused before. */
  repeatAt: number;
  /** The number of the last probe. */
  probes: number;
  /** Whether the result of that probe is still missing. */
  isProbing: boolean;
  /** Set if a report of the network about the account opened it, and not a refused message. */
  byNetwork?: true;
}

/** A probe without a result ends after this time, because its chat may have crashed. */
const PROBE_TIMEOUT_MS = 60_000;
const PROBE = { firstMs: 300_000, maxMs: 2_400_000 };
/** Chats retry up to 20 % later than allowed, so that they don't all retry together: after 5 to 56 minutes in all. */
const JITTER = 0.2;

/** Opens the breaker after the network refused the channel. The first probe may start in five minutes. */
export function openBreaker(reason: string, now: number): Breaker {
  const [probeAt, repeatAt] = [now + probeDelay(0), now + repeatDelay(0, 0)];
  return { since: now, reason, failures: 0, repeats: 0, probeAt, repeatAt, probes: 0, isProbing: false };
}

/**
 * Starts a probe, or says when to ask again. A message that was refused before waits until other messages had a chance:
 * if that message is the cause, another one shows that the channel works.
 * @param isRepeat whether this broken channel refused the message before
 * @param random from 0 to 1, for the jitter
 * @returns `probe`: the probe's number; null if no probe may start before `at`
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
  return { probe, at: now, breaker: { ...breaker, probes: probe, isProbing: true, probeAt: now + PROBE_TIMEOUT_MS } };
}

/** Whether `probe` is the probe in progress. A repeated report is not: the first report ended the probe. */
export function isCurrentProbe({ probes, isProbing }: Breaker, probe: number | null): boolean {
  return isProbing && probe === probes;
}

/**
 * Records that a probe found the channel still broken. With a message that was not refused before, it doubles the wait of
 * all messages. With a message that was refused before, it doubles the wait of only such messages.
 */
export function probeFailed(breaker: Breaker, reason: string, isRepeat: boolean, now: number): Breaker {
  const ended = { ...breaker, reason, isProbing: false };
  if (!isRepeat) {
    const failures = breaker.failures + 1;
    return { ...ended, failures, probeAt: now + probeDelay(failures) };
  }
  const repeats = breaker.repeats + 1;
  const probeAt = now + probeDelay(breaker.failures);
  return { ...ended, repeats, probeAt, repeatAt: now + repeatDelay(breaker.failures, repeats) };
}

/**
 * Records that a probe ended without showing whether the channel works. The next one may start after the shortest wait:
 * the contact may be unreachable, and must not delay the probes of other messages.
 */
export function probeInconclusive(breaker: Breaker, now: number): Breaker {
  return { ...breaker, isProbing: false, probeAt: now + PROBE.firstMs };
}

/** Records that a probe did not begin. Another one may start at once. */
export function probeUnused(breaker: Breaker, now: number): Breaker {
  return { ...breaker, isProbing: false, probeAt: now };
}

/** Longer than the wait of any message that was not refused before. */
function repeatDelay(failures: number, repeats: number): number {
  return probeDelay(failures + repeats) + JITTER * probeDelay(failures);
}

function probeDelay(failures: number): number {
  return doublingMs(PROBE, failures);
}
