/**
 * When a failing webhook may be tried again. Pure functions of the plan and the current time. Times are Unix
 * milliseconds.
 */

/** The probes of a failing webhook: one at a time, each by another subscription if one waits. */
export interface ProbePlan {
  /** How many probes failed. */
  failures: number;
  /** The earliest start of the next probe. */
  probeAt: number;
  /** The subscription that failed last, and made the last probe if there was one; null if unknown. */
  lastLine: string | null;
  /** The only subscription that failed since the webhook fails; null or absent if another one failed too. */
  onlyLine?: string | null;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** The waits before the probes. The last one repeats. */
const WAITS = [5 * SECOND, 15 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE, 60 * MINUTE];

/**
 * The plan after the failure that made the webhook a failing one.
 * @param subscriptionId the subscription that failed
 */
export function planProbes(subscriptionId: string, now: number): ProbePlan {
  return { failures: 0, probeAt: now + waitAfter(0), lastLine: subscriptionId, onlyLine: subscriptionId };
}

/**
 * Whether a subscription may make a probe. The subscription of the last probe leaves it to others: if its event is the
 * cause, another event shows that the webhook works.
 * @param othersWait whether other subscriptions wait for the webhook and can be woken
 */
export function mayProbe(
  { probeAt, lastLine }: ProbePlan,
  subscriptionId: string,
  othersWait: boolean,
  now: number,
): boolean {
  return now >= probeAt && (subscriptionId !== lastLine || !othersWait);
}

/**
 * The plan after a probe that was not accepted. The wait grows once a second subscription fails: one event that always
 * fails has waits of its own, and must not make the first event of another subscription wait for an hour.
 * @param failed the subscription if the webhook failed; null if it refused the event, which says nothing of others
 */
export function afterProbe(plan: ProbePlan, failed: string | null, now: number): ProbePlan {
  if (failed === null) return { ...plan, probeAt: now + waitAfter(plan.failures) };
  const onlyLine = failed === plan.onlyLine ? failed : null;
  const failures = plan.failures + (onlyLine === null ? 1 : 0);
  return { ...plan, failures, probeAt: now + waitAfter(failures), onlyLine };
}

function waitAfter(failures: number): number {
  return WAITS[Math.min(failures, WAITS.length - 1)] as number;
}
