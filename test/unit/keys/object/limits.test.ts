import { expect, test, vi } from "vitest";
import { NO_RESERVATION, releaseReservation, remainingQuota, rollOver } from "../../../../src/keys/object/limits.ts";

const LIMITS = { rateLimit: 100, windowSeconds: 60, monthlyQuota: 1_000 };
const COUNTERS = { windowStart: 1_000, windowCount: 30, month: "2026-11", monthCount: 300 };
const RESERVATION = { units: 20, lastAt: 5_000, granted: 0 };

test("reserved units count as left of the monthly quota", () => {
  expect(remainingQuota(LIMITS, COUNTERS, RESERVATION)).toBe(720);
  expect(remainingQuota({ ...LIMITS, monthlyQuota: null }, COUNTERS, RESERVATION)).toBe(Number.POSITIVE_INFINITY);
});

test("a released reservation gives its units back to the window and to the month", () => {
  expect(releaseReservation(COUNTERS, RESERVATION)).toEqual({
    counters: { ...COUNTERS, windowCount: 10, monthCount: 280 },
    reservation: { units: 0, lastAt: 5_000, granted: 0 },
  });
});

test("a month is formatted once, from its first millisecond to its last", () => {
  const formatted = vi.spyOn(Date.prototype, "toISOString");
  const [first, last] = [Date.UTC(2031, 1), Date.UTC(2031, 2) - 1];
  const months = [first, first, last].map((now) => rollOver(LIMITS, COUNTERS, NO_RESERVATION, now).counters.month);
  expect([months, formatted.mock.calls.length]).toEqual([["2031-02", "2031-02", "2031-02"], 1]);
  formatted.mockRestore();
});

test("a reservation of exactly one block is kept, and nothing must be stored", () => {
  expect(rollOver(LIMITS, COUNTERS, { ...RESERVATION, units: 5 }, 5_000).counters).toBe(COUNTERS);
});

test("after a limit was lowered, reserved units are released until they and the granted ones are one block", () => {
  // 5 % of the limit, so 5 units.
  const rolled = (units: number, granted: number) =>
    rollOver(LIMITS, COUNTERS, { units, lastAt: 5_000, granted }, 5_000);
  expect(rolled(4, 1).counters).toBe(COUNTERS);
  expect(rolled(4, 3)).toEqual({
    counters: { ...COUNTERS, windowCount: 28, monthCount: 298 },
    reservation: { units: 2, lastAt: 5_000, granted: 3 },
  });
  expect(rolled(4, 20)).toEqual({
    counters: { ...COUNTERS, windowCount: 26, monthCount: 296 },
    reservation: { units: 0, lastAt: 5_000, granted: 20 },
  });
});
