import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { aroundCall, aroundQueries, breakDirectory, breakObjects, OUTAGES, outageError } from "../../support/faults.ts";
import { admin, client, expectError, newKey, newOrganization } from "../../support/harness.ts";
import { neverRing } from "../../support/timers.ts";
import { CHANGES } from "./key-changes.ts";

/** A key of a new organization that its object knows. */
async function warmKey(body: Record<string, unknown> = {}) {
  const { organizationId } = await newOrganization();
  const { key, secret } = await newKey(organizationId, body);
  const api = client(secret);
  const first = await api("GET", "/key");
  expect(first.status, first.text).toBe(200);
  return { id: key.id, organizationId, api, secret };
}

const FAULTS: [string, (id: string) => Promise<void> | void][] = [
  ["", () => {}],
  [", also if its object does not hear of the end", () => breakObjects("KEYS", "endChange")],
  [", also if its object is evicted before it", (id) => evictDurableObject(env.KEYS.getByName(id))],
];

test.each(
  CHANGES.flatMap(([change, make, status, code]) =>
    FAULTS.map(([when, fault]) => ({ change, make, status, code, when, fault })),
  ),
)("a key that was $change is refused at its very next request$when", async ({ make, status, code, fault }) => {
  const { id, api } = await warmKey();
  await fault(id);
  expect((await make(id)).status).toBeLessThan(300);
  expectError(await api("GET", "/chats"), status, code);
});

const WIDENINGS: [string, Record<string, unknown>, Record<string, unknown>][] = [
  ["permissions", { permissions: [] }, { permissions: ["chats:read"] }],
  ["addresses", { ipAllowlist: ["192.0.2.1"], permissions: ["chats:read"] }, { ipAllowlist: [] }],
  ["quota", { monthlyQuota: 0 }, { monthlyQuota: 5 }],
  ["expiry", { expiresAt: "2020-01-01T00:00:00Z" }, { expiresAt: null }],
];

test.each(
  WIDENINGS.flatMap(([what, before, after]) =>
    FAULTS.slice(0, 2).map(([when, fault]) => ({ what, before, after, when, fault })),
  ),
)("a key whose $what were widened is admitted at its very next request$when", async ({ before, after, fault }) => {
  const { organizationId } = await newOrganization();
  const { key, secret } = await newKey(organizationId);
  expect((await admin("PATCH", `/keys/${key.id}`, before)).status).toBe(200);
  expect((await client(secret)("GET", "/chats")).status).toBeGreaterThan(400);
  await fault(key.id);
  expect((await admin("PATCH", `/keys/${key.id}`, after)).status).toBe(200);
  expect((await client(secret)("GET", "/chats")).status).toBe(200);
});

const WRITES: [string, (id: string) => ReturnType<typeof admin>][] = [
  ["a revocation", (id) => admin("DELETE", `/keys/${id}`)],
  ["a PATCH", (id) => admin("PATCH", `/keys/${id}`, { permissions: [] })],
  ["a rotation", (id) => admin("POST", `/keys/${id}/rotate`, { overlapSeconds: 60 })],
];

test.each(WRITES)("%s is a 503 and changes nothing if the key's object can't be reached", async (_name, write) => {
  const { id, api } = await warmKey();
  const before = (await admin("GET", `/keys/${id}`)).body;
  breakObjects("KEYS", "beginChange");
  const answer = await write(id);
  expectError(answer, 503, "unavailable", /^Service unavailable$/);
  expect(answer.headers.get("Retry-After")).toMatch(/^\d+$/);
  vi.restoreAllMocks();
  expect((await admin("GET", `/keys/${id}`)).body).toEqual(before);
  expect((await api("GET", "/chats")).status).toBe(200);
});

test.each(WRITES.flatMap(([name, write]) => OUTAGES.map((outage) => [name, outage, write] as const)))(
  "%s that the directory refuses (%s error) changes nothing and can be repeated",
  async (_name, outage, write) => {
    const { id, api } = await warmKey();
    const before = (await admin("GET", `/keys/${id}`)).body;
    // The read of the row succeeds, and the write after it fails.
    aroundQueries((query, run) => (query > 1 ? Promise.reject(outageError(outage)) : run()));
    expectError(await write(id), 503, "unavailable");
    vi.restoreAllMocks();
    expect((await admin("GET", `/keys/${id}`)).body).toEqual(before);
    expect((await api("GET", "/chats")).status).toBe(200);
    expect((await write(id)).status).toBeLessThan(300);
  },
);

