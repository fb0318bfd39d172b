import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { newKeyText } from "../../../../src/keys/key-text.ts";
import { newId } from "../../../../src/model/id.ts";
import { configured } from "../../../../src/platform/config.ts";
import { newIsolate } from "../../../deep/models/isolates.ts";
import { runAlarm } from "../../../support/alarms.ts";
import { hurryDeadlines } from "../../../support/deadlines.ts";
import { aroundCall, breakDirectory, breakObject, breakObjects, countCalls, OUTAGES } from "../../../support/faults.ts";
import { admin, client, newKey, newOrganization, statsOf } from "../../../support/harness.ts";
import { heldBy, NOTHING } from "../../../support/stored.ts";
import { neverRing } from "../../../support/timers.ts";
import { until } from "../../../support/until.ts";
import { alarmOf, pass, stopTheClock } from "../../chats/object/delivery/conversation.ts";

stopTheClock();

/** A key with a limit, and a client that uses it. */
async function limitedKey(body: object) {
  const { organizationId } = await newOrganization();
  const { key, secret } = await newKey(organizationId, { ...body });
  return {
    organizationId,
    keyId: key.id as string,
    secret,
    api: client(secret),
    object: () => env.KEYS.getByName(key.id),
  };
}

async function keyStats({ organizationId, keyId }: { organizationId: string; keyId: string }) {
  const { keys } = await statsOf(organizationId);
  return keys.find(({ id }: { id: string }) => id === keyId);
}

const NO_REFUSALS = { invalid_api_key: 0, ip_not_allowed: 0, permission_denied: 0, rate_limited: 0, quota_exceeded: 0 };

test("a key's accepted and refused requests are counted, including refusals from memory", async () => {
  // The next request reports them, and not a timer.
  neverRing(2_000);
  const key = await limitedKey({ rateLimit: { limit: 3, windowSeconds: 60 }, permissions: ["chats:read"] });
  expect(await keyStats(key)).toMatchObject({ admitted: 0, refused: NO_REFUSALS, updatedAt: null });
  for (const path of ["/key", "/chats", "/chats/cht_gaaaaaaaaaaaaaaa/messages", "/key"]) await key.api("GET", path);
  const calls = vi.spyOn(env.KEYS, "getByName");
  for (let n = 0; n < 4; n++) expect((await key.api("GET", "/key")).status).toBe(429);
  expect(calls).toHaveBeenCalledTimes(1);
  pass(1_001);
  // The key's object hears of the three refusals that it did not make.
  expect((await key.api("GET", "/key")).status).toBe(429);
  await runAlarm(key.object());
  expect(await keyStats(key)).toMatchObject({
    admitted: 3,
    refused: { ...NO_REFUSALS, permission_denied: 1, rate_limited: 5 },
    updatedAt: new Date().toISOString(),
  });
});

/** A client in an isolate whose timers the test runs: those that report refusals to the key's object. */
function clientOnFakeTimers(secret: string) {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: Date.now() });
  const ask = newIsolate();
  return async () => (await ask(secret, "GET", "/api/v1/key")).status;
}

/** Lets the timers of two seconds end. @returns when the key's object has received the refusals */
async function refusalsTold(): Promise<void> {
  const told = Promise.withResolvers<void>();
  aroundCall("KEYS", "countRefused", { after: told.resolve });
  vi.advanceTimersByTime(2_000);
  await told.promise;
  vi.restoreAllMocks();
}

test("refusals from memory are counted two seconds later, even if the key makes no other request", async () => {
  const key = await limitedKey({ rateLimit: { limit: 1, windowSeconds: 60 } });
  const status = clientOnFakeTimers(key.secret);
  expect(await status()).toBe(200);
  const calls = vi.spyOn(env.KEYS, "getByName");
  for (let n = 0; n < 55; n++) expect(await status()).toBe(429);
  expect([calls.mock.calls.length, vi.getTimerCount()]).toEqual([1, 1]);
  calls.mockRestore();
  await refusalsTold();
  await runAlarm(key.object());
  expect(await keyStats(key)).toMatchObject({ admitted: 1, refused: { ...NO_REFUSALS, rate_limited: 55 } });
  expect(vi.getTimerCount()).toBe(0);
});

test("refusals that are reported with the key's next call are not reported again", async () => {
  const key = await limitedKey({ rateLimit: { limit: 1, windowSeconds: 60 } });
  const status = clientOnFakeTimers(key.secret);
  for (let n = 0; n < 4; n++) await status();
  vi.advanceTimersByTime(1_001);
  expect(await status()).toBe(429);
  const calls = vi.spyOn(env.KEYS, "getByName");
  await vi.advanceTimersByTimeAsync(10_000);
  expect(calls).not.toHaveBeenCalled();
  await runAlarm(key.object());
  expect((await keyStats(key)).refused.rate_limited).toBe(4);
});

