import fc from "fast-check";
import { expect, test } from "vitest";
import { addCounts } from "../../../src/model/counts.ts";
import {
  fineClass,
  RESPONSE_CLASSES,
  type ResponseCounts,
  responseClass,
  responseTimes,
} from "../../../src/model/response-time.ts";

const DAY_S = 86_400;

test.each([
  [-5, "within1m"],
  [0, "within1m"],
  [59_999, "within1m"],
  [60_000, "within5m"],
  [299_999, "within5m"],
  [300_000, "within15m"],
  [899_999, "within15m"],
  [900_000, "within1h"],
  [3_599_999, "within1h"],
  [3_600_000, "within4h"],
  [14_399_999, "within4h"],
  [14_400_000, "within24h"],
  [86_399_999, "within24h"],
  [86_400_000, "later"],
  [9e12, "later"],
])("a response time of %i ms is in the class %s", (ms, name) => {
  expect(responseClass(ms)).toBe(name);
});

/** The counts of answers that took this many milliseconds. */
function countsOf(times: number[], isOfEarlierVersion: (n: number) => boolean = () => false): ResponseCounts {
  return times.reduce<ResponseCounts>((counts, ms, n) => {
    return addCounts(counts, { [responseClass(ms)]: 1, ...(!isOfEarlierVersion(n) && { [fineClass(ms)]: 1 }) });
  }, {});
}

/** The exact time within which this share of the answers came, in seconds. */
function exact(times: number[], percent: number): number {
  const sorted = times.toSorted((one, other) => one - other);
  return (sorted[Math.ceil((times.length * percent) / 100) - 1] ?? Number.NaN) / 1_000;
}

/** Response times in milliseconds: of seconds, of hours, of weeks, around the ends of classes. */
const time = (most: number) =>
  fc.oneof(
    fc.integer({ min: 0, max: 10_000 }),
    fc.integer({ min: 0, max: most }),
    fc.double({ min: 0, max: Math.log(most), noNaN: true }).map((power) => Math.floor(Math.exp(power))),
    fc
      .tuple(
        fc.constantFrom(5, 7, 60, 90, 300, 620, 900, 3_600, 14_400, DAY_S, 1.5 * DAY_S),
        fc.integer({ min: -1, max: 1 }),
      )
      .map(([seconds, beside]) => seconds * 1_000 + beside),
  );

test("whatever the times, a quantile is at most 20 % from the exact one, and below 5 seconds at most 3 seconds", () => {
  const times = fc.array(time(30 * DAY_S * 1_000 - 1), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(times, (all) => {
      const { medianSeconds, p90Seconds } = responseTimes(countsOf(all));
      for (const [shown, percent] of [
        [medianSeconds, 50],
        [p90Seconds, 90],
      ] as const) {
        const seconds = exact(all, percent);
        const greatest = seconds < 5 ? 3 : 0.2 * seconds + 1e-9;
        expect(Math.abs((shown ?? Number.NaN) - seconds), `${percent} %: ${shown} for ${seconds}`).toBeLessThanOrEqual(
          greatest,
        );
      }
    }),
    { numRuns: 2_000 },
  );
});

test("answers of an earlier version count as the middle of their class, with the error that the guide states", () => {
  const times = fc.array(time(30 * DAY_S * 1_000 - 1), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(times, (all) => {
      const { medianSeconds, p90Seconds } = responseTimes(countsOf(all, () => true));
      for (const [shown, percent] of [
        [medianSeconds, 50],
        [p90Seconds, 90],
      ] as const) {
        const seconds = exact(all, percent);
        const greatest = seconds < 60 ? 30 : (seconds < DAY_S ? 0.72 : 0.94) * seconds;
        expect(Math.abs((shown ?? Number.NaN) - seconds), `${percent} %: ${shown} for ${seconds}`).toBeLessThanOrEqual(
          greatest,
        );
      }
    }),
    { numRuns: 1_000 },
  );
});

test("counts of both versions count each answer once, in whatever order they are added", () => {
  fc.assert(
    fc.property(fc.array(time(40 * DAY_S * 1_000), { minLength: 1, maxLength: 40 }), fc.nat(40), (all, first) => {
      const mixed = responseTimes(countsOf(all, (n) => n < first));
      const parts = all.map((ms, n) => countsOf([ms], () => n < first)).toReversed();
      expect(responseTimes(parts.reduce(addCounts, {}))).toEqual(mixed);
      expect(mixed.medianSeconds).toBeLessThanOrEqual(mixed.p90Seconds ?? Number.NaN);
    }),
  );
});

test("without answers there is no time, and other counts are none", () => {
  const nothing = { medianSeconds: null, p90Seconds: null };
  expect(responseTimes({})).toEqual(nothing);
  expect(responseTimes({ received: 3, messages: 2, sent: 4, retry: 1 } as ResponseCounts)).toEqual(nothing);
  expect(responseTimes({ within1m: 0, r0: 0 })).toEqual(nothing);
});

test("a single answer is both, and of ten the ninth is the 90th percentile", () => {
  expect(responseTimes(countsOf([65_000]))).toEqual({ medianSeconds: 72, p90Seconds: 72 });
  const nine = Array.from({ length: 9 }, () => 1_000);
  expect(responseTimes(countsOf([...nine, 5 * DAY_S * 1_000]))).toEqual({ medianSeconds: 3, p90Seconds: 3 });
  expect(responseTimes(countsOf([...nine.slice(1), 300_000, 300_000]))).toEqual({ medianSeconds: 3, p90Seconds: 353 });
});

test("times over 30 days count as 30 days, and a clock that was set back as no time", () => {
  expect(responseTimes(countsOf([9e12]))).toMatchObject({ medianSeconds: 30 * DAY_S });
  expect(responseTimes(countsOf([-5]))).toMatchObject({ medianSeconds: 3 });
});

test("a finer class lies in one class, and is at most half as long as its beginning", () => {
  const starts = new Map<string, number>();
  for (let s = 0; s <= 31 * DAY_S; s += s < 4_000 ? 1 : 50) {
    const name = fineClass(s * 1_000);
    if (!starts.has(name)) starts.set(name, s);
  }
  expect([...starts.keys()]).toEqual(Array.from({ length: 38 }, (_, n) => `r${n}`));
  const ends = [...starts.values()];
  for (const [n, start] of ends.slice(1).entries()) expect(start / (ends[n] || start)).toBeLessThanOrEqual(1.5);
  const classEnds = Object.values(RESPONSE_CLASSES).map((ms) => ms / 1_000);
  for (const end of classEnds.slice(0, -1)) expect(ends).toContain(end);
});
