import { expect, test } from "vitest";
import { NO_COUNTERS, NO_RESERVATION, usageOf } from "../../../src/keys/limits.ts";
import { Key, NOON, rulesOf } from "./key-model.ts";

const MONTH_END = Date.UTC(2026, 11, 1);

test("a window starts with its first request and admits the limit, not one more", () => {
  const key = new Key({ rateLimit: 3 });
  expect(key.grantEach(NOON, 5)).toBe(3);
});

test("a window ends at its last millisecond, not before", () => {
  const key = new Key({ rateLimit: 1, windowSeconds: 60 });
  key.grant(NOON);
  expect([key.grant(NOON + 59_999), key.grant(NOON + 60_000)]).toEqual([0, 1]);
});

test("the next window starts with the next request, not where the last one ended", () => {
  const key = new Key({ rateLimit: 1, windowSeconds: 60 });
  key.grant(NOON);
  key.grant(NOON + 90_000);
  expect(key.grant(NOON + 149_999)).toBe(0);
  expect(key.grant(NOON + 150_000)).toBe(1);
});

test("requests that ask together are granted as far as the window goes", () => {
  const key = new Key({ rateLimit: 5 });
  expect([key.grant(NOON, 3), key.grant(NOON, 3), key.grant(NOON, 3)]).toEqual([3, 2, 0]);
});

test("requests that ask together are granted as far as the quota goes", () => {
  const key = new Key({ monthlyQuota: 5 });
  expect([key.grant(NOON, 3), key.grant(NOON, 3), key.grant(NOON, 3)]).toEqual([3, 2, 0]);
});

test("an admission says what the window has left after it, and when it ends", () => {
  const key = new Key({ rateLimit: 10, windowSeconds: 60 });
  key.grant(NOON, 4);
  expect(key.ask(NOON + 5_000, { units: 2 }).window).toEqual({
    limit: 10,
    windowSeconds: 60,
    remaining: 4,
    reset: NOON + 60_000,
  });
});

test("a month is the UTC calendar's", () => {
  const months = [MONTH_END - 1, MONTH_END].map((now) => usageOf(rulesOf(), NO_COUNTERS, NO_RESERVATION, now).month);
  expect(months).toEqual(["2026-11", "2026-12"]);
});

test("a new month starts at nothing, in the middle of a window", () => {
  const key = new Key({ rateLimit: 10, monthlyQuota: 3 });
  expect([key.grantEach(MONTH_END - 1, 5), key.grantEach(MONTH_END, 5)]).toEqual([3, 3]);
});

test("a window goes on over the edge of a month", () => {
  const key = new Key({ rateLimit: 4, monthlyQuota: 3 });
  expect([key.grantEach(MONTH_END - 1, 5), key.grantEach(MONTH_END, 5)]).toEqual([3, 1]);
});

test("reserved units that cross the edge of a month count in the new one", () => {
  const key = new Key({ rateLimit: 1_000, monthlyQuota: 5_000 });
  key.grantEach(MONTH_END - 1, 2);
  expect(key.reservation.units).toBeGreaterThan(10);
  key.grantEach(MONTH_END, 10);
  expect(usageOf(key.rules, key.row, key.reservation, MONTH_END)).toMatchObject({ month: "2026-12", used: 10 });
});

test("the first admission of a month is written, even out of reserved units", () => {
  const key = new Key({ rateLimit: 1_000 });
  key.grantEach(MONTH_END - 1, 2);
  key.grant(MONTH_END);
  expect(key.row.month).toBe("2026-12");
});

test("a clock that jumps back over the edge of a month grants nothing twice", () => {
  const key = new Key({ rateLimit: 10, windowSeconds: 1, monthlyQuota: 3 });
  key.grantEach(MONTH_END, 3);
  expect(key.grantEach(MONTH_END - 60_000, 3)).toBe(0);
});

test("a clock that jumps back opens no second window", () => {
  const key = new Key({ rateLimit: 3 });
  key.grantEach(NOON, 3);
  expect(key.grantEach(NOON - 3_600_000, 3)).toBe(0);
});

test("a lowered limit keeps the running window's start and count", () => {
  const key = new Key({ rateLimit: 10 });
  key.grantEach(NOON, 5);
  key.change({ rateLimit: 4 });
  expect(key.ask(NOON + 1).window).toMatchObject({ limit: 4, remaining: 0, reset: NOON + 60_000 });
});

test("a raised limit opens the difference in the running window", () => {
  const key = new Key({ rateLimit: 3 });
  key.grantEach(NOON, 3);
  key.change({ rateLimit: 5 });
  expect(key.grantEach(NOON + 1, 5)).toBe(2);
});

test("a lowered quota that is used up already refuses", () => {
  const key = new Key({ monthlyQuota: 10 });
  key.grantEach(NOON, 5);
  key.change({ monthlyQuota: 5 });
  expect(key.ask(NOON)).toMatchObject({ reason: "quota_exceeded" });
});

test("a quota of nothing refuses the first request", () => {
  expect(new Key({ monthlyQuota: 0 }).ask(NOON)).toMatchObject({ reason: "quota_exceeded" });
});

test("a request a second after the last is written by itself, an earlier one reserves a block", () => {
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
  ["1 % of what the quota has left", { rateLimit: 1_000, monthlyQuota: 2_001 }, 20],
  ["1 % of what the quota has left, rounded down", { rateLimit: 1_000, monthlyQuota: 2_000 }, 19],
  ["one unit of a small limit", { rateLimit: 19 }, 1],
  ["one unit of a small quota", { rateLimit: 1_000, monthlyQuota: 100 }, 1],
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

test("a busy key writes about once in 5 % of its limit", () => {
  const key = new Key({ rateLimit: 1_000 });
  key.grantEach(NOON, 1_000);
  expect(key.writes).toBeLessThanOrEqual(21);
});

test("usage counts what was admitted, not what is reserved", () => {
  const key = new Key({ rateLimit: 1_000 });
  key.grantEach(NOON, 7);
  expect(key.reservation.units).toBeGreaterThan(0);
  const usage = usageOf(key.rules, key.row, key.reservation, NOON);
  expect(usage).toMatchObject({ used: 7, window: { remaining: 993 }, running: true });
});

test("usage of a window that ended is a whole window, and none that runs", () => {
  const key = new Key({ rateLimit: 10, windowSeconds: 60 });
  key.grantEach(NOON, 7);
  const usage = usageOf(key.rules, key.row, key.reservation, NOON + 60_000);
  expect(usage).toMatchObject({ used: 7, window: { remaining: 10, reset: NOON + 120_000 }, running: false });
});

test("usage of a key that was never asked is nothing, in this month", () => {
  const usage = usageOf(rulesOf({ monthlyQuota: 9 }), NO_COUNTERS, NO_RESERVATION, NOON);
  expect(usage).toMatchObject({ month: "2026-11", used: 0, quota: 9, running: false });
});
