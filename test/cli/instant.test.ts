import { expect, test } from "vitest";
import { confirmPast, instantOf, pastInstantOf } from "../../src/cli/parley/instant.ts";

const NOW = new Date("2026-11-20T10:00:00Z");

test.each([
  ["in 2 hours", "2026-11-20T12:00:00.000Z"],
  ["in 5 minutes", "2026-11-20T10:05:00.000Z"],
  [" in 90 days ", "2027-02-18T10:00:00.000Z"],
  ["now", "2026-11-20T10:00:00.000Z"],
])("%j is a time", (text, time) => {
  expect(instantOf(text, "at", NOW)).toBe(time);
});

test("a time of day without a date is the next one, by the machine's zone", () => {
  const later = new Date(instantOf("tomorrow at 9:30", "at", NOW));
  expect([later.getHours(), later.getMinutes()]).toEqual([9, 30]);
  expect(later.getTime()).toBeGreaterThan(NOW.getTime());
});

test("a time in the past is the last one, and RFC 3339 as it is", () => {
  const at = (text: string) => new Date(pastInstantOf(text, "since", NOW)).getTime();
  expect(at("2 weeks ago")).toBe(NOW.getTime() - 14 * 86_400_000);
  // A Friday.
  expect(at("Wednesday")).toBeLessThan(NOW.getTime());
  expect(pastInstantOf("2026-11-01T00:00:00Z", "since", NOW)).toBe("2026-11-01T00:00:00Z");
  expect(() => pastInstantOf("soon", "since", NOW)).toThrow('Try "2 hours ago"');
});

test("RFC 3339 goes to the service as it is, so that the service judges it", () => {
  for (const text of ["2027-01-31T09:00:00Z", "2027-01-31T09:00:00", "2027-99-31T09:00:00+01:00"]) {
    expect(instantOf(text, "at", NOW)).toBe(text);
  }
});

test.each(["soon", "", "in 2 hours or 3", "2 bananas", "tomorow"])("%j is not a time", (text) => {
  expect(() => instantOf(text, "until", NOW)).toThrow(/^--until is not a time: /);
});

test("a past time must be confirmed, and a message that is due now is not past", async () => {
  const now = NOW.getTime();
  for (const text of ["yesterday", "2026-11-19T10:00:00Z"]) {
    const at = instantOf(text, "at", NOW);
    await expect(confirmPast(at, undefined, now)).rejects.toThrow(/has passed\? .* --yes/);
    await confirmPast(at, true, now);
  }
  for (const at of [instantOf("now", "at", NOW), "2026-11-20T09:59:30Z", "in the future", undefined]) {
    await confirmPast(at, undefined, now);
  }
});
