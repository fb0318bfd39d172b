import { expect, test } from "vitest";
import type { KeyRules } from "../../../../src/model/key.ts";
import { Key, NOON } from "./key-model.ts";

test("a refusal starts no window", () => {
  const key = new Key({ windowSeconds: 60 });
  key.ask(NOON, { permission: "messages:send" });
  expect(key.ask(NOON + 5_000).window.reset).toBe(NOON + 65_000);
});

test("a refusal after the end of a window starts none", () => {
  const key = new Key({ windowSeconds: 60 });
  key.grant(NOON);
  key.ask(NOON + 70_000, { addressAllowed: false });
  expect(key.ask(NOON + 80_000).window.reset).toBe(NOON + 140_000);
});

test("without a window, a refusal shows the window that would start now", () => {
  const { window } = new Key({ rateLimit: 10, windowSeconds: 60 }).ask(NOON, { addressAllowed: false });
  expect(window).toEqual({ limit: 10, windowSeconds: 60, remaining: 10, reset: NOON + 60_000 });
});

test("a refusal doesn't count in the window", () => {
  const key = new Key({ rateLimit: 2 });
  for (let time = 0; time < 5; time++) key.ask(NOON, { hash: "other" });
  expect(key.grantEach(NOON, 5)).toBe(2);
});

const WRONGS = [
  { reason: "invalid_api_key", asked: { hash: "other" }, rules: {} },
  { reason: "ip_not_allowed", asked: { addressAllowed: false }, rules: {} },
  { reason: "permission_denied", asked: { permission: "messages:send" }, rules: {} },
  { reason: "rate_limited", asked: {}, rules: { rateLimit: 1 } },
  { reason: "quota_exceeded", asked: {}, rules: { monthlyQuota: 1 } },
] as const;

test.each(Array.from({ length: 31 }, (_, set) => WRONGS.filter((_, place) => (set + 1) & (1 << place))))(
  "a request with several faults is refused for the first one in the documented order: %#",
  (...wrongs) => {
    const key = new Key();
    key.grant(NOON);
    for (const wrong of wrongs) key.change(wrong.rules);
    const decision = key.ask(NOON, Object.assign({}, ...wrongs.map((wrong) => wrong.asked)));
    expect(decision).toMatchObject({ outcome: "refused", reason: wrongs[0]?.reason });
  },
);

test("a request that needs no permission passes a key that has none", () => {
  expect(new Key({ permissions: [] }).ask(NOON, { permission: null }).outcome).toBe("admitted");
});

test.each<[KeyRules["permissions"], string]>([
  [["webhooks:write"], "refused"],
  [["events:read"], "refused"],
  [["webhooks:read", "webhooks:write"], "refused"],
  [["events:read", "webhooks:write"], "admitted"],
])("with the permissions %j a key's change of a webhook is %s", (permissions, outcome) => {
  expect(new Key({ permissions }).ask(NOON, { permission: "webhooks:write" }).outcome).toBe(outcome);
});

test("a revoked key is refused, whatever the clock says", () => {
  const asked = { addressAllowed: false };
  expect(new Key({ revokedAt: NOON + 60_000 }).ask(NOON, asked)).toMatchObject({ reason: "invalid_api_key" });
});

test("a key is valid until the millisecond in which it expires", () => {
  const key = new Key({ expiresAt: NOON });
  expect([key.ask(NOON - 1).outcome, key.ask(NOON).outcome]).toEqual(["admitted", "refused"]);
});

test("the previous secret is valid until its overlap ends, and older ones are not", () => {
  const ask = (rules: Partial<KeyRules>, now: number, hash = "previous") =>
    new Key({ previousHash: "previous", previousUntil: NOON, ...rules }).ask(now, { hash }).outcome;
  expect([ask({}, NOON - 1), ask({}, NOON), ask({}, NOON - 1, "other")]).toEqual(["admitted", "refused", "refused"]);
  expect([ask({ previousUntil: null }, NOON - 1), ask({ previousHash: null }, NOON - 1)]).toEqual([
    "refused",
    "refused",
  ]);
});

test("the new secret is valid during the overlap and after it", () => {
  const key = new Key({ previousHash: "previous", previousUntil: NOON });
  expect([key.ask(NOON - 1).outcome, key.ask(NOON + 1).outcome]).toEqual(["admitted", "admitted"]);
});

test("the old secret of an expired or revoked key is invalid too", () => {
  const overlap = { previousHash: "previous", previousUntil: NOON + 1 };
  const expired = new Key({ ...overlap, expiresAt: NOON }).ask(NOON, { hash: "previous" });
  const revoked = new Key({ ...overlap, revokedAt: NOON }).ask(NOON, { hash: "previous" });
  expect([expired.outcome, revoked.outcome]).toEqual(["refused", "refused"]);
});

test("both secrets of a key share its counts", () => {
  const key = new Key({ rateLimit: 1, previousHash: "previous", previousUntil: NOON + 1 });
  key.ask(NOON, { hash: "previous" });
  expect(key.ask(NOON)).toMatchObject({ reason: "rate_limited" });
});
