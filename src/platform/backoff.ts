/** Waits that double from `firstMs` up to `maxMs`. */
export interface Backoff {
  firstMs: number;
  maxMs: number;
}

/** The wait after `repeats` waits before it, in milliseconds, without jitter. @param repeats 0 for the first wait */
export function doublingMs({ firstMs, maxMs }: Backoff, repeats: number): number {
  return Math.min(maxMs, firstMs * 2 ** Math.max(0, repeats));
}

/** The same wait with jitter. @param random from 0 to 1 */
export function backoffMs(backoff: Backoff, repeats: number, random: number): number {
  return withJitter(doublingMs(backoff, repeats), random);
}

/**
 * A wait that is up to a fifth shorter or longer, so that calls that failed together don't return together.
 * @param random from 0 to 1
 */
export function withJitter(ms: number, random: number): number {
  return Math.round(ms * (0.8 + 0.4 * random));
}
