import fc from "fast-check";
import { expect } from "vitest";
import { addressMatcher } from "../../../src/model/allowlist.ts";
import { PERMISSIONS, type Permission } from "../../../src/model/permission.ts";
import { type Answer, admin, call, created, newKey } from "../../support/harness.ts";

/**
 * Chains of random acts of keys on keys. After each act, a key may hold only what the acting key held before, nothing but
 * the key itself may have changed, and the ceilings must hold.
 */

const ADDRESSES = ["192.0.2.1", "192.0.2.200", "198.51.100.1", "2001:db8::1", "::1"];
const TIMES = [2096, 2097, 2098].map((year) => `${year}-01-01T00:00:00.000Z`);
/** Few, so that keys often hold the same. `keys:write` is more likely than the others. */
const SOME: Permission[] = ["keys:write", "keys:read", "chats:read", "messages:send", "chats:erase", "webhooks:write"];

interface Settings {
  permissions?: string[] | null;
  expiresAt?: string | null;
  ipAllowlist?: string[] | null;
  monthlyQuota?: number | null;
  rateLimit?: { limit: number; windowSeconds: number } | null;
}

interface Act {
  kind: "create" | "change" | "rotate" | "revoke";
  /** Which of the keys acts, and on which, by a number that wraps. */
  actor: number;
  target: number;
  settings: Settings;
}

/** Ceilings, the operator's keys, and the acts. */
export interface Chain {
  selfService: { maxKeys?: number; maxPerSecond?: number; monthlyQuota?: number };
  keys: Settings[];
  acts: Act[];
}

interface Key {
  id: string;
  permissions: string[];
  expiresAt: string | null;
  ipAllowlist: string[];
  monthlyQuota: number | null;
  rateLimit: { limit: number; windowSeconds: number };
  revokedAt: string | null;
}

const permissions = fc.oneof(
  { weight: 3, arbitrary: fc.subarray(SOME).map((some) => [...new Set(["keys:write", ...some])]) },
  { weight: 3, arbitrary: fc.subarray(SOME) },
  { weight: 2, arbitrary: fc.constant([...PERMISSIONS] as string[]) },
);
const expiresAt = fc.option(fc.constantFrom(...TIMES), { freq: 1 });
const rules = fc.constantFrom("192.0.2.0/24", "192.0.2.0/25", "192.0.2.1", "0.0.0.0/0", "2001:db8::/32", "::/0", "::1");
const ipAllowlist = fc.oneof(
  { weight: 3, arbitrary: fc.constant([] as string[]) },
  { weight: 2, arbitrary: fc.array(rules, { minLength: 1, maxLength: 2 }) },
);
const monthlyQuota = fc.constantFrom(500, 1_000, 2_000, 3_000);
const rateLimit = fc.constantFrom({ limit: 600, windowSeconds: 60 }, { limit: 3_000, windowSeconds: 60 });
const operatorKey = fc.record({ permissions, expiresAt, ipAllowlist, monthlyQuota: fc.option(monthlyQuota) });
const settings = fc.record(
  {
    permissions: fc.option(fc.oneof(permissions, fc.subarray(SOME, { maxLength: 2 })), { freq: 9 }),
    expiresAt,
    ipAllowlist: fc.option(ipAllowlist, { freq: 9 }),
    monthlyQuota: fc.option(monthlyQuota, { freq: 9 }),
    rateLimit: fc.option(rateLimit),
  },
  { requiredKeys: [] },
);
const act = fc.record({
  kind: fc.constantFrom("create", "create", "change", "change", "rotate", "revoke") as fc.Arbitrary<Act["kind"]>,
  actor: fc.nat(20),
  target: fc.nat(20),
  settings,
});

/** @param length the maximum number of acts */
export function chains(length: number): fc.Arbitrary<Chain> {
  return fc.record({
    selfService: fc.record(
      {
        maxKeys: fc.integer({ min: 2, max: 8 }),
        maxPerSecond: fc.constantFrom(5, 20, 100),
        monthlyQuota: fc.constantFrom(3_000, 6_000, 12_000),
      },
      { requiredKeys: [] },
    ),
    keys: fc.array(operatorKey, { minLength: 1, maxLength: 3 }),
    acts: fc.array(act, { minLength: 5, maxLength: length, size: "max" }),
  }) as fc.Arbitrary<Chain>;
}

