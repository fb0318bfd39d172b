const SECOND_MS = 1_000;
/** The period in which a visitor's messages are counted. */
export const RATE_WINDOW_MS = 3_600_000;
export const MAX_IN_WINDOW = 60;

/**
 * How many seconds a visitor must wait before the next message; 0 if none. The limits are one message a second and 60 an
 * hour.
 * @param times of the visitor's newest messages in the last hour, newest first, at most 60; Unix milliseconds
 */
export function secondsToWait(times: readonly number[], now: number): number {
  const [newest] = times;
  const sixtieth = times[MAX_IN_WINDOW - 1];
  // If the clock was set back, a time in the future counts only toward the hour.
  const second = newest === undefined || newest > now ? 0 : newest + SECOND_MS - now;
  const hour = sixtieth === undefined ? 0 : sixtieth + RATE_WINDOW_MS - now;
  return Math.ceil(Math.max(0, second, hour) / 1_000);
}
