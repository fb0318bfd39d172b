import { onTestFinished, vi } from "vitest";

interface Wait {
  ms: number;
  at: number;
}

/**
 * Until the end of the test, the service's waits end only when `pass` moves the clock to their end. Needs a stopped clock.
 * Each wait polls the clock, because the runtime lets no request or object end the wait of another.
 */
export function stopWaits() {
  const waits = new Set<Wait>();
  const tick = scheduler.wait.bind(scheduler);
  const spy = vi.spyOn(scheduler, "wait").mockImplementation(async (ms: number) => {
    const wait = { ms, at: Date.now() + ms };
    waits.add(wait);
    while (waits.has(wait) && Date.now() < wait.at) await tick(1);
    waits.delete(wait);
  });
  onTestFinished(() => {
    spy.mockRestore();
    waits.clear();
  });
  const of = (ms: number) => [...waits].filter((wait) => wait.ms === ms).length;
  return {
    /** Moves the clock, and ends the waits that are over by then, in order. */
    async pass(ms: number): Promise<void> {
      const until = Date.now() + ms;
      for (;;) {
        const [next] = [...waits].filter(({ at }) => at <= until).sort((one, other) => one.at - other.at);
        if (!next) break;
        vi.setSystemTime(Math.max(next.at, Date.now()));
        // What waited may be lost with its object.
        for (let ticks = 0; ticks < 50 && waits.has(next); ticks++) await tick(1);
        waits.delete(next);
      }
      vi.setSystemTime(until);
    },
    /** Resolves when a wait of this length has begun. */
    async begun(ms: number): Promise<void> {
      await vi.waitFor(() => {
        if (of(ms) === 0)
          throw new Error(`No wait of ${ms} ms has begun, only of ${[...waits].map((wait) => wait.ms)}`);
      });
    },
    /** How many waits of this length have not ended. */
    count: of,
  };
}
