import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { newId } from "../../../../src/model/id.ts";
import { aroundQueries, breakDirectory, countRoundTrips, OUTAGES } from "../../../support/faults.ts";
import { admin, client, expectError, newKey, newOrganization } from "../../../support/harness.ts";
import { neverRing } from "../../../support/timers.ts";

const MINUTE = 60_000;

async function warmKey(body: Record<string, unknown> = {}) {
  const { organizationId } = await newOrganization();
  const { key, secret } = await newKey(organizationId, body);
  const api = client(secret);
  const admitted = async () => (await api("GET", "/key")).status;
  expect(await admitted()).toBe(200);
  return { id: key.id, organizationId, api, admitted, object: env.KEYS.getByName(key.id) };
}

/** The object's stored data. */
function stored(object: DurableObjectStub): Promise<Record<string, unknown>> {
  return runInDurableObject(object, (_object, state) => Object.fromEntries(state.storage.kv.list()));
}

/** Runs the background work of earlier requests. */
async function settle(object: DurableObjectStub): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await runInDurableObject(object, () => env.DB.prepare("select 1").all());
}

test.each(OUTAGES)("an evicted object continues from its storage, without the directory (%s error)", async (outage) => {
  const { object, api } = await warmKey({ rateLimit: { limit: 10, windowSeconds: 3_600 } });
  await evictDurableObject(object);
  breakDirectory(outage);
  const answer = await api("GET", "/key");
  expect(answer.status, answer.text).toBe(200);
  expect(answer.headers.get("X-RateLimit-Remaining")).toBe("8");
});

test("memory is a copy: after an eviction, storage wins", async () => {
  const { object, api } = await warmKey({ rateLimit: { limit: 10, windowSeconds: 3_600 } });
  const remaining = async () => (await api("GET", "/key")).headers.get("X-RateLimit-Remaining");
  await runInDurableObject(object, (_object, { storage }) => {
    storage.kv.put("counters", { ...storage.kv.get<object>("counters"), windowCount: 6 });
  });
  await evictDurableObject(object);
  expect(await remaining()).toBe("3");
});

test("an object stores exactly three values: the record, the counts and the current changes", async () => {
  const { object, id } = await warmKey();
  expect(Object.keys(await stored(object)).sort()).toEqual(["counters", "record"]);
  await object.beginChange("a");
  expect(Object.keys(await stored(object)).sort()).toEqual(["changing", "counters"]);
  await object.endChange("a");
  expect(Object.keys(await stored(object))).toEqual(["counters"]);
  expect(await object.describe(id)).toMatchObject({ key: { id }, usage: { used: 1 } });
});

test("a warm object does not read the directory", async () => {
  const { admitted } = await warmKey();
  const roundTrips = countRoundTrips();
  expect(await admitted()).toBe(200);
  expect(roundTrips()).toBe(0);
});

test("a record older than 45 s is refreshed in the background, once for concurrent requests", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const { admitted, object } = await warmKey();
  vi.advanceTimersByTime(45_000 - 1);
  const roundTrips = countRoundTrips();
  await admitted();
  await settle(object);
  expect(roundTrips()).toBe(5);
  vi.advanceTimersByTime(1);
  expect(await Promise.all([admitted(), admitted(), admitted()])).toEqual([200, 200, 200]);
  await settle(object);
  expect(roundTrips()).toBe(5 + 1 + 5);
});

test("an unchanged record is stored again after ten minutes, and not with each refresh", async () => {
  // The object waits for the directory, however long that takes.
  neverRing(1_000);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const { admitted, object } = await warmKey();
  const first = ((await stored(object)).record as { readAt: number }).readAt;
  for (const [minutes, readAt] of [
    [9, first],
    [10, first + 10 * MINUTE],
  ] as const) {
    vi.setSystemTime(first + minutes * MINUTE);
    await admitted();
    await settle(object);
    expect(await stored(object)).toMatchObject({ record: { readAt } });
  }
});

test.each(OUTAGES)(
  "during an outage of the directory a record is used for up to an hour, and then the result is 503 (%s error)",
  async (outage) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const { api, admitted, object } = await warmKey();
    breakDirectory(outage);
    vi.advanceTimersByTime(59 * MINUTE);
    expect(await admitted()).toBe(200);
    await settle(object).catch(() => {});
    vi.advanceTimersByTime(MINUTE);
    const answer = await api("GET", "/key");
    expectError(answer, 503, "unavailable");
    expect(answer.headers.get("Retry-After")).toMatch(/^\d+$/);
    vi.restoreAllMocks();
    expect(await admitted()).toBe(200);
  },
);

test.each(OUTAGES)("a key expires during an outage of the directory (%s error)", async (outage) => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const { api } = await warmKey({ expiresAt: new Date(Date.now() + 10 * MINUTE).toISOString() });
  breakDirectory(outage);
  vi.advanceTimersByTime(10 * MINUTE);
  expectError(await api("GET", "/key"), 401, "invalid_api_key");
});

test.each(OUTAGES)("an unknown key during an outage of the directory is 503, never 401 (%s error)", async (outage) => {
  const { organizationId } = await newOrganization();
  const { secret } = await newKey(organizationId);
  breakDirectory(outage);
  expectError(await client(secret)("GET", "/key"), 503, "unavailable");
  vi.restoreAllMocks();
  expect((await client(secret)("GET", "/key")).status).toBe(200);
});

