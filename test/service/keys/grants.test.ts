import { evictDurableObject } from "cloudflare:test";
import { expect, test, vi } from "vitest";
import type { KeyObject } from "../../../src/keys/object/key-object.ts";
import { newIsolate } from "../../deep/models/isolates.ts";
import { runAlarm } from "../../support/alarms.ts";
import { aroundCall, breakObjects, countCalls, replaceMethod } from "../../support/faults.ts";
import { withGrants } from "../../support/grants.ts";
import { expectError, statsOf } from "../../support/harness.ts";
import { until } from "../../support/until.ts";
import { stopTheClock } from "../chats/object/delivery/conversation.ts";
import { awakeKey, getGrant, remaining, untilUsed } from "./grants-fixtures.ts";

stopTheClock();
withGrants();

test("a busy isolate admits requests without a call, and what remains falls by one each time", async () => {
  const key = await awakeKey();
  const calls = countCalls("KEYS", "admit");
  const left: number[] = [];
  for (let n = 0; n < 40; n++) left.push(remaining(await key.get()));
  expect(left).toEqual(Array.from({ length: 40 }, (_, n) => 998 - n));
  // Those without a grant, and those that got 3, 7, 15 and 31 units.
  expect(calls()).toBe(6);
  await key.waits.pass(2_000);
  await untilUsed(key, 41);
  expect(await key.usage()).toMatchObject({ used: 41, window: { remaining: 959 } });
});

test("an isolate with two requests a second gets nothing ahead", async () => {
  const key = await awakeKey();
  const calls = countCalls("KEYS", "admit");
  for (let n = 0; n < 10; n++) {
    await key.get();
    await key.waits.pass(500);
  }
  expect([calls(), (await key.usage()).used]).toEqual([10, 11]);
});

test("an object that just woke grants nothing for a second", async () => {
  const key = await awakeKey();
  await evictDurableObject(key.object());
  const calls = countCalls("KEYS", "admit");
  for (let n = 0; n < 5; n++) await key.get();
  await key.waits.pass(999);
  for (let n = 0; n < 5; n++) await key.get();
  expect(calls()).toBe(10);
  await key.waits.pass(1);
  for (let n = 0; n < 5; n++) await key.get();
  expect(calls()).toBe(11);
});

test("a grant is over after half a second, and its units go back with the next call", async () => {
  const key = await awakeKey();
  const left = await getGrant(key);
  const calls = countCalls("KEYS", "admit");
  await key.waits.pass(499);
  expect([remaining(await key.get()), calls()]).toEqual([left - 1, 0]);
  expect((await key.usage()).used).toBe(7);
  await key.waits.pass(1);
  expect([remaining(await key.get()), calls()]).toEqual([left - 2, 1]);
  await key.waits.pass(2_000);
  await untilUsed(key, 6);
});

test("unused units go back by a call of their own", async () => {
  const key = await awakeKey();
  await getGrant(key);
  const calls = countCalls("KEYS", "giveBack");
  await key.waits.pass(1_749);
  expect([calls(), (await key.usage()).used]).toEqual([0, 7]);
  await key.waits.pass(1);
  await untilUsed(key, 4);
  expect(calls()).toBe(1);
});

test("a grant that is used up is not returned by a call of its own", async () => {
  const key = await awakeKey();
  await getGrant(key);
  for (let n = 0; n < 3; n++) await key.get();
  const calls = countCalls("KEYS", "giveBack");
  await key.waits.pass(2_000);
  expect([calls(), (await key.usage()).used]).toEqual([0, 7]);
});

test("a grant counts once, however often it is returned", async () => {
  const key = await awakeKey();
  await getGrant(key);
  const returned: Parameters<KeyObject["giveBack"]>[] = [];
  replaceMethod("KEYS", "giveBack", (original) => (...given) => {
    returned.push(given as Parameters<KeyObject["giveBack"]>);
    return original(...given);
  });
  await key.waits.pass(2_000);
  await untilUsed(key, 4);
  vi.restoreAllMocks();
  for (const given of returned) await key.object().giveBack(...given);
  expect([returned.length, (await key.usage()).used]).toEqual([1, 4]);
});

test("a grant that a failed call returns is returned with the next one", async () => {
  const key = await awakeKey();
  await getGrant(key);
  await key.waits.pass(500);
  breakObjects("KEYS", "admit");
  expectError(await key.get(), 503, "unavailable");
  vi.restoreAllMocks();
  // It brings a new grant, of five units.
  expect((await key.get()).status).toBe(200);
  expect((await key.usage()).used).toBe(4 + 1 + 5);
});

test("a grant whose answer is lost is returned with the next call", async () => {
  const key = await awakeKey();
  for (let n = 0; n < 2; n++) await key.get();
  aroundCall("KEYS", "admit", { after: () => Promise.reject(new Error("internal error; reference = 1")) });
  expectError(await key.get(), 503, "unavailable");
  vi.restoreAllMocks();
  expect((await key.usage()).used).toBe(4 + 3);
  expect((await key.get({ "CF-Connecting-IP": "192.0.2.1" })).status).toBe(200);
  expect((await key.usage()).used).toBe(4 + 1);
});

