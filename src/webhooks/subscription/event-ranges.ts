import type { EventRange } from "../../model/webhook.ts";

/** Ranges in ascending order. Those that touch or overlap are one. */
export function joinedRanges(ranges: EventRange[]): EventRange[] {
  const joined: EventRange[] = [];
  for (const [first, last] of ranges.toSorted(([a], [b]) => a - b)) {
    const before = joined.at(-1);
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else if (first <= last) joined.push([first, last]);
  }
  return joined;
}

/** What ascending ranges have after a number. */
export function rangesAfter(ranges: EventRange[], number: number): EventRange[] {
  return ranges.flatMap(([first, last]): EventRange[] => (last > number ? [[Math.max(first, number + 1), last]] : []));
}

/** What ascending ranges have up to a number. */
export function rangesUpTo(ranges: EventRange[], number: number): EventRange[] {
  return ranges.flatMap(([first, last]): EventRange[] => (first <= number ? [[first, Math.min(last, number)]] : []));
}
