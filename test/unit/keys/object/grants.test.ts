import { expect, test } from "vitest";
import { decide } from "../../../../src/keys/object/decide.ts";
import { NO_RESERVATION, takeBack, unitsAhead } from "../../../../src/keys/object/limits.ts";
import { OpenGrants } from "../../../../src/keys/object/open-grants.ts";
import type { KeyRules } from "../../../../src/model/key.ts";
import { NOON, rulesOf } from "./key-model.ts";

const LIMITS = { rateLimit: 1_000, windowSeconds: 60, monthlyQuota: null };
const COUNTERS = { windowStart: NOON - 1_000, windowCount: 100, month: "2026-11", monthCount: 300 };
const LOTS = { window: 900, quota: Number.POSITIVE_INFINITY };

test.each([
  ["two requests a second", 2, LOTS, 0, 0],
  ["three", 3, LOTS, 0, 3],
  ["more than a block", 200, LOTS, 0, 50],
  ["a block that is partly granted", 200, LOTS, 45, 5],
  ["a block that is granted", 200, LOTS, 50, 0],
  ["more granted than the block is now", 200, LOTS, 60, 0],
  ["a fifth of the limit left", 200, { ...LOTS, window: 200 }, 0, 50],
  ["less than a fifth left", 200, { ...LOTS, window: 199 }, 0, 0],
  ["a little of the quota left", 200, { ...LOTS, quota: 1_099 }, 0, 10],
  ["99 units of the quota left", 200, { ...LOTS, quota: 99 }, 0, 0],
])("units ahead with %s", (_what, pace, left, granted, units) => {
  expect(unitsAhead(LIMITS, { ...NO_RESERVATION, granted }, pace, left)).toBe(units);
});

const RESERVATION = { units: 4, lastAt: NOON, granted: 30 };
const GRANT = { units: 20, windowStart: COUNTERS.windowStart, month: "2026-11" };

test("unused units of the window and the month are reserved, and nothing must be stored", () => {
  const back = takeBack(COUNTERS, RESERVATION, GRANT, 15);
  expect(back).toEqual({ counters: COUNTERS, reservation: { units: 19, lastAt: NOON, granted: 10 } });
  expect(back.counters).toBe(COUNTERS);
});

test("unused units of a window that is over return to the month alone", () => {
  expect(takeBack(COUNTERS, RESERVATION, { ...GRANT, windowStart: NOON - 90_000 }, 15)).toEqual({
    counters: { ...COUNTERS, monthCount: 285 },
    reservation: { ...RESERVATION, granted: 10 },
  });
});

test("unused units of a month that is over return to the window alone", () => {
  expect(takeBack(COUNTERS, RESERVATION, { ...GRANT, month: "2026-10" }, 15)).toEqual({
    counters: { ...COUNTERS, windowCount: 85 },
    reservation: { ...RESERVATION, granted: 10 },
  });
});

test("unused units of a window and a month that are over return nowhere", () => {
  const old = { ...GRANT, windowStart: NOON - 90_000, month: "2026-10" };
  expect(takeBack(COUNTERS, RESERVATION, old, 15)).toEqual({
    counters: COUNTERS,
    reservation: { ...RESERVATION, granted: 10 },
  });
});

const MONTH_END = Date.UTC(2026, 11, 1);

/** For how long a grant of this key lasts. */
function endsInMs(rules: Partial<KeyRules>, windowStart: number, now: number, hash = "hash"): number | undefined {
  const asked = { hash, permission: null, addressAllowed: true, units: 1, pace: 10 };
  const counters = { ...COUNTERS, windowStart };
  const decision = decide(
    rulesOf({ rateLimit: 1_000, windowSeconds: 60, ...rules }),
    counters,
    NO_RESERVATION,
    asked,
    now,
  );
  return decision.outcome === "admitted" ? decision.ahead?.endsInMs : undefined;
}