test("refusals that are reported twice because a response was lost are counted once", async () => {
  const key = await limitedKey({});
  await admin("DELETE", `/keys/${key.keyId}`);
  const status = clientOnFakeTimers(key.secret);
  for (let n = 0; n < 9; n++) expect(await status()).toBe(401);
  const lost = Object.assign(new Error("Network connection lost."), { retryable: true });
  const again = Promise.withResolvers<void>();
  const getByName = env.KEYS.getByName.bind(env.KEYS);
  const calls = vi.spyOn(env.KEYS, "getByName").mockImplementation((...args) => {
    const stub = getByName(...args);
    const countRefused = async (...given: Parameters<typeof stub.countRefused>) => {
      await stub.countRefused(...given);
      if (calls.mock.calls.length === 1) throw lost;
      again.resolve();
    };
    return { countRefused } as never;
  });
  vi.advanceTimersByTime(2_000);
  await again.promise;
  vi.restoreAllMocks();
  await runAlarm(key.object());
  expect((await keyStats(key)).refused).toEqual({ ...NO_REFUSALS, invalid_api_key: 9 });
});

test("refusals of an unknown key are not reported, and store nothing", async () => {
  const id = newId("key", null);
  const status = clientOnFakeTimers(await newKeyText(id, configured(env, "KEY_SECRET")));
  const calls = vi.spyOn(env.KEYS, "getByName");
  for (let n = 0; n < 9; n++) expect(await status()).toBe(401);
  expect([calls.mock.calls.length, vi.getTimerCount()]).toEqual([1, 0]);
  await env.KEYS.getByName(id).countRefused(id, { invalid_api_key: 8 }, "1");
  expect(await heldBy(env.KEYS.getByName(id))).toEqual(NOTHING);
});

test("a late refusal does not discard refusals that were made from memory in the meantime", async () => {
  const key = await limitedKey({ rateLimit: { limit: 1, windowSeconds: 60 } });
  const object = key.object();
  await key.api("GET", "/key");
  const gate = Promise.withResolvers<void>();
  const before = vi.fn<() => void>();
  aroundCall("KEYS", "admit", { before, after: () => gate.promise });
  const late = key.api("GET", "/key");
  // The next request could overtake it, and would wait for the gate in its place.
  await until("the request is at its object", () => before.mock.calls.length);
  expect((await key.api("GET", "/key")).status).toBe(429);
  expect((await key.api("GET", "/key")).status).toBe(429);
  gate.resolve();
  expect((await late).status).toBe(429);
  pass(1_001);
  await key.api("GET", "/key");
  await runAlarm(object);
  expect((await keyStats(key)).refused.rate_limited).toBe(4);
});

test("requests with a revoked key, a wrong address or a used-up quota are counted by their reasons", async () => {
  const key = await limitedKey({ monthlyQuota: 1 });
  for (let n = 0; n < 3; n++) await key.api("GET", "/key");
  await admin("PATCH", `/keys/${key.keyId}`, { ipAllowlist: ["192.0.2.1"], monthlyQuota: null });
  await key.api("GET", "/key");
  await admin("DELETE", `/keys/${key.keyId}`);
  await key.api("GET", "/key");
  await runAlarm(key.object());
  expect(await keyStats(key)).toMatchObject({
    admitted: 1,
    refused: { ...NO_REFUSALS, quota_exceeded: 2, ip_not_allowed: 1, invalid_api_key: 1 },
  });
});

test("counts that a request stores are copied after a minute, and counts in memory are stored after 5 s", async () => {
  const key = await limitedKey({});
  const alarm = () => alarmOf(key.object()).then((at) => (at ?? 0) - Date.now());
  await key.api("GET", "/key");
  expect(await alarm()).toBe(60_000);
  pass(2_000);
  await key.api("GET", "/key");
  expect(await alarm()).toBe(58_000);
  // From here on, units are reserved.
  await key.api("GET", "/key");
  await key.api("GET", "/key");
  expect(await alarm()).toBe(5_000);
});

test("a busy key reports to its organization once a minute", async () => {
  const key = await limitedKey({});
  const reports = countCalls("ORGANIZATIONS", "reportKey");
  for (let second = 0; second < 120; second++) {
    await key.api("GET", "/key");
    pass(999);
    if (((await alarmOf(key.object())) ?? 0) <= Date.now()) await runAlarm(key.object());
  }
  expect(reports()).toBe(2);
  pass(60_000);
  await runAlarm(key.object());
  expect(reports()).toBe(3);
  expect((await keyStats(key)).admitted).toBe(120);
  expect(await alarmOf(key.object())).toBeNull();
});

