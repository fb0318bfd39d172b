import { onTestFinished, vi } from "vitest";

interface Wait {
  ms: number;
  at: number;
}

/** Polls of a test. */
const isOfTest = (ms: number) => ms <= 3;

/** An isolate's timers for grants. Shorter ones share calls, and longer ones are deadlines. */
const isOfGrant = (ms: number) => ms > 3 && ms <= 2_000 && ms !== 1_000;

/**
 * Until the end of the test, the service's waits and its timers for grants end only when `pass` moves the clock to their
 * end. Needs a stopped clock. Each polls the clock, because the runtime lets no request or object end the wait of another.
 */
export function stopWaits() {
  const waits = new Set<Wait>();
  const tick = scheduler.wait.bind(scheduler);
  const start = setTimeout;
  const stop = clearTimeout;
  const untilOver = async (wait: Wait) => {
    waits.add(wait);
    while (waits.has(wait) && Date.now() < wait.at) await tick(1);
    return waits.delete(wait);
  };
  const begin = (ms: number): Wait => ({ ms, at: Date.now() + ms });
  const spy = vi.spyOn(scheduler, "wait").mockImplementation(async (ms: number) => {
    if (isOfTest(ms)) await tick(ms);
    else await untilOver(begin(ms));
  });
  vi.stubGlobal("setTimeout", (run: () => void, ms = 0) => {
    if (!isOfGrant(ms)) return start(run, ms);
    const wait = begin(ms);
    void untilOver(wait).then((isOver) => isOver && run());
    return wait;
  });
  vi.stubGlobal("clearTimeout", (timer: Wait & number) => {
    if (!waits.delete(timer)) stop(timer);
  });
  onTestFinished(() => {
    spy.mockRestore();
    waits.clear();
  });
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
        if (this.count(ms) > 0) return;
        throw new Error(`No wait of ${ms} ms has begun, only of ${[...waits].map((wait) => wait.ms).join(", ")}`);
      });
    },
    /** How many waits of this length have not ended. */
    count: (ms: number) => [...waits].filter((wait) => wait.ms === ms).length,
  };
}
