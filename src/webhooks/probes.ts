/**
 * When a failing webhook may be tried again. Pure functions of the plan and the current time. Times are Unix
 * milliseconds.
 */

/** The probes of a failing webhook: one at a time, each by another line if one waits. */
export interface ProbePlan {
  /** How many probes failed. */
  failures: number;
  /** The earliest start of the next probe. */
  probeAt: number;
  /** The line that made the last probe; null before the first. */
  lastLine: string | null;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** The waits before the probes. The last one repeats. */
const WAITS = [5 * SECOND, 15 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE, 60 * MINUTE];

/** The plan after the failure that made the webhook a failing one. */
export function planProbes(now: number): ProbePlan {
  return { failures: 0, probeAt: now + waitAfter(0), lastLine: null };
}

/**
 * Whether a line may make a probe. The line of the last probe leaves it to others: if its event is the cause, another
 * event shows that the webhook works.
 * @param othersWait whether other lines wait for the webhook
 */
export function mayProbe({ probeAt, lastLine }: ProbePlan, lineId: string, othersWait: boolean, now: number): boolean {
  return now >= probeAt && (lineId !== lastLine || !othersWait);
}

/**
 * The plan after a probe that was not accepted.
 * @param counts whether the webhook failed; if not, it refused the event, and the next probe comes after the same wait
 */
export function afterProbe(plan: ProbePlan, counts: boolean, now: number): ProbePlan {
  const failures = plan.failures + (counts ? 1 : 0);
  return { ...plan, failures, probeAt: now + waitAfter(failures) };
}

function waitAfter(failures: number): number {
  return WAITS[Math.min(failures, WAITS.length - 1)] as number;
}