test("a key is refused from the moment it expires", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const expires = Date.now() + 30_000;
  const { api } = await warmKey({ expiresAt: new Date(expires).toISOString() });
  vi.setSystemTime(expires - 1);
  expect((await api("GET", "/key")).status).toBe(200);
  vi.setSystemTime(expires);
  expectError(await api("GET", "/key"), 401, "invalid_api_key", /^Invalid or expired API key$/);
});

test.each(OUTAGES)(
  "a revoked key stays revoked during an outage of the directory: 503 or 401, never 200 (%s error)",
  async (outage) => {
    const { id, api } = await warmKey();
    expect((await admin("DELETE", `/keys/${id}`)).status).toBe(200);
    breakDirectory(outage);
    expectError(await api("GET", "/key"), 503, "unavailable");
    vi.restoreAllMocks();
    expectError(await api("GET", "/key"), 401, "invalid_api_key");
  },
);

test.each([60_000, 1_800_000])("a removed member is not the default sender %i ms later", async (later) => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const { api, organizationId, ownerId, channelId } = await newOrganization();
  const { body } = await api("POST", "/chats", { channelId, contact: { address: "someone" } });
  const sent = async () => (await api("POST", `/chats/${body.chat.id}/messages`, { content: "Hi" })).body.message;
  expect((await sent()).senderId).toBe(ownerId);
  const second = (await admin("POST", `/organizations/${organizationId}/members`, { name: "Bob" })).body.member;
  expect((await admin("DELETE", `/members/${ownerId}`)).status).toBe(200);
  vi.advanceTimersByTime(later);
  // A directory that is slow for a second leaves what is known in use.
  neverRing(1_000);
  expect((await sent()).senderId).toBe(second.id);
});

test("a member who made 5,000 keys is removed without a call to any key, and the answer names the first 100", async () => {
  const { organizationId, keyId } = await newOrganization();
  const { id } = (await admin("POST", `/organizations/${organizationId}/members`, { name: "Bob" })).body.member;
  await env.DB.prepare(
    `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 5000)
     insert into api_keys (id, organization_id, name, hash, permissions, rate_limit, window_seconds, created_at, created_by)
     select printf('key_g%015d', n), organization_id, name, hash, permissions, rate_limit, window_seconds, created_at, ?
     from numbers join api_keys on id = ?`,
  )
    .bind(id, keyId)
    .run();
  const calls = vi.spyOn(env.KEYS, "getByName");
  const { status, body } = await admin("DELETE", `/members/${id}`);
  expect(status).toBe(200);
  expect(body.leftBehind.keys).toHaveLength(100);
  expect(body.leftBehind.hasMore).toBe(true);
  expect(calls).not.toHaveBeenCalled();
});

test("a change is not made if its first step takes so long that its objects may end it on their own", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const { id, api } = await warmKey();
  aroundCall("KEYS", "beginChange", { after: () => vi.setSystemTime(Date.now() + 21_000) });
  expectError(await admin("DELETE", `/keys/${id}`), 503, "unavailable");
  vi.restoreAllMocks();
  expect((await admin("GET", `/keys/${id}`)).body.key.revokedAt).toBeNull();
  expect((await api("GET", "/chats")).status).toBe(200);
  expect((await admin("DELETE", `/keys/${id}`)).status).toBe(200);
});

test("a rotation is not written if it learns too late whether the newest secret is in use", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const { id, api } = await warmKey();
  const before = (await admin("GET", `/keys/${id}`)).body;
  aroundCall("KEYS", "admittedHash", { after: () => vi.setSystemTime(Date.now() + 21_000) });
  expectError(await admin("POST", `/keys/${id}/rotate`), 503, "unavailable");
  vi.restoreAllMocks();
  expect((await admin("GET", `/keys/${id}`)).body).toEqual(before);
  expect((await api("GET", "/chats")).status).toBe(200);
});
