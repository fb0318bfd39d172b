/** Formats times and numbers as the reader's browser is set. */

const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const exact = new Intl.DateTimeFormat(undefined, {
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "numeric",
  minute: "2-digit",
  second: "2-digit",
});
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const weekday = new Intl.DateTimeFormat(undefined, { weekday: "short" });
const thisYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const anyYear = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const longDay = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });
const count = new Intl.NumberFormat();

/** The date and time to the second. */
export function exactTime(at: number): string {
  return exact.format(at);
}

export function timeOfDay(at: number): string {
  return clock.format(at);
}

/** "Today", "Yesterday", else the weekday and date. */
export function dayOf(at: number, now: number): string {
  const days = calendarDays(at, now);
  if (days === 0) return "Today";
  if (days === 1) return "Yesterday";
  if (days === -1) return "Tomorrow";
  return (isSameYear(at, now) ? longDay : anyYear).format(at);
}

/** How long ago, as short as a list needs it: "now", "5 m", "3 h", "Tue", "4 Mar". */
export function ago(at: number, now: number): string {
  const passed = now - at;
  if (passed < MINUTE_MS) return "now";
  if (passed < HOUR_MS) return `${Math.floor(passed / MINUTE_MS)} m`;
  if (passed < DAY_MS) return `${Math.floor(passed / HOUR_MS)} h`;
  if (passed < 6 * DAY_MS) return weekday.format(at);
  return (isSameYear(at, now) ? thisYear : anyYear).format(at);
}

const UNITS = [
  [DAY_MS, "day"],
  [HOUR_MS, "hour"],
  [MINUTE_MS, "minute"],
] as const;

/** How long ago, in a sentence: "just now", "5 minutes ago", "on 4 Mar". */
export function longAgo(at: number, now: number): string {
  const passed = now - at;
  if (passed >= 14 * DAY_MS) return `on ${ago(at, now)}`;
  const unit = UNITS.find(([ms]) => passed >= ms);
  return unit ? `${plural(Math.floor(passed / unit[0]), unit[1])} ago` : "just now";
}

/** How long from now: "in 5 min", "in 3 h 12 min", "in 2 days". The past is "now". */
export function fromNow(at: number, now: number): string {
  const left = at - now;
  if (left <= 0) return "now";
  if (left < MINUTE_MS) return "in less than a minute";
  const minutes = Math.round(left / MINUTE_MS);
  if (minutes < 60) return `in ${minutes} min`;
  if (left < DAY_MS)
    return minutes % 60 === 0 ? `in ${minutes / 60} h` : `in ${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  const days = Math.round(left / DAY_MS);
  return days === 1 ? "in 1 day" : `in ${days} days`;
}

/** A duration: "85 ms", "1.2 s". @param ms milliseconds */
export function duration(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

/** A number with separators. */
export function number(value: number): string {
  return count.format(value);
}

/** "1 message", "2 messages". */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${number(value)} ${value === 1 ? one : many}`;
}

export function isSameDay(one: number, other: number): boolean {
  return calendarDays(one, other) === 0;
}

/** A time as the field `datetime-local` has it, in the browser's time zone. */
export function fieldTime(at: number): string {
  const offset = new Date(at).getTimezoneOffset() * MINUTE_MS;
  return new Date(at - offset).toISOString().slice(0, 16);
}

/** Not computed from milliseconds alone, because days differ in length when clocks change. */
function calendarDays(at: number, now: number): number {
  const midnight = (time: number) => new Date(time).setHours(0, 0, 0, 0);
  return Math.round((midnight(now) - midnight(at)) / DAY_MS);
}

function isSameYear(one: number, other: number): boolean {
  return new Date(one).getFullYear() === new Date(other).getFullYear();
}