test("an eviction loses no stored count, and no count older than 5 s", async () => {
  const key = await limitedKey({});
  await key.api("GET", "/key");
  await evictDurableObject(key.object());
  for (let n = 0; n < 4; n++) await key.api("GET", "/key");
  pass(5_000);
  await runAlarm(key.object());
  await evictDurableObject(key.object());
  pass(60_000);
  await key.api("GET", "/key");
  await runAlarm(key.object());
  expect((await keyStats(key)).admitted).toBe(6);
});

test("counts that the organization's object did not get are reported a minute later, even after an eviction", async () => {
  const key = await limitedKey({});
  await key.api("GET", "/key");
  breakObjects("ORGANIZATIONS", "reportKey");
  await runAlarm(key.object());
  vi.restoreAllMocks();
  expect((await keyStats(key)).updatedAt).toBeNull();
  expect(await alarmOf(key.object())).toBe(Date.now() + 60_000);
  await evictDurableObject(key.object());
  pass(60_000);
  await runAlarm(key.object());
  expect((await keyStats(key)).admitted).toBe(1);
});

test.each(OUTAGES)("a key's report does not need the directory (%s error)", async (outage) => {
  const key = await limitedKey({});
  await key.api("GET", "/key");
  breakDirectory(outage);
  await runAlarm(key.object());
  vi.restoreAllMocks();
  expect((await keyStats(key)).admitted).toBe(1);
});

test("a late report does not lower a key's counts", async () => {
  const key = await limitedKey({});
  for (let n = 0; n < 3; n++) await key.api("GET", "/key");
  await runAlarm(key.object());
  const { organizationId, keyId } = key;
  await env.ORGANIZATIONS.getByName(organizationId).reportKey(organizationId, keyId, { admitted: 1, refused: {} });
  expect((await keyStats(key)).admitted).toBe(3);
});

test("reserved units are returned before the object is idle, so a later eviction loses none", async () => {
  const key = await limitedKey({ monthlyQuota: 100_000 });
  const usage = async () => (await admin("GET", `/keys/${key.keyId}/usage`)).body.usage;
  for (let burst = 1; burst <= 3; burst++) {
    for (let n = 0; n < 2; n++) await key.api("GET", "/key");
    pass(5_000);
    await runAlarm(key.object());
    await evictDurableObject(key.object());
    expect(await usage()).toMatchObject({ used: 2 * burst, window: { remaining: 300 - 2 * burst } });
    pass(10_000);
  }
});

test("a key whose units are returned during its window uses each of them once", async () => {
  const key = await limitedKey({ rateLimit: { limit: 100, windowSeconds: 3_600 } });
  const statuses: number[] = [];
  for (let n = 0; n < 105; n++) {
    statuses.push((await key.api("GET", "/key")).status);
    if (n % 7 === 0) await runAlarm(key.object());
    if (n % 21 === 0) await evictDurableObject(key.object());
    pass(600);
  }
  expect(statuses.filter((status) => status === 200)).toHaveLength(100);
  expect(statuses.slice(100)).toEqual(Array.from({ length: 5 }, () => 429));
});

test("an erased key's object stores nothing, even with a write in progress", async () => {
  const key = await limitedKey({});
  for (let n = 0; n < 4; n++) await key.api("GET", "/key");
  expect((await admin("DELETE", `/organizations/${key.organizationId}`)).status).toBe(200);
  await runAlarm(key.object());
  expect(await heldBy(key.object())).toEqual(NOTHING);
});

/** An alarm that fails, and the next one, which does not. */
async function runTwoAlarms(key: Awaited<ReturnType<typeof limitedKey>>): Promise<void> {
  await runAlarm(key.object());
  const at = (await alarmOf(key.object())) ?? 0;
  expect(at).toBeGreaterThan(Date.now());
  vi.restoreAllMocks();
  pass(at - Date.now());
  await runAlarm(key.object());
}

test("a report that is never answered is given up, and repeated by the next alarm", async () => {
  const key = await limitedKey({});
  await key.api("GET", "/key");
  hurryDeadlines("ORGANIZATIONS");
  breakObject("ORGANIZATIONS", key.organizationId, "reportKey", "hangs");
  await runTwoAlarms(key);
  expect(await keyStats(key)).toMatchObject({ admitted: 1 });
});

test("counts that can't be stored don't end the alarm", async () => {
  const key = await limitedKey({ rateLimit: { limit: 1_000, windowSeconds: 60 } });
  // The second one is served from what the first one reserved.
  for (let count = 0; count < 20; count++) await key.api("GET", "/key");
  await runInDurableObject(key.object(), (_object, { storage }) => {
    vi.spyOn(Object.getPrototypeOf(storage.kv), "put").mockImplementation(() => {
      throw new Error("database or disk is full: SQLITE_FULL");
    });
  });
  await runTwoAlarms(key);
  expect(await keyStats(key)).toMatchObject({ admitted: 20 });
});