test("during a change, every request reads the directory and caches nothing", async () => {
  const { object, admitted } = await warmKey();
  await object.beginChange("a");
  const roundTrips = countRoundTrips();
  for (const read of [1, 2, 3]) {
    expect(await admitted()).toBe(200);
    // Once to check the key, and once to return it.
    expect(roundTrips()).toBe(2 * read);
  }
  expect(await stored(object)).not.toHaveProperty("record");
});

test("a change that never ends applies from the directory's commit on, also after an eviction", async () => {
  const { id, object, api, admitted } = await warmKey();
  await object.beginChange("a");
  expect(await admitted()).toBe(200);
  await evictDurableObject(object);
  expect(await admitted()).toBe(200);
  await env.DB.prepare("update api_keys set revoked_at = 1 where id = ?").bind(id).run();
  expectError(await api("GET", "/key"), 401, "invalid_api_key");
});

test("a change that never ends is ended after a minute", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const { object, admitted } = await warmKey();
  await object.beginChange("a");
  vi.advanceTimersByTime(MINUTE);
  expect(await admitted()).toBe(200);
  const roundTrips = countRoundTrips();
  expect(await admitted()).toBe(200);
  expect(roundTrips()).toBe(0);
});

test("if two changes overlap, the end of one does not end the other", async () => {
  const { id, object, api, admitted } = await warmKey();
  await object.beginChange("a");
  await object.beginChange("b");
  await object.endChange("a");
  expect(await admitted()).toBe(200);
  await env.DB.prepare("update api_keys set revoked_at = 1 where id = ?").bind(id).run();
  expectError(await api("GET", "/key"), 401, "invalid_api_key");
  await object.endChange("b");
  expect(await stored(object)).not.toHaveProperty("changing");
});

test("a repeated step of a change has no effect", async () => {
  const { object, admitted } = await warmKey();
  await object.beginChange("a");
  await object.beginChange("a");
  await object.endChange("a");
  await object.endChange("a");
  await object.endChange("never begun");
  expect(await stored(object)).not.toHaveProperty("changing");
  expect(await admitted()).toBe(200);
});

test("a record that was read before a change is not cached after it", async () => {
  const { organizationId } = await newOrganization();
  const { key, secret } = await newKey(organizationId);
  const object = env.KEYS.getByName(key.id);
  aroundQueries(async (query, run) => {
    const rows = await run();
    if (query > 1) return rows;
    await env.KEYS.getByName(key.id).beginChange("a");
    await env.DB.prepare("update api_keys set revoked_at = 1 where id = ?").bind(key.id).run();
    await env.KEYS.getByName(key.id).endChange("a");
    return rows;
  });

  expect((await client(secret)("GET", "/chats")).status).toBe(200);

  expect(await stored(object)).not.toHaveProperty("record");
  expectError(await client(secret)("GET", "/chats"), 401, "invalid_api_key");
});

test("twenty concurrent changes leave the result of one, and no change in progress", async () => {
  const { id, object, admitted } = await warmKey();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => admin("PATCH", `/keys/${id}`, { name: `Name ${i}` })),
  );
  expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
  expect(await stored(object)).not.toHaveProperty("changing");
  expect(await admitted()).toBe(200);
  const { name } = (await admin("GET", `/keys/${id}`)).body.key;
  expect((await object.describe(id))?.key.name).toBe(name);
});

test("after three concurrent rotations, the last secret is valid beside the one in use", async () => {
  const { id, admitted } = await warmKey();
  const rotated = await Promise.all([1, 2, 3].map(() => admin("POST", `/keys/${id}/rotate`, { overlapSeconds: 60 })));
  const statuses = await Promise.all(
    rotated.map(async ({ body }) => (await client(body.secret)("GET", "/key")).status),
  );
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  expect(await admitted()).toBe(200);
});

test("asking a key's object about an unknown key stores nothing in it", async () => {
  const id = newId("key", null);
  const object = env.KEYS.getByName(id);
  expect(await object.describe(id)).toBeNull();
  const asked = { call: "1", hash: "0", address: null, permission: null, units: 1 };
  expect(await object.admit(id, asked)).toEqual({
    outcome: "refused",
    reason: "invalid_api_key",
    window: null,
    final: true,
  });
  expect(await stored(object)).toEqual({});
});

test("requests that share a call are granted as many units as are left", async () => {
  const { organizationId } = await newOrganization();
  const { key, secret } = await newKey(organizationId, { rateLimit: { limit: 5, windowSeconds: 60 } });
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(secret))).toHex();
  const ask = (units: number) =>
    env.KEYS.getByName(key.id).admit(key.id, {
      call: crypto.randomUUID(),
      hash,
      address: null,
      permission: null,
      units,
    });
  expect(await ask(3)).toMatchObject({ outcome: "admitted", granted: 3, window: { remaining: 2 } });
  expect(await ask(3)).toMatchObject({ outcome: "admitted", granted: 2, window: { remaining: 0 } });
  expect(await ask(3)).toMatchObject({ outcome: "refused", reason: "rate_limited" });
});

test.each(OUTAGES)("a failed refresh is repeated after ten seconds, not at each request (%s error)", async (outage) => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const { admitted } = await warmKey();
  vi.advanceTimersByTime(MINUTE);
  breakDirectory(outage);
  const raw = vi.mocked(Object.getPrototypeOf(env.DB.prepare("select 1")).raw);
  for (const reads of [1, 1, 1, 2]) {
    expect(await admitted()).toBe(200);
    expect(raw).toHaveBeenCalledTimes(reads);
    vi.advanceTimersByTime(4_000);
  }
});