test("a grant whose answer is lost is returned half a second later if no call comes", async () => {
  const key = await awakeKey();
  for (let n = 0; n < 2; n++) await key.get();
  aroundCall("KEYS", "admit", { after: () => Promise.reject(new Error("internal error; reference = 1")) });
  expectError(await key.get(), 503, "unavailable");
  vi.restoreAllMocks();
  await key.waits.begun(500);
  await key.waits.pass(499);
  expect((await key.usage()).used).toBe(4 + 3);
  await key.waits.pass(1);
  await untilUsed(key, 4);
});

test("a give-back that fails is made again half a second later", async () => {
  const key = await awakeKey();
  await getGrant(key);
  breakObjects("KEYS", "giveBack", (call) => call === 1);
  await key.waits.pass(1_750);
  await key.waits.begun(500);
  expect((await key.usage()).used).toBe(7);
  await key.waits.pass(500);
  await untilUsed(key, 4);
});

test("a give-back that fails is made again with the next call", async () => {
  const key = await awakeKey();
  await getGrant(key);
  breakObjects("KEYS", "giveBack");
  await key.waits.pass(2_000);
  await untilUsed(key, 7);
  vi.restoreAllMocks();
  expect((await key.get({ "CF-Connecting-IP": "192.0.2.1" })).status).toBe(200);
  expect((await key.usage()).used).toBe(4 + 1);
});

test("a refusal shows what its isolate holds as left", async () => {
  const key = await awakeKey({ permissions: ["chats:read"] });
  const left = await getGrant(key);
  const refused = await key.ask(key.secret, "GET", "/api/v1/events");
  expect([refused.status, remaining(refused)]).toEqual([403, left]);
});

test("an eviction costs what was granted, and the grant can't be returned to the next instance", async () => {
  const key = await awakeKey();
  await getGrant(key);
  await evictDurableObject(key.object());
  const { used } = await key.usage();
  expect(used).toBeGreaterThanOrEqual(7);
  const calls = countCalls("KEYS", "giveBack");
  await key.waits.pass(2_000);
  await until("units are given back", calls);
  expect(calls()).toBe(1);
  expect((await key.usage()).used).toBe(used);
});

test.each([
  [19, 0],
  [20, 1],
  [21, 1],
  [300, 3],
])("with a limit of %i, an isolate gets %i units ahead after its third request", async (limit, units) => {
  const key = await awakeKey({ rateLimit: { limit, windowSeconds: 3_600 } });
  await getGrant(key);
  expect((await key.usage()).used).toBe(4 + units);
});

test.each([
  [99, 0],
  [100, 1],
  [299, 2],
])("with %i units left of a quota, an isolate gets one percent of them: %i", async (left, units) => {
  const key = await awakeKey({ monthlyQuota: 4 + left });
  await getGrant(key);
  expect((await key.usage()).used).toBe(4 + units);
});

test("while less than a fifth of the limit is left, nobody gets units ahead", async () => {
  const key = await awakeKey({ rateLimit: { limit: 40, windowSeconds: 3_600 } });
  for (let n = 0; n < 31; n++) expect((await key.get()).status).toBe(200);
  await key.waits.pass(2_000);
  await untilUsed(key, 32);
  for (let n = 0; n < 5; n++) expect((await key.get()).status).toBe(200);
  expect((await key.usage()).used).toBe(37);
});

test("a grant is for its own address and permission", async () => {
  const key = await awakeKey();
  const calls = countCalls("KEYS", "admit");
  await getGrant(key);
  await key.get({ "CF-Connecting-IP": "192.0.2.1" });
  await key.ask(key.secret, "GET", "/api/v1/key");
  expect(calls()).toBe(5);
  await key.get();
  expect(calls()).toBe(5);
});

test("GET /key counts what its isolate holds as not used", async () => {
  const key = await awakeKey();
  await getGrant(key);
  const { body, headers } = await key.ask(key.secret, "GET", "/api/v1/key");
  expect(body.usage).toMatchObject({ used: 5, window: { remaining: 995 } });
  expect(headers.get("X-RateLimit-Remaining")).toBe("995");
});

test("two isolates hold at most 5 % of the limit together", async () => {
  const key = await awakeKey({ rateLimit: { limit: 100, windowSeconds: 3_600 } });
  const other = newIsolate();
  for (let n = 0; n < 3; n++) await key.get();
  for (let n = 0; n < 3; n++) expect((await other(key.secret, "GET", "/api/v1/chats")).status).toBe(200);
  // One request each besides the three and three, three units for the first isolate and two for the other.
  expect((await key.usage()).used).toBe(7 + 3 + 2);
});

test("a clock that is set back ends a grant", async () => {
  const key = await awakeKey();
  await getGrant(key);
  const calls = countCalls("KEYS", "admit");
  vi.setSystemTime(Date.now() - 1);
  await key.get();
  expect(calls()).toBe(1);
});

test("a clock that stands still does not prolong a grant", async () => {
  const key = await awakeKey();
  const now = Date.now();
  await getGrant(key);
  await key.waits.pass(500);
  vi.setSystemTime(now);
  const calls = countCalls("KEYS", "admit");
  await key.get();
  expect(calls()).toBe(1);
});
test("a key's statistics count what was used of a grant, and not what was returned", async () => {
  const key = await awakeKey();
  await getGrant(key);
  await key.get();
  await key.waits.pass(500);
  await key.get();
  const ringing = runAlarm(key.object());
  await key.waits.pass(1_000);
  await ringing;
  const { keys } = await statsOf(key.organizationId);
  expect(keys.find(({ id }: { id: string }) => id === key.id).admitted).toBe(6);
});
