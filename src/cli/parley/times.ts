const UNITS = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;
const words = new Intl.RelativeTimeFormat("en", { style: "short" });

/** The time relative to `now`: `5 min. ago`, `in 2 hr.` A time to come is rounded to the minute. */
export function relativeTime(time: string, now: number): string {
  const exact = (Date.parse(time) - now) / 1_000;
  // Else "in 2 hours" would be "in 1 hr." a moment later.
  const seconds = exact > 60 ? Math.round(exact / 60) * 60 : exact;
  if (Number.isNaN(seconds)) return time;
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ["second", 1];
  const count = Math.trunc(seconds / size);
  return count === 0 ? "now" : words.format(count, unit);
}
