import { onTestFinished, vi } from "vitest";

/**
 * From here on, long timers end fast, and then the date is what it should be. Timers can't stand still, because those of
 * a request only run in that request.
 * @param longMs a timer of this many milliseconds or more ends 50 times as fast
 * @param isHeld while it is true, no such timer ends, however long the test takes to get where it wants to be
 */
export function hurry(longMs = 5_000, isHeld: (ms: number) => boolean = () => false): void {
  const start = setTimeout;
  let isOver = false;
  onTestFinished(() => {
    isOver = true;
  });
  vi.stubGlobal("setTimeout", (run: () => void, ms = 0) => {
    if (ms < longMs) return start(run, ms);
    const at = Date.now() + ms;
    const timer = setInterval(() => {
      if (isHeld(ms)) return;
      clearInterval(timer);
      // A stream of this test may still end its wait in the next one, whose date it must leave alone.
      if (!isOver && Date.now() < at) vi.setSystemTime(at);
      run();
    }, ms / 50);
    return timer;
  });
}

/**
 * As `hurry`, but long timers end only after the test has called what this returns.
 * @param longestMs a longer timer never ends
 */
export function hurryLater(longMs?: number, longestMs = Number.POSITIVE_INFINITY): () => void {
  let isHeld = true;
  hurry(longMs, (ms) => isHeld || ms > longestMs);
  return () => {
    isHeld = false;
  };
}

/** Hurries the timers after which a wait for events asks again whether it may go on, and never lets the wait end itself. */
export const hurryChecks = () => hurryLater(5_000, 5_000);
