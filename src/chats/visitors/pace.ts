const SECOND_MS = 1_000;
/** How far back a visitor's messages count. */
export const PACE_WINDOW_MS = 3_600_000;
/** How many messages a visitor may write within it. */
export const MAX_IN_WINDOW = 60;

/**
 * How many seconds a visitor must wait before the next message, 0 for none: one a second, and 60 an hour. `times` are
 * those of the visitor's newest messages within the hour, newest first, at most 60, Unix milliseconds.
 */
export function waitBeforeNext(times: readonly number[], now: number): number {
  const [newest] = times;
  const sixtieth = times[MAX_IN_WINDOW - 1];
  // A stamp ahead of the clock, which was set back, says nothing of a second; in the hour it counts.
  const second = newest === undefined || newest > now ? 0 : newest + SECOND_MS - now;
  const hour = sixtieth === undefined ? 0 : sixtieth + PACE_WINDOW_MS - now;
  return Math.ceil(Math.max(0, second, hour) / 1_000);
}
