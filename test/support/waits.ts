import { onTestFinished, vi } from "vitest";
import { until } from "./until.ts";

interface Wait {
  ms: number;
  at: number;
  isCanceled: boolean;
}

/** Polls of a test. */
const isOfTest = (ms: number) => ms <= 3;

/** Longer than any test. */
const AN_HOUR_MS = 3_600_000;

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
    while (!wait.isCanceled && Date.now() < wait.at) await tick(1);
    waits.delete(wait);
    return !wait.isCanceled;
  };
  const cancel = (wait: Wait) => {
    wait.isCanceled = true;
    waits.delete(wait);
  };
  const begin = (ms: number): Wait => ({ ms, at: Date.now() + ms, isCanceled: false });
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
    if (waits.has(timer)) cancel(timer);
    else stop(timer);
  });
  const cancelAll = () => {
    for (const wait of waits) cancel(wait);
  };
  onTestFinished(() => {
    spy.mockRestore();
    cancelAll();
  });
  return {
    cancelAll,
    /** Moves the clock, and ends the waits that are over by then, in order. */
    async pass(ms: number): Promise<void> {
      const end = Date.now() + ms;
      for (;;) {
        const [next] = [...waits].filter(({ at }) => at <= end).sort((one, other) => one.at - other.at);
        if (!next) break;
        vi.setSystemTime(Math.max(next.at, Date.now()));
        await until(`a wait of ${next.ms} ms ends`, () => !waits.has(next));
      }
      vi.setSystemTime(end);
    },
    /** Resolves when a wait of this length has begun. */
    async begun(ms: number): Promise<void> {
      const all = () => [...waits].map((wait) => wait.ms);
      await until(`a wait of ${ms} ms begins`, all, (seen) => seen.includes(ms));
    },
    /** How many waits of this length have not ended. */
    count: (ms: number) => [...waits].filter((wait) => wait.ms === ms).length,
  };
}

/** Until the end of the test, no wait of this length ends, however long a busy machine takes for what ends it early. */
export function holdWaits(ms: number): void {
  const wait = scheduler.wait.bind(scheduler);
  const spy = vi
    .spyOn(scheduler, "wait")
    .mockImplementation((given: number) => wait(given === ms ? AN_HOUR_MS : given));
  onTestFinished(() => spy.mockRestore());
}
