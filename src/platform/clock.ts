/** Time and randomness. Code that takes both as a parameter can run in a simulation. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** From 0 to 1. */
  random(): number;
  /** Resolves after `ms`. */
  wait(ms: number): Promise<unknown>;
  /** Calls `run` after `ms`. @returns a function that cancels the call */
  timer(ms: number, run: () => void): () => void;
}

/**
 * Whether `at` is less than `ms` before `now`. A time after `now`, because the clock was set back, is not recent. All in
 * milliseconds; times are Unix times.
 */
export function isRecent(at: number, ms: number, now = Date.now()): boolean {
  return at <= now && now - at < ms;
}

export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
  wait: (ms) => scheduler.wait(ms),
  timer(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
