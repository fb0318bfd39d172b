import { expect, test } from "vitest";
import { addressMatcher } from "../../../src/keys/allowlist.ts";
import { decide, type KeyRules } from "../../../src/keys/decide.ts";
import { type Counters, NO_COUNTERS, NO_RESERVATION, usageOf } from "../../../src/keys/limits.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");
const RULES: KeyRules = {
  permissions: [],
  rateLimit: 1_000,
  windowSeconds: 60,
  monthlyQuota: 1_000_000,
  expiresAt: null,
  revokedAt: null,
  hash: "new",
  previousHash: "old",
  previousUntil: NOW + 1,
};

const counted = (fields: Partial<Counters> = {}): Counters => ({
  windowStart: NOW - 1_000,
  windowCount: 100,
  month: "2026-11",
  monthCount: 100,
  ...fields,
});

function ask(hash: string, rules: Partial<KeyRules> = {}) {
  const asked = { hash, permission: null, addressAllowed: true, units: 1 };
  const decision = decide({ ...RULES, ...rules }, NO_COUNTERS, NO_RESERVATION, asked, NOW);
  return decision.outcome === "refused" ? decision.reason : decision.outcome;
}

test("the secret before is good until its time is over, and no other one is", () => {
  expect([ask("new"), ask("old"), ask("other")]).toEqual(["admitted", "admitted", "invalid_api_key"]);
  expect(ask("old", { previousUntil: NOW })).toBe("invalid_api_key");
  expect(ask("old", { previousUntil: null })).toBe("invalid_api_key");
  expect(ask("old", { previousHash: null })).toBe("invalid_api_key");
});

test("what was kept in reserve goes back to the month when its window ends", () => {
  const ended = counted({ windowStart: NOW - 60_000 });
  expect(usageOf(RULES, ended, { units: 30, lastAt: null }, NOW)).toMatchObject({ used: 70, running: false });
});

test("a reserve that narrower limits would not give goes back to the window and the month", () => {
  const asked = { hash: "new", permission: null, addressAllowed: true, units: 1 };
  const decision = decide({ ...RULES, rateLimit: 200 }, counted(), { units: 50, lastAt: NOW }, asked, NOW);
  // A block is 5 % of the limit: 10 of the 50 stay, and one of them is used.
  expect(decision).toMatchObject({
    outcome: "admitted",
    counters: { windowCount: 60, monthCount: 60 },
    reservation: { units: 9 },
    window: { remaining: 149 },
    write: true,
  });
});

test("a month is the UTC calendar's, whichever was asked for before", () => {
  const monthAt = (time: string) => usageOf(RULES, NO_COUNTERS, NO_RESERVATION, Date.parse(time)).month;
  expect(
    [
      "2026-11-20T00:00:00Z",
      "2026-11-30T23:59:59.999Z",
      "2026-12-01T00:00:00Z",
      "2026-11-01T00:00:00Z",
      "2027-01-01T00:00:00Z",
    ].map(monthAt),
  ).toEqual(["2026-11", "2026-11", "2026-12", "2026-11", "2027-01"]);
});

test("a range wider than IPv4 holds none of its addresses", () => {
  const all = addressMatcher(["::/0"]);
  expect([all("2001:db8::1"), all("192.0.2.1"), all("::ffff:192.0.2.1")]).toEqual([true, false, false]);
  expect([addressMatcher(["0.0.0.0/0"])("192.0.2.1"), addressMatcher(["::ffff:0:0/95"])("192.0.2.1")]).toEqual([
    true,
    false,
  ]);
});

test("a rule that is none holds nothing, beside one that is", () => {
  expect([addressMatcher(["nonsense", "192.0.2.1"])("192.0.2.1"), addressMatcher(["nonsense"])("192.0.2.1")]).toEqual([
    true,
    false,
  ]);
});
