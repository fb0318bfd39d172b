import fc from "fast-check";
import { expect, test } from "vitest";
import { usageOf } from "../../../../src/keys/object/limits.ts";
import { Key, Model, NOON } from "./key-model.ts";

const BEFORE_MONTH_END = Date.UTC(2026, 11, 1) - 2_000;

const limit = fc.oneof(fc.integer({ min: 1, max: 25 }), fc.integer({ min: 20, max: 400 }));
const windowSeconds = fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 60 }));
const quota = fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 60 }), fc.integer({ min: 100, max: 3_000 }));
const rules = fc.record({ rateLimit: limit, windowSeconds, monthlyQuota: quota });

const ask = fc.record({ kind: fc.constant("ask" as const), units: fc.integer({ min: 1, max: 12 }) });
const wait = (min: number, max: number) =>
  fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min, max }) });
const evict = fc.constant({ kind: "evict" as const });
const calm = [
  { weight: 12, arbitrary: ask },
  { weight: 5, arbitrary: wait(0, 900) },
  { weight: 1, arbitrary: wait(1_000, 40_000) },
];
const calmSteps = fc.array(fc.oneof(...calm), { minLength: 20, maxLength: 150, size: "max" });
const evictedSteps = fc.array(fc.oneof(...calm, { weight: 2, arbitrary: evict }), {
  minLength: 20,
  maxLength: 150,
  size: "max",
});
const stormySteps = fc.array(
  fc.oneof(
    ...calm,
    { weight: 2, arbitrary: evict },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("change" as const),
        rules: fc.record(
          {
            rateLimit: limit,
            windowSeconds,
            monthlyQuota: quota,
          },
          { requiredKeys: [] },
        ),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: "month" as const }) },
    { weight: 1, arbitrary: wait(-90_000, -1) },
  ),
  { minLength: 20, maxLength: 150, size: "max" },
);

/** Shortly before the next month. */
function endOfMonth(now: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) - 100;
}

/** Runs requests, waits and evictions from `start` on. Returns what was accepted when, and what each eviction cost. */
function run(key: Key, steps: ReturnType<typeof evictedSteps.generate>["value"], start: number) {
  const admitted: { at: number; units: number }[] = [];
  const evictions: { cost: number; left: number }[] = [];
  let now = start;
  for (const step of steps) {
    if (step.kind === "wait") now += step.ms;
    else if (step.kind === "ask") admitted.push({ at: now, units: key.grant(now, step.units) });
    else {
      const { used, quota: granted } = usageOf(key.rules, key.state().counters, key.reservation, now);
      evictions.push({ left: granted === null ? Number.POSITIVE_INFINITY : granted - used, cost: key.evict() });
    }
  }
  return { admitted: admitted.filter(({ units }) => units > 0), evictions };
}

function total(numbers: number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

/** The sums of a log in fixed windows. A window starts with the first entry after the end of the last one. */
function sumsOfWindows(log: { at: number; units: number }[], seconds: number): number[] {
  const windows: { start: number; units: number[] }[] = [];
  for (const { at, units } of log) {
    const last = windows.at(-1);
    if (last && at < last.start + seconds * 1_000) last.units.push(units);
    else windows.push({ start: at, units: [units] });
  }
  return windows.map(({ units }) => total(units));
}

function sumsOfMonths(log: { at: number; units: number }[]): number[] {
  return Object.values(Object.groupBy(log, ({ at }) => new Date(at).getUTCMonth())).map((entries = []) =>
    total(entries.map(({ units }) => units)),
  );
}

test("every result equals the model's, with evictions, changes, month boundaries and clock jumps", () => {
  const seen = new Map<string, number>();
  const see = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
  fc.assert(
    fc.property(rules, stormySteps, (first, steps) => {
      const key = new Key(first);
      const model = new Model();
      let now = BEFORE_MONTH_END;
      for (const step of steps) {
        if (step.kind === "wait") now += step.ms;
        else if (step.kind === "month") now = endOfMonth(now);
        else if (step.kind === "change") key.change(step.rules as Partial<Key["rules"]>);
        else if (step.kind === "evict") {
          const cost = key.evict();
          model.lose(cost);
          if (cost > 0) see("an eviction that costs");
        } else {
          const before = key.row;
          const decision = key.ask(now, { units: step.units });
          expect(decision).toMatchObject(model.ask(key.rules, step.units, now));
          see(decision.outcome === "refused" ? decision.reason : `admitted, written ${decision.write}`);
          if (before.month !== "" && before.month !== key.row.month) see("a month edge");
        }
      }
    }),
    { numRuns: 250 },
  );
  // The run is not vacuous: each branch was reached often.
  const branches = ["an eviction that costs", "a month edge", "rate_limited", "quota_exceeded"];
  for (const branch of [...branches, "admitted, written true", "admitted, written false"]) {
    expect(seen.get(branch), branch).toBeGreaterThan(20);
  }
});

test("no window accepts more than the limit, even with evictions", () => {
  fc.assert(
    fc.property(rules, evictedSteps, (first, steps) => {
      const { admitted } = run(new Key(first), steps, BEFORE_MONTH_END);
      for (const sum of sumsOfWindows(admitted, first.windowSeconds)) expect(sum).toBeLessThanOrEqual(first.rateLimit);
    }),
    { numRuns: 150 },
  );
});

test("no month accepts more than the quota, even with evictions", () => {
  fc.assert(
    fc.property(rules, evictedSteps, (first, steps) => {
      const { admitted } = run(new Key(first), steps, BEFORE_MONTH_END);
      const most = first.monthlyQuota ?? Number.POSITIVE_INFINITY;
      for (const sum of sumsOfMonths(admitted)) expect(sum).toBeLessThanOrEqual(most);
    }),
    { numRuns: 150 },
  );
});

test("without evictions, one window accepts exactly the load or the limit, whichever is less", () => {
  fc.assert(
    fc.property(
      limit,
      fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 60, size: "max" }),
      (rateLimit, loads) => {
        const key = new Key({ rateLimit, windowSeconds: 60 });
        const granted = loads.map((units, place) => key.grant(NOON + place * 700, units));
        expect(total(granted)).toBe(Math.min(total(loads), rateLimit));
      },
    ),
  );
});

