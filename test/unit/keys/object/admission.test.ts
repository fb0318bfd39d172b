import { expect, test } from "vitest";
import { decide } from "../../../../src/keys/object/decide.ts";
import { type Counters, NO_COUNTERS, NO_RESERVATION, usageOf } from "../../../../src/keys/object/limits.ts";
import { Key, NOON, rulesOf } from "./key-model.ts";

const MONTH_END = Date.UTC(2026, 11, 1);

test("a window ends after its last millisecond", () => {
  const key = new Key({ rateLimit: 1, windowSeconds: 60 });
  key.grant(NOON);
  expect([key.grant(NOON + 59_999), key.grant(NOON + 60_000)]).toEqual([0, 1]);
});

test("a month is the UTC calendar's, whatever month came before", () => {
  const times = ["2026-11-20T00:00:00Z", "2026-11-30T23:59:59.999Z", "2026-12-01T00:00:00Z", "2026-11-01T00:00:00Z"];
  const months = times.map((time) => usageOf(rulesOf(), NO_COUNTERS, NO_RESERVATION, Date.parse(time)).month);
  expect(months).toEqual(["2026-11", "2026-11", "2026-12", "2026-11"]);
});

test("reserved units that cross a month boundary count in the new month", () => {
  const key = new Key({ rateLimit: 1_000, monthlyQuota: 5_000 });
  key.grantEach(MONTH_END - 1, 2);
  expect(key.reservation.units).toBeGreaterThan(10);
  key.grantEach(MONTH_END, 10);
  expect(usageOf(key.rules, key.row, key.reservation, MONTH_END)).toMatchObject({ month: "2026-12", used: 10 });
});

test("the first accepted request of a month is written, even with reserved units", () => {
  const key = new Key({ rateLimit: 1_000 });
  key.grantEach(MONTH_END - 1, 2);
  key.grant(MONTH_END);
  expect(key.row.month).toBe("2026-12");
});

test("a request a second after the last one is written alone, and an earlier one reserves a block", () => {
  const key = new Key({ rateLimit: 1_000 });
  const spares = [NOON, NOON + 1_000, NOON + 1_999].map((now) => {
    key.grant(now);
    return key.reservation.units;
  });
  expect(spares).toEqual([0, 0, 49]);
});

test.each([
  ["5 % of the limit", { rateLimit: 1_000 }, 50],
  ["5 % of the limit, rounded down", { rateLimit: 59 }, 2],
  ["1 % of the remaining quota", { rateLimit: 1_000, monthlyQuota: 2_001 }, 20],
  ["1 % of the remaining quota, rounded down", { rateLimit: 1_000, monthlyQuota: 2_000 }, 19],
  ["one unit for a small limit", { rateLimit: 19 }, 1],
  ["one unit for a small quota", { rateLimit: 1_000, monthlyQuota: 100 }, 1],
])("a busy key reserves %s", (_what, rules, units) => {
  const key = new Key(rules);
  key.grantEach(NOON, 2);
  expect(key.row).toMatchObject({ windowCount: 1 + units, monthCount: 1 + units });
});

test("a busy key reserves no more than its window has left", () => {
  const key = new Key({ rateLimit: 1_000 });
  key.grant(NOON, 990);
  key.grant(NOON);
  expect(key.row.windowCount).toBe(1_000);
});

test("a busy key writes about once for 5 % of its limit", () => {
  const key = new Key({ rateLimit: 1_000 });
  key.grantEach(NOON, 1_000);
  expect(key.writes).toBeLessThanOrEqual(21);
});

test("usage counts accepted requests, not reserved units", () => {
  const key = new Key({ rateLimit: 1_000 });
  key.grantEach(NOON, 7);
  expect(key.reservation.units).toBeGreaterThan(0);
  const usage = usageOf(key.rules, key.row, key.reservation, NOON);
  expect(usage).toMatchObject({ used: 7, window: { remaining: 993 }, running: true });
});

test("after a window ends, usage shows a full window and no end", () => {
  const key = new Key({ rateLimit: 10, windowSeconds: 60 });
  key.grantEach(NOON, 7);
  const usage = usageOf(key.rules, key.row, key.reservation, NOON + 60_000);
  expect(usage).toMatchObject({ used: 7, window: { remaining: 10, reset: NOON + 120_000 }, running: false });
});

test("usage of an unused key is zero, in the current month", () => {
  const usage = usageOf(rulesOf({ monthlyQuota: 9 }), NO_COUNTERS, NO_RESERVATION, NOON);
  expect(usage).toMatchObject({ month: "2026-11", used: 0, quota: 9, running: false });
});

/** The counts of a key in the middle of its window. */
const COUNTED: Counters = { windowStart: NOON - 1_000, windowCount: 100, month: "2026-11", monthCount: 100 };

test("reserved units return to the month when the window ends", () => {
  const ended = { ...COUNTED, windowStart: NOON - 60_000 };
  expect(usageOf(rulesOf(), ended, { ...NO_RESERVATION, units: 30 }, NOON)).toMatchObject({ used: 70, running: false });
});

test("units beyond the reserve of a lower limit return to the window and the month", () => {
  const asked = { hash: "hash", permission: null, addressAllowed: true, units: 1, pace: 0 };
  const decision = decide(
    rulesOf({ rateLimit: 200 }),
    COUNTED,
    { ...NO_RESERVATION, units: 50, lastAt: NOON },
    asked,
    NOON,
  );
  // A block is 5 % of the limit, so 10 of the 50 units stay, and one of them is used.
  expect(decision).toMatchObject({
    outcome: "admitted",
    counters: { windowCount: 60, monthCount: 60 },
    reservation: { units: 9 },
    window: { remaining: 149 },
    write: true,
  });
});
