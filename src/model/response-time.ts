import type { Counts } from "./counts.ts";

/** The classes of response times that the API shows, shortest first: each up to its end in milliseconds, without it. */
export const RESPONSE_CLASSES = {
  within1m: 60_000,
  within5m: 300_000,
  within15m: 900_000,
  within1h: 3_600_000,
  within4h: 14_400_000,
  within24h: 86_400_000,
  later: Number.POSITIVE_INFINITY,
} as const;

export type ResponseClass = keyof typeof RESPONSE_CLASSES;

/**
 * The ends of finer classes in seconds, which the quantiles are made of. Each is at most half as long again as the one
 * before, and none lies across the end of a class above. Counts are stored by the place in this list: it never changes.
 */
const FINE_ENDS = [
  ...[5, 7, 10, 14, 20, 29, 42, 60, 90, 135, 200, 300, 430, 620, 900, 1_275, 1_800, 2_550, 3_600, 5_100, 7_200, 10_200],
  ...[14_400, 20_600, 29_500, 42_200, 60_400, 86_400, 129_600, 194_400, 291_600, 437_400, 656_100, 984_000, 1_476_000],
  ...[2_214_000, 2_592_000],
];

/** The place of a finer class. The last one has all longer times. */
export type FineClass = `r${number}`;

/** Answers by their response times. */
export type ResponseCounts = Counts<ResponseClass | FineClass>;

/** Quantiles of response times, in whole seconds; null without answers. */
export interface ResponseTimes {
  medianSeconds: number | null;
  p90Seconds: number | null;
}

const CLASSES = Object.entries(RESPONSE_CLASSES) as [ResponseClass, number][];

/** The class of a response time in milliseconds. A clock that was set back makes it 0. */
export function responseClass(ms: number): ResponseClass {
  return CLASSES.find(([, end]) => ms < end)?.[0] ?? "later";
}

/** The finer class of a response time in milliseconds. */
export function fineClass(ms: number): FineClass {
  const place = FINE_ENDS.findIndex((end) => ms < end * 1_000);
  return `r${place < 0 ? FINE_ENDS.length : place}`;
}

/**
 * The median, and the time within which 90 % of the answers came. Each is the middle of its finer class: at most 20 %
 * from the exact time, or 3 seconds below 5 seconds. Times over 30 days count as 30 days. Answers that an earlier version
 * counted have no finer class: each counts as the middle of its class, at most 72 % from the time, 30 seconds below a
 * minute, and 94 % above 24 hours.
 */
export function responseTimes(counts: ResponseCounts): ResponseTimes {
  const times = timesIn(counts);
  return { medianSeconds: quantile(times, 50), p90Seconds: quantile(times, 90) };
}

interface CountedTime {
  seconds: number;
  count: number;
}

/** The least time within which this share of the answers came. */
function quantile(times: CountedTime[], percent: number): number | null {
  const answers = times.reduce((sum, { count }) => sum + count, 0);
  let left = Math.ceil((answers * percent) / 100);
  for (const { seconds, count } of times) {
    left -= count;
    if (left <= 0) return Math.round(seconds);
  }
  return null;
}

function timesIn(counts: ResponseCounts): CountedTime[] {
  const left = { ...counts };
  const times: CountedTime[] = [];
  for (let place = 0; place <= FINE_ENDS.length; place++) {
    const count = counts[`r${place}`] ?? 0;
    const start = FINE_ENDS[place - 1] ?? 0;
    const name = responseClass(start * 1_000);
    left[name] = (left[name] ?? 0) - count;
    times.push({ seconds: middle(start, FINE_ENDS[place] ?? start), count });
  }
  let start = 0;
  for (const [name, end] of CLASSES) {
    times.push({ seconds: middle(start, Math.min(end / 1_000, FINE_ENDS.at(-1) ?? 0)), count: left[name] ?? 0 });
    start = end / 1_000;
  }
  return times.filter(({ count }) => count > 0).sort((one, other) => one.seconds - other.seconds);
}

/** Where the greatest error, as a share of the exact value, is least. */
function middle(start: number, end: number): number {
  return start === 0 ? end / 2 : (2 * start * end) / (start + end);
}
