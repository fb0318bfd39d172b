import type { Clock } from "./clock.ts";

/** Work that ignores its signal is given up after this much longer. */
const GRACE_MS = 1_000;

/**
 * Runs work with a deadline: after `ms` its signal is aborted, and soon after the work is given up. Not with
 * `AbortSignal.timeout`, whose timer would keep an object in memory long after the answer.
 * @throws what the work throws, or an error if it ignores its signal
 */
export async function withDeadline<T>(clock: Clock, ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const { promise: over, reject } = Promise.withResolvers<never>();
  const cancel = [
    clock.timer(ms, () => controller.abort()),
    clock.timer(ms + GRACE_MS, () => reject(new Error("The deadline has passed"))),
  ];
  try {
    return await Promise.race([work(controller.signal), over]);
  } finally {
    for (const each of cancel) each();
  }
}

/** Waits for work, but not longer than `ms`. @returns null if the work takes longer; it goes on */
export async function inTime<T>(clock: Pick<Clock, "timer">, ms: number, work: Promise<T>): Promise<T | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const cancel = clock.timer(ms, () => resolve(null));
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel();
  }
}