test.each<[string, Partial<KeyRules>, number, number, string, number]>([
  ["half a second", {}, NOON - 1_000, NOON, "hash", 500],
  ["its window", {}, NOON - 59_800, NOON, "hash", 200],
  ["its month", {}, MONTH_END - 1_000, MONTH_END - 300, "hash", 300],
  ["its key", { expiresAt: NOON + 120 }, NOON - 1_000, NOON, "hash", 120],
  ["the old secret", { previousHash: "old", previousUntil: NOON + 90 }, NOON - 1_000, NOON, "old", 90],
  [
    "half a second, if the new secret asks",
    { previousHash: "old", previousUntil: NOON + 90 },
    NOON - 1_000,
    NOON,
    "hash",
    500,
  ],
])("a grant ends with %s", (_what, rules, windowStart, now, hash, ms) => {
  expect(endsInMs(rules, windowStart, now, hash)).toBe(ms);
});

test("a batch that was not admitted as a whole brings no units ahead", () => {
  const asked = { hash: "hash", permission: null, addressAllowed: true, units: 5, pace: 10 };
  const rules = rulesOf({ rateLimit: 1_000, monthlyQuota: 303 });
  expect(decide(rules, COUNTERS, NO_RESERVATION, asked, NOON)).toMatchObject({ granted: 3, ahead: null });
});

test("granted units are counted, and not released with what is reserved", () => {
  const asked = { hash: "hash", permission: null, addressAllowed: true, units: 2, pace: 10 };
  const reserved = { units: 40, lastAt: NOON, granted: 0 };
  const rules = rulesOf({ rateLimit: 1_000, windowSeconds: 60 });
  const decision = decide(rules, COUNTERS, reserved, asked, NOON);
  expect(decision).toMatchObject({
    ahead: { units: 10 },
    window: { remaining: 1_000 - 100 + 40 - 2 - 10 },
    reservation: { units: 28, granted: 10 },
    write: false,
  });
});

test("what is reserved and granted together is at most one block", () => {
  const asked = { hash: "hash", permission: null, addressAllowed: true, units: 1, pace: 30 };
  const decision = decide(rulesOf({ rateLimit: 1_000 }), COUNTERS, { ...NO_RESERVATION, lastAt: NOON }, asked, NOON);
  // 5 % of the limit: 30 granted and 20 reserved, one of which this request uses.
  expect(decision).toMatchObject({ reservation: { units: 19, granted: 30 }, counters: { windowCount: 150 } });
});

test("reserved units that a grant uses up are reserved anew, up to one block", () => {
  const asked = { hash: "hash", permission: null, addressAllowed: true, units: 1, pace: 30 };
  const held = { units: 10, lastAt: NOON, granted: 0 };
  // 31 units are needed and 10 were reserved. Then 30 are granted, and 20 reserved.
  expect(decide(rulesOf({ rateLimit: 1_000 }), COUNTERS, held, asked, NOON)).toMatchObject({
    reservation: { units: 20, granted: 30 },
    counters: { windowCount: 100 + 21 + 20 },
  });
});

test("a grant counts toward 1 % of what the quota has left after the requests themselves", () => {
  const asked = { hash: "hash", permission: null, addressAllowed: true, units: 10, pace: 30 };
  // 300 are used: with these 10, 1090 are left of the 1400.
  const rules = rulesOf({ rateLimit: 1_000, monthlyQuota: 1_400 });
  expect(decide(rules, COUNTERS, NO_RESERVATION, asked, NOON)).toMatchObject({ granted: 10, ahead: { units: 10 } });
});

test("a grant is taken back once, and forgotten after three seconds of the clock", () => {
  const grants = new OpenGrants();
  grants.add("one", { ...GRANT, grantedAt: NOON });
  grants.add("two", { ...GRANT, grantedAt: NOON + 1 });
  expect([grants.take("one")?.units, grants.take("one"), grants.takeLost(NOON + 3_000)]).toEqual([20, undefined, []]);
  expect([grants.takeLost(NOON + 3_001).length, grants.take("two")]).toEqual([1, undefined]);
});

test("a clock that is set back starts the three seconds over", () => {
  const grants = new OpenGrants();
  grants.add("one", { ...GRANT, grantedAt: NOON });
  expect(grants.takeLost(NOON - 60_000)).toEqual([]);
  expect(grants.takeLost(NOON - 57_001)).toEqual([]);
  expect(grants.takeLost(NOON - 57_000)).toHaveLength(1);
});