/** Runs a chain in an organization of its own. @param saw counts how the acts ended */
export async function runChain({ selfService, keys, acts }: Chain, saw: (what: string) => void): Promise<void> {
  const made = created(await admin("POST", "/organizations", { name: "Chain", owner: { name: "Ada" }, selfService }));
  const organizationId: string = made.organization.id;
  const secrets = new Map<string, string>();
  for (const settings of keys) {
    const { key, secret } = await newKey(organizationId, settings as Record<string, unknown>);
    secrets.set(key.id, secret);
  }
  const list = async () => (await admin("GET", `/organizations/${organizationId}/keys?limit=100`)).body.keys as Key[];
  /** The highest quota of each key in this month. */
  const peaks = new Map<string, number>();
  let before = await list();
  notePeaks(peaks, before);
  for (const { kind, ...asked } of acts) {
    const actor = before[asked.actor % before.length] as Key;
    const target = before[asked.target % before.length] as Key;
    const answer = await request(kind, asked.settings, { actor, target, secret: secrets.get(actor.id) ?? "" });
    const after = await list();
    const sumBefore = sum(peaks);
    notePeaks(peaks, after);
    const what = `${kind} ${answer.status} ${answer.body?.code ?? ""}`;
    saw(what);
    expect([200, 201, 400, 401, 403, 409, 429], answer.text).toContain(answer.status);
    if (!answer.body.key) {
      expect(after, what).toEqual(before);
      continue;
    }
    const changed: Key = answer.body.key;
    if (answer.body.secret) secrets.set(changed.id, answer.body.secret);
    const others = (all: Key[]) => all.filter(({ id }) => id !== changed.id);
    expect(others(after), what).toEqual(others(before));
    expect(actor.revokedAt).toBeNull();
    expect(actor.permissions).toContain("keys:write");
    if (kind !== "revoke") checkPowers(actor, kind === "create" ? null : target, changed);
    const { maxKeys = Infinity, maxPerSecond = Infinity, monthlyQuota = Infinity } = selfService;
    expect(sum(peaks)).toBeLessThanOrEqual(Math.max(monthlyQuota, sumBefore));
    if (sum(peaks) > sumBefore) expect(sum(peaks)).toBeLessThanOrEqual(monthlyQuota);
    expect(live(after)).toBeLessThanOrEqual(Math.max(maxKeys, live(before)));
    if (kind === "create") {
      expect(live(after)).toBeLessThanOrEqual(maxKeys);
      expect(changed.rateLimit.limit).toBeLessThanOrEqual(maxPerSecond * changed.rateLimit.windowSeconds);
      if (monthlyQuota < Infinity) expect(changed.monthlyQuota).not.toBeNull();
    }
    expect(after.some(isManager)).toBe(true);
    before = after;
  }
}

/** No key may hold what the key that made it so did not hold. */
function checkPowers(actor: Key, before: Key | null, after: Key): void {
  for (const held of [...after.permissions, ...(before?.permissions ?? [])]) expect(actor.permissions).toContain(held);
  expect(Date.parse(after.expiresAt ?? "9999-01-01T00:00:00Z")).toBeLessThanOrEqual(
    Date.parse(actor.expiresAt ?? "9999-01-01T00:00:00Z"),
  );
  for (const address of ADDRESSES) if (allows(after, address)) expect(allows(actor, address)).toBe(true);
}

async function request(
  kind: Act["kind"],
  settings: Settings,
  { actor, target, secret }: { actor: Key; target: Key; secret: string },
): Promise<Answer> {
  const address = ADDRESSES.find((each) => allows(actor, each)) ?? "203.0.113.1";
  const headers = { Authorization: `Bearer ${secret}`, "CF-Connecting-IP": address };
  const path = `/api/v1/keys/${target.id}`;
  switch (kind) {
    case "create":
      return call("POST", "/api/v1/keys", { headers, body: { name: "Made", ...settings } });
    case "change":
      return call("PATCH", path, { headers, body: settings });
    case "rotate":
      return call("POST", `${path}/rotate`, { headers });
    default:
      return call("DELETE", path, { headers });
  }
}

function allows({ ipAllowlist }: Key, address: string): boolean {
  return ipAllowlist.length === 0 || addressMatcher(ipAllowlist)(address);
}

function isManager({ permissions, revokedAt }: Key): boolean {
  return revokedAt === null && permissions.includes("keys:write");
}

function live(keys: Key[]): number {
  return keys.filter(({ revokedAt }) => revokedAt === null).length;
}

function notePeaks(peaks: Map<string, number>, keys: Key[]): void {
  for (const { id, monthlyQuota } of keys) peaks.set(id, Math.max(peaks.get(id) ?? 0, monthlyQuota ?? 0));
}

function sum(peaks: Map<string, number>): number {
  return [...peaks.values()].reduce((total, quota) => total + quota, 0);
}
