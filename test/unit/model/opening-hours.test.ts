import { expect, test } from "vitest";
import { type OpeningHours, openingAt, WEEKDAYS } from "../../../src/model/opening-hours.ts";
import { hoursSetting } from "../../../src/model/opening-hours-schema.ts";

const OFFICE = [{ opens: "09:00", closes: "17:30" }];
const ALL_DAY = [{ opens: "00:00", closes: "24:00" }];

function openingOf(hours: OpeningHours, at: string) {
  const { isOpen, changesAt } = openingAt(hours, Date.parse(at));
  return [isOpen, changesAt === null ? null : new Date(changesAt).toISOString().slice(0, 16)];
}

const berlin = (week: OpeningHours["week"]): OpeningHours => ({ timeZone: "Europe/Berlin", week });

test.each([
  ["2026-11-23T07:59:59Z", false, "2026-11-23T08:00"],
  ["2026-11-23T08:00:00Z", true, "2026-11-23T16:30"],
  ["2026-11-23T16:29:59Z", true, "2026-11-23T16:30"],
  ["2026-11-23T16:30:00Z", false, "2026-11-30T08:00"],
])("open on Mondays from 9 to 17:30 in Berlin: at %s %s until %s", (at, isOpen, until) => {
  expect(openingOf(berlin({ monday: OFFICE }), at)).toEqual([isOpen, until]);
});

test("without hours a company is always there, and with no day never", () => {
  expect(openingAt(undefined, 0)).toEqual({ isOpen: true, changesAt: null });
  expect(openingOf(berlin({}), "2026-11-23T08:00Z")).toEqual([false, null]);
  const week = Object.fromEntries(WEEKDAYS.map((day) => [day, ALL_DAY]));
  expect(openingOf(berlin(week), "2026-11-23T08:00Z")).toEqual([true, null]);
});

test("periods that touch are one, over midnight and over the end of the week", () => {
  const split = [...OFFICE, { opens: "17:30", closes: "24:00" }];
  const week = { saturday: split, sunday: ALL_DAY, monday: [{ opens: "00:00", closes: "02:00" }] };
  expect(openingOf(berlin(week), "2026-11-21T12:00Z")).toEqual([true, "2026-11-23T01:00"]);
});

test("several periods a day end before one that goes on over midnight", () => {
  const halves = [
    { opens: "09:00", closes: "12:00" },
    { opens: "13:00", closes: "17:00" },
  ];
  const evening = [{ opens: "20:00", closes: "24:00" }];
  const week = { friday: halves, saturday: evening, sunday: [{ opens: "00:00", closes: "02:00" }] };
  expect(openingOf(berlin(week), "2026-11-21T20:00Z")).toEqual([true, "2026-11-22T01:00"]);
  expect(openingOf(berlin(week), "2026-11-20T11:30Z")).toEqual([false, "2026-11-20T12:00"]);
});

test("a company that never closes has no next change, also where the clocks are farthest ahead", () => {
  const week = Object.fromEntries(WEEKDAYS.map((day) => [day, ALL_DAY]));
  const hours = { timeZone: "Pacific/Kiritimati", week };
  expect(openingOf(hours, "2026-11-23T10:30Z")).toEqual([true, null]);
  expect(openingOf(hours, "2026-11-23T09:30Z")).toEqual([true, null]);
});

test("a company that closes for some minutes a week closes", () => {
  const week = Object.fromEntries(WEEKDAYS.map((day) => [day, ALL_DAY]));
  const hours = berlin({ ...week, friday: [{ opens: "00:00", closes: "23:55" }] });
  expect(openingOf(hours, "2026-11-27T22:50Z")).toEqual([true, "2026-11-27T22:55"]);
  expect(openingOf(hours, "2026-11-27T23:00Z")).toEqual([true, "2026-12-04T22:55"]);
});

test("a time that the clocks leave out is the moment of their change, one that comes twice the first", () => {
  const week = { sunday: [{ opens: "02:30", closes: "04:00" }] };
  expect(openingOf(berlin(week), "2026-03-29T00:59Z")).toEqual([false, "2026-03-29T01:00"]);
  expect(openingOf(berlin(week), "2026-03-29T01:00Z")).toEqual([true, "2026-03-29T02:00"]);
  expect(openingOf(berlin(week), "2026-10-25T00:29Z")).toEqual([false, "2026-10-25T00:30"]);
  expect(openingOf(berlin(week), "2026-10-25T01:45Z")).toEqual([true, "2026-10-25T03:00"]);
  const gone = berlin({ sunday: [{ opens: "02:10", closes: "02:50" }] });
  expect(openingOf(gone, "2026-03-29T00:30Z")).toEqual([false, "2026-04-05T00:10"]);
});

test("a day that a zone left out has no hours", () => {
  const hours = { timeZone: "Pacific/Apia", week: { friday: OFFICE } };
  expect(openingOf(hours, "2011-12-29T20:00Z")).toEqual([false, "2012-01-05T19:00"]);
});

test.each([
  [{ timeZone: "Mars/Base", week: {} }, "timeZone", "must be a time zone, such as Europe/Berlin"],
  [{ timeZone: "UTC", week: { monday: [{ opens: "9:00", closes: "17:00" }] } }, "week.monday.0.opens", /such as 09:00/],
  [{ timeZone: "UTC", week: { monday: [{ opens: "09:00", closes: "24:01" }] } }, "week.monday.0.closes", /or 24:00/],
  [{ timeZone: "UTC", week: { monday: [{ opens: "09:00", closes: "09:00" }] } }, "week.monday.0.closes", /after opens/],
  [{ timeZone: "UTC", week: { monday: [...OFFICE, ...OFFICE] } }, "week.monday", /must not overlap/],
  [{ timeZone: "UTC", week: { moonday: OFFICE } }, "week", "must not contain moonday"],
  [{ timeZone: "UTC" }, "week", "is required"],
])("%j is refused at %s", (hours, path, message) => {
  const [issue] = hoursSetting.safeParse(hours).error?.issues ?? [];
  expect(issue?.path.join(".")).toBe(path);
  expect(issue?.message).toMatch(message);
});
