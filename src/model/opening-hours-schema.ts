import * as z from "zod/mini";
import { atMost } from "./field.ts";
import { WEEKDAYS } from "./opening-hours.ts";

const MAX_RANGES = 5;

/** It does not say whether the person wanted hours past midnight, so it says how to give them. */
const NOT_AFTER =
  "must be after opens. Hours past midnight are two periods: until 24:00, and from 00:00 of the next day";

const clock = (form: RegExp, error: string) => z.string().check(z.regex(form, error));

const range = z
  .object({
    opens: clock(/^([01]\d|2[0-3]):[0-5]\d$/, "must be a time of the day, such as 09:00"),
    closes: clock(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/, "must be a time of the day, such as 17:30, or 24:00"),
  })
  .check(z.refine(({ opens, closes }) => opens < closes, { path: ["closes"], error: NOT_AFTER }));

const ranges = z.array(range).check(
  z.maxLength(MAX_RANGES),
  z.refine(
    (day) => day.every(({ opens }, index) => index === 0 || (day[index - 1]?.closes ?? "") <= opens),
    "must be in order, and must not overlap",
  ),
);

/** The setting `hours` of a channel, the schema of `OpeningHours`. */
export const hoursSetting = z.object({
  timeZone: z.string().check(...atMost(64), z.refine(isTimeZone, "must be a time zone, such as Europe/Berlin")),
  week: z.partialRecord(z.enum(WEEKDAYS), ranges),
});

export type HoursSetting = z.output<typeof hoursSetting>;

function isTimeZone(name: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat("en", { timeZone: name }));
  } catch {
    return false;
  }
}
