import { expect, test } from "vitest";
import { directionOf } from "../../../../src/web/visitor/language.ts";
import { timesIn } from "../../../../src/web/visitor/times.ts";

// One zone is always a day ahead of the other, so no time zone of the machine can stand in for both.
test.each(["Pacific/Kiritimati", "Pacific/Pago_Pago"])("today begins at midnight in the visitor's zone: %s", (zone) => {
  const { day } = timesIn("de", zone);
  const midnight = zone === "Pacific/Kiritimati" ? Date.UTC(2026, 10, 20, 10) : Date.UTC(2026, 10, 20, 11);
  expect([day(midnight, midnight + 1), day(midnight - 1, midnight)]).toEqual(["Heute", "Gestern"]);
});

test("a time within the next days is a weekday and a time of day", () => {
  const noon = Date.UTC(2026, 10, 20, 12, 5);
  expect(timesIn("de", "UTC").soon(noon)).toMatch(/^Freitag\D*12:05$/);
  expect(timesIn("de", "Europe/Berlin").soon(noon)).toMatch(/^Freitag\D*13:05$/);
});

test.each([
  ["ar", "rtl"],
  ["fa", "rtl"],
  ["he", "rtl"],
  ["ur", "rtl"],
  ["de", "ltr"],
  ["zh", "ltr"],
])("text in the language %s is written %s", (language, direction) => {
  expect(directionOf(language)).toBe(direction);
});