test("without evictions, a month accepts exactly the load or the quota, over many windows", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 3_000 }), calmSteps, (monthlyQuota, steps) => {
      // 150 steps of at most 12 units never fill a window.
      const { admitted } = run(new Key({ rateLimit: 2_000, windowSeconds: 2, monthlyQuota }), steps, NOON);
      const asked = steps.map((step) => (step.kind === "ask" ? step.units : 0));
      expect(total(admitted.map(({ units }) => units))).toBe(Math.min(total(asked), monthlyQuota));
    }),
  );
});

test("for a grid of limits, windows and loads, each window accepts the load or the limit, whichever is less", () => {
  for (const rateLimit of [1, 2, 19, 20, 21, 300, 1_000]) {
    for (const seconds of [1, 10, 60, 300, 3_600]) {
      for (const load of [0.9, 1, 1.1, 2, 10]) {
        const key = new Key({ rateLimit, windowSeconds: seconds });
        const requests = Array.from({ length: Math.ceil(rateLimit * load * 2) }, (_, place) => ({
          at: NOON + Math.floor((place * seconds * 1_000) / (rateLimit * load)),
          units: 1,
        }));
        const admitted = requests.filter(({ at }) => key.grant(at) === 1);
        // The first request of a window is always accepted, so load and accepted requests fall into the same windows.
        const expected = sumsOfWindows(requests, seconds).map((sum) => Math.min(sum, rateLimit));
        expect(sumsOfWindows(admitted, seconds), `${rateLimit} in ${seconds} s, load ${load}`).toEqual(expected);
      }
    }
  }
});

test("an eviction costs at most 5 % of the limit and 1 % of the remaining quota, in whole units", () => {
  let dearest = 0;
  fc.assert(
    fc.property(rules, evictedSteps, (first, steps) => {
      for (const { cost, left } of run(new Key(first), steps, NOON).evictions) {
        expect(cost).toBeLessThanOrEqual(Math.floor(first.rateLimit * 0.05));
        expect(cost).toBeLessThanOrEqual(Math.max(0, Math.floor(left / 100)));
        dearest = Math.max(dearest, cost);
      }
    }),
    { numRuns: 250 },
  );
  expect(dearest).toBeGreaterThan(0);
});

test("after a quota is set or lowered, an eviction costs at most 1 % of the remaining quota", () => {
  const key = new Key({ rateLimit: 1_000 });
  key.grantEach(NOON, 10);
  key.change({ monthlyQuota: 50 });
  key.grant(NOON + 1);
  key.evict();
  expect(usageOf(key.rules, key.row, key.reservation, NOON + 2).used).toBe(11);
});

test("below one request a second, every accepted unit is written immediately, and evictions cost nothing", () => {
  const gap = fc.integer({ min: 1_000, max: 90_000 });
  const slow = fc.array(fc.record({ gap, units: fc.integer({ min: 1, max: 12 }), evicted: fc.boolean() }), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(rules, slow, (first, steps) => {
      const key = new Key(first);
      let now = NOON;
      let admitted = 0;
      for (const { gap, units, evicted } of steps) {
        now += gap;
        admitted += key.grant(now, units);
        expect(key.row.monthCount).toBe(admitted);
        if (evicted) expect(key.evict()).toBe(0);
      }
    }),
  );
});

test("at any rate, the row counts a unit before the request is accepted", () => {
  fc.assert(
    fc.property(rules, evictedSteps, (first, steps) => {
      const key = new Key(first);
      const { admitted } = run(key, steps, NOON);
      expect(key.row.monthCount).toBeGreaterThanOrEqual(total(admitted.map(({ units }) => units)));
    }),
  );
});

test("an accepted request without a write does not change the row", () => {
  fc.assert(
    fc.property(rules, calmSteps, (first, steps) => {
      const key = new Key(first);
      run(key, steps, BEFORE_MONTH_END);
      expect(key.state().counters).toEqual(key.row);
    }),
  );
});

test("a refusal changes no state", () => {
  fc.assert(
    fc.property(rules, calmSteps, (first, steps) => {
      const key = new Key(first);
      run(key, steps, NOON);
      const decision = key.ask(NOON, { addressAllowed: false });
      expect(Object.keys(decision).sort()).toEqual(["outcome", "reason", "window"]);
    }),
    { numRuns: 20 },
  );
});
