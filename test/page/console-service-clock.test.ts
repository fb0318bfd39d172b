import { afterEach, beforeEach, expect, test, vi } from "vitest";

const NOW = Date.parse("2026-11-20T10:00:00.400Z");

beforeEach(() => {
  vi.useFakeTimers({ now: NOW });
  vi.resetModules();
});
afterEach(() => void vi.useRealTimers());

/** A response that took some milliseconds, from a service whose clock is ahead. */
async function learn(clock: typeof import("../../src/web/console/service-clock.ts"), tookMs: number, aheadMs: number) {
  const sentAt = Date.now();
  vi.advanceTimersByTime(tookMs / 2);
  const date = new Date(Date.now() + aheadMs).toUTCString();
  vi.advanceTimersByTime(tookMs / 2);
  clock.learnClock(new Response(null, { headers: { Date: date } }), sentAt);
}

test("a slow answer of a service with the same time changes nothing", async () => {
  const clock = await import("../../src/web/console/service-clock.ts");
  for (const tookMs of [10, 3_000, 20_000, 100]) {
    await learn(clock, tookMs, 0);
    expect(clock.serviceNow() - Date.now()).toBe(0);
  }
});

test.for([-90_000, 5_000, 3_600_000])(
  "a clock that is off by %i ms is known to a second after a quick answer",
  async (off) => {
    const clock = await import("../../src/web/console/service-clock.ts");
    await learn(clock, 20_000, off);
    await learn(clock, 20, off);
    expect(Math.abs(clock.serviceNow() - Date.now() - off)).toBeLessThanOrEqual(1_100);
  },
);
