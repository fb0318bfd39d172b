/**
 * Milliseconds before the next attempt after `failures` in a row: 0.5 to 2 seconds at first, at most 7.5 to 30. The
 * jitter spreads the pages that reconnect after a deploy. `random` is from 0 to 1.
 */
export function waitBefore(failures: number, random: number): number {
  return Math.min(2_000 * 1.8 ** failures, 30_000) * (0.25 + 0.75 * random);
}
