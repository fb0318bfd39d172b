import type { Schemas } from "../api.ts";
import { number } from "../format.ts";
import { sumOf } from "../parts/chart.tsx";

/** What is counted of conversations. */
export type CountedAnswers = Pick<
  Schemas["MemberHistory"]["buckets"][number],
  "received" | "sent" | "answers" | "classes" | "responseTimes"
>;
type ResponseClass = keyof CountedAnswers["classes"];

export const CLASSES: Record<ResponseClass, string> = {
  within1m: "Under 1 min",
  within5m: "1–5 min",
  within15m: "5–15 min",
  within1h: "15–60 min",
  within4h: "1–4 h",
  within24h: "4–24 h",
  later: "Over 24 h",
};
const CLASS_NAMES = Object.keys(CLASSES) as ResponseClass[];
/** The counts of conversations, as the tables name them. */
export const COUNTED = ["Received", "Sent", "Answers", ...Object.values(CLASSES)];
/** The times after the counts, as the table and the file name them: the file has seconds. */
export const TIMES = ["Half answered in", "90 % answered in"];

/** Units of a time, in seconds. */
const UNITS = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
  [1, "s"],
] as const;
/** The counts of some hours or days together, in the order of `COUNTED`. */
export function totalsOf(all: Omit<CountedAnswers, "responseTimes">[]): number[] {
  const sum = (count: (one: (typeof all)[number]) => number) => sumOf(all.map(count));
  return [
    sum(({ received }) => received),
    sum(({ sent }) => sent),
    sum(({ answers }) => answers),
    ...CLASS_NAMES.map((name) => sum(({ classes }) => classes[name])),
  ];
}

/** The times in seconds, in the order of `TIMES`. */
export function timesOf({ responseTimes }: Partial<CountedAnswers>): (number | null)[] {
  return [responseTimes?.medianSeconds ?? null, responseTimes?.p90Seconds ?? null];
}

/** A time as short as it is exact: "40 s", "1.2 min", "4 h". */
export function timeInWords(seconds: number): string {
  const [size, unit] = UNITS.find(([size]) => seconds >= size) ?? [1, "s"];
  return `${number(Math.round((10 * seconds) / size) / 10)} ${unit}`;
}
