const UNITS = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;
const words = new Intl.RelativeTimeFormat("en", { style: "short" });

/** The time relative to `now`: `5 min. ago`, `in 2 hr.` */
export function relativeTime(time: string, now: number): string {
  const seconds = (Date.parse(time) - now) / 1_000;
  if (Number.isNaN(seconds)) return time;
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ["second", 1];
  const count = Math.trunc(seconds / size);
  return count === 0 ? "now" : words.format(count, unit);
}
