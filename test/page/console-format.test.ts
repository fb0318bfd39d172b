import { expect, test } from "vitest";
import { ago, dayOf, duration, fieldTime, fromNow, plural } from "../../src/web/console/format.ts";

const NOW = new Date(2026, 10, 20, 12).getTime();
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

test.for([
  [0, "now"],
  [MINUTE - 1, "now"],
  [MINUTE, "1 m"],
  [59 * MINUTE, "59 m"],
  [HOUR, "1 h"],
  [DAY - 1, "23 h"],
] as const)("%i ms ago is %s", ([passed, text]) => {
  expect(ago(NOW - passed, NOW)).toBe(text);
});

test("a clock that is ahead shows now, and an old time its date", () => {
  expect(ago(NOW + HOUR, NOW)).toBe("now");
  expect(ago(NOW - 3 * DAY, NOW)).toMatch(/^\p{L}+\.?$/u);
  expect(ago(NOW - 30 * DAY, NOW)).toMatch(/\d/);
  expect(ago(NOW - 400 * DAY, NOW)).toMatch(/2025/);
});

test.for([
  [-1, "now"],
  [30_000, "in less than a minute"],
  [5 * MINUTE, "in 5 min"],
  [2 * HOUR, "in 2 h"],
  [3 * HOUR + 12 * MINUTE, "in 3 h 12 min"],
  [DAY, "in 1 day"],
  [3 * DAY, "in 3 days"],
] as const)("%i ms ahead is %s", ([left, text]) => {
  expect(fromNow(NOW + left, NOW)).toBe(text);
});

test("days next to today have names, by the calendar and not by 24 hours", () => {
  expect(dayOf(NOW, NOW)).toBe("Today");
  expect(dayOf(NOW - 13 * HOUR, NOW)).toBe("Yesterday");
  expect(dayOf(NOW + 13 * HOUR, NOW)).toBe("Tomorrow");
  expect(dayOf(NOW - 5 * DAY, NOW)).toMatch(/15/);
});

test("durations and counts", () => {
  expect(duration(85.4)).toBe("85 ms");
  expect(duration(1_234)).toBe("1.2 s");
  expect(plural(1, "message")).toBe("1 message");
  expect(plural(2, "message")).toBe("2 messages");
});

test("a field of a form has the local time", () => {
  expect(fieldTime(new Date(2026, 0, 5, 7, 3).getTime())).toBe("2026-01-05T07:03");
});
