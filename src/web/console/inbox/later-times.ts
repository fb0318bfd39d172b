import { HOUR_MS } from "../format.ts";

const MORNING = 9;

/** Times that are often wanted, Unix milliseconds. */
export function laterTimes(now: number): { label: string; at: number }[] {
  const morning = (days: number) => new Date(now).setHours(MORNING + 24 * days, 0, 0, 0);
  const toMonday = (8 - new Date(now).getDay()) % 7 || 7;
  return [
    { label: "In an hour", at: now + HOUR_MS },
    { label: "Tomorrow at 9", at: morning(1) },
    { label: "Monday at 9", at: morning(toMonday) },
  ];
}
