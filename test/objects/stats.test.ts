import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { alarmOf, type Conversation, chatOf, conversation, pass, stopTheClock } from "../delivery/conversation.ts";
import { aroundCall, breakDirectory, breakObjects, loseAnswers } from "../faults.ts";
import { admin, client, newKey, newOrganization, send, sendMany } from "../harness.ts";
import { accept, fakeNetworks, inTurn, lost, refuse, status } from "../networks.ts";

stopTheClock();

const statsOf = async (organizationId: string) => (await admin("GET", `/stats?organization=${organizationId}`)).body;

/** The numbers of a conversation's channel; every organization has a web channel before it. */
async function channelStats({ organizationId, channelId }: Conversation) {
  const { channels } = await statsOf(organizationId);
  return channels.find(({ id }: { id: string }) => id === channelId);
}

/** Lets a chat tell its channel, and the channel the directory. */
async function tellAll(chat: Conversation): Promise<void> {
  pass(2_000);
  await chat.run();
  await runDurableObjectAlarm(env.CHANNELS.getByName(chat.channelId));
}

const NO_ATTEMPTS = { sent: 0, retry: 0, failed: 0, unknown: 0, moved: 0, channel_broken: 0 };

test("a channel that has sent nothing has numbers too", async () => {
  const { organizationId, channelId } = await conversation("telegram");
  const { channels, pagination } = await statsOf(organizationId);
  expect(channels).toHaveLength(2);
  expect(channels.find(({ id }: { id: string }) => id === channelId)).toEqual({
    id: channelId,
    organizationId,
    kind: "telegram",
    name: "telegram",
    health: { state: "ok", reason: null, since: new Date().toISOString(), nextProbeAt: null },
    queue: { depth: 0, oldest: null, ageSeconds: null },
    attempts: NO_ATTEMPTS,
    updatedAt: null,
  });
  expect(pagination).toMatchObject({ page: 1, total: 2 });
});

test("what went out is counted, with one call to the channel and one write of the directory", async () => {
  fakeNetworks(accept);
  const chat = await conversation("telegram");
  await sendMany(chat.api, chat.chatId, 3);
  await chat.run();
  const channel = env.CHANNELS.getByName(chat.channelId);
  const calls = vi.spyOn(env.CHANNELS, "getByName");
  pass(2_000);
  await chat.run();
  expect(calls).toHaveBeenCalledTimes(1);
  const statements = vi.spyOn(env.DB, "prepare");
  await runDurableObjectAlarm(channel);
  expect(statements.mock.calls.filter(([text]) => text.startsWith("update channels"))).toHaveLength(1);
  const numbers = await channelStats(chat);
  expect(numbers).toMatchObject({ attempts: { ...NO_ATTEMPTS, sent: 3 }, queue: { depth: 0, oldest: null } });
  expect(numbers.updatedAt).toBe(new Date().toISOString());
  await tellAll(chat);
  expect(await alarmOf(chat.object())).toBeNull();
  expect(await alarmOf(env.CHANNELS.getByName(chat.channelId))).toBeNull();
});

test("what waits is seen with its age, and is gone when it went out", async () => {
  fakeNetworks(inTurn(status(503), status(503), accept));
  const chat = await conversation("telegram");
  const { createdAt } = await send(chat.api, chat.chatId);
  await chat.run();
  await tellAll(chat);
  const { queue, attempts } = await channelStats(chat);
  expect(queue).toEqual({
    depth: 1,
    oldest: createdAt,
    ageSeconds: Math.floor((Date.now() - Date.parse(createdAt)) / 1_000),
  });
  expect(attempts.retry).toBeGreaterThan(0);
  for (let turns = 0; turns < 3; turns++) {
    pass(600_000);
    await tellAll(chat);
  }
  expect(await channelStats(chat)).toMatchObject({
    queue: { depth: 0, oldest: null, ageSeconds: null },
    attempts: { ...NO_ATTEMPTS, retry: 2, sent: 1 },
  });
});

test("the queues of a channel's chats are one number, of which the oldest counts", async () => {
  fakeNetworks(status(503));
  const chat = await conversation("telegram");
  const first = await send(chat.api, chat.chatId);
  const other = { ...chat, ...(await chatOf(chat, chat.channelId)) };
  pass(1_000);
  await sendMany(other.api, other.chatId, 4);
  for (const each of [chat, other]) {
    await each.run();
    await tellAll(each);
  }
  expect((await channelStats(chat)).queue).toMatchObject({ depth: 5, oldest: first.createdAt });
});

test("each way in which an attempt may end has its count", async () => {
  fakeNetworks(inTurn(lost, refuse(400, "Bad Request: no"), accept));
  const chat = await conversation("telegram");
  await sendMany(chat.api, chat.chatId, 2);
  await chat.run();
  for (let turns = 0; turns < 3; turns++) {
    pass(600_000);
    await tellAll(chat);
  }
  expect((await channelStats(chat)).attempts).toEqual({ ...NO_ATTEMPTS, unknown: 1, failed: 1, sent: 1 });
});

test("a broken channel says when it is tried again", async () => {
  fakeNetworks(refuse(401, "Unauthorized"));
  const chat = await conversation("telegram");
  await send(chat.api, chat.chatId);
  await chat.run();
  const brokenAt = Date.now();
  await tellAll(chat);
  const { health, queue, attempts } = await channelStats(chat);
  expect(health).toMatchObject({ state: "broken", nextProbeAt: new Date(brokenAt + 300_000).toISOString() });
  expect([queue.depth, attempts.channel_broken]).toEqual([1, 1]);
});

test("a chat that is deleted takes what waited in it with it", async () => {
  fakeNetworks(status(503));
  const chat = await conversation("telegram");
  await send(chat.api, chat.chatId);
  await chat.run();
  await tellAll(chat);
  expect((await channelStats(chat)).queue.depth).toBe(1);
  expect((await admin("DELETE", `/chats/${chat.chatId}`)).status).toBe(200);
  await runDurableObjectAlarm(env.CHANNELS.getByName(chat.channelId));
  expect((await channelStats(chat)).queue).toEqual({ depth: 0, oldest: null, ageSeconds: null });
});

test("a chat that is deleted while it tells of what waits takes that with it too", async () => {
  fakeNetworks(status(503));
  const chat = await conversation("telegram");
  await send(chat.api, chat.chatId);
  const ofChat = chat.object();
  const ofChannel = env.CHANNELS.getByName(chat.channelId);
  aroundCall("CHANNELS", "active", { before: () => admin("DELETE", `/chats/${chat.chatId}`) });
  await runDurableObjectAlarm(ofChat);
  await runDurableObjectAlarm(ofChannel);
  expect((await channelStats(chat)).queue).toEqual({ depth: 0, oldest: null, ageSeconds: null });
});

test("a channel that is deleted leaves no numbers in its object", async () => {
  fakeNetworks(status(503));
  const chat = await conversation("telegram");
  await send(chat.api, chat.chatId);
  await chat.run();
  await tellAll(chat);
  expect((await admin("DELETE", `/channels/${chat.channelId}`)).status).toBe(200);
  const left = await runInDurableObject(env.CHANNELS.getByName(chat.channelId), (_object, { storage }) => [
    ...storage.kv.list(),
  ]);
  expect(left).toEqual([]);
  expect(await channelStats(chat)).toBeUndefined();
});

test("what a chat could not tell is told later, and once", async () => {
  fakeNetworks(accept);
  const chat = await conversation("telegram");
  await send(chat.api, chat.chatId);
  await chat.run();
  breakObjects("CHANNELS", "active");
  pass(2_000);
  await chat.run();
  vi.restoreAllMocks();
  fakeNetworks(accept);
  pass(30_000);
  await tellAll(chat);
  expect((await channelStats(chat)).attempts.sent).toBe(1);
});

test("what the directory does not take of a channel's numbers is written later, an eviction in between", async () => {
  fakeNetworks(status(503));
  const chat = await conversation("telegram");
  await send(chat.api, chat.chatId);
  await chat.run();
  await tellAll(chat);
  await sendMany(chat.api, chat.chatId, 2);
  pass(2_000);
  await chat.run();
  const channel = env.CHANNELS.getByName(chat.channelId);
  breakDirectory();
  await runDurableObjectAlarm(channel);
  vi.restoreAllMocks();
  expect((await channelStats(chat)).queue.depth).toBe(1);
  expect(await alarmOf(channel)).toBeLessThanOrEqual(Date.now() + 15_000);
  await evictDurableObject(channel);
  await runDurableObjectAlarm(channel);
  expect((await channelStats(chat)).queue.depth).toBe(3);
});

test("what the directory took of a channel's numbers never falls, though its answer and the instance got lost", async () => {
  fakeNetworks(accept);
  const chat = await conversation("telegram");
  await sendMany(chat.api, chat.chatId, 3);
  await chat.run();
  pass(2_000);
  await chat.run();
  const channel = env.CHANNELS.getByName(chat.channelId);
  loseAnswers(/^update channels set stats/);
  await runDurableObjectAlarm(channel);
  vi.restoreAllMocks();
  fakeNetworks(accept);
  expect((await channelStats(chat)).attempts.sent).toBe(3);
  await evictDurableObject(channel);
  await send(chat.api, chat.chatId);
  await chat.run();
  await tellAll(chat);
  expect((await channelStats(chat)).attempts.sent).toBe(4);
});

test("a chat that tells of its line alone costs the directory nothing of its own", async () => {
  fakeNetworks(inTurn(status(503), accept));
  const chat = await conversation("telegram");
  await send(chat.api, chat.chatId);
  await chat.run();
  await tellAll(chat);
  pass(600_000);
  await chat.run();
  pass(2_000);
  await chat.run();
  const channel = env.CHANNELS.getByName(chat.channelId);
  const collected = await runInDurableObject(channel, (_object, { storage }) =>
    storage.sql.exec("select * from activity").toArray(),
  );
  expect(collected).toEqual([]);
  await runDurableObjectAlarm(channel);
  expect((await channelStats(chat)).attempts).toEqual({ ...NO_ATTEMPTS, retry: 1, sent: 1 });
});

/** A key with a limit, and what asks with it. */
async function limitedKey(body: object) {
  const { organizationId } = await newOrganization();
  const { key, secret } = await newKey(organizationId, { ...body });
  return { organizationId, keyId: key.id as string, api: client(secret), object: () => env.KEYS.getByName(key.id) };
}

async function keyStats({ organizationId, keyId }: { organizationId: string; keyId: string }) {
  const { keys } = await statsOf(organizationId);
  return keys.find(({ id }: { id: string }) => id === keyId);
}

const NO_REFUSALS = { invalid_api_key: 0, ip_not_allowed: 0, permission_denied: 0, rate_limited: 0, quota_exceeded: 0 };

test("a key's requests are counted, admitted and refused, those too that are refused from memory", async () => {
  const key = await limitedKey({ rateLimit: { limit: 3, windowSeconds: 60 }, permissions: ["chats:read"] });
  expect(await keyStats(key)).toMatchObject({ admitted: 0, refused: NO_REFUSALS, updatedAt: null });
  for (const path of ["/key", "/chats", "/chats/cht_gaaaaaaaaaaaaaaa/messages", "/key"]) await key.api("GET", path);
  const calls = vi.spyOn(env.KEYS, "getByName");
  for (let n = 0; n < 4; n++) expect((await key.api("GET", "/key")).status).toBe(429);
  expect(calls).toHaveBeenCalledTimes(1);
  pass(1_001);
  // The key's object hears of the three that were refused without it.
  expect((await key.api("GET", "/key")).status).toBe(429);
  await runDurableObjectAlarm(key.object());
  expect(await keyStats(key)).toMatchObject({
    admitted: 3,
    refused: { ...NO_REFUSALS, permission_denied: 1, rate_limited: 5 },
    updatedAt: new Date().toISOString(),
  });
});

test("a refusal that comes late forgets none that was given from memory meanwhile", async () => {
  const key = await limitedKey({ rateLimit: { limit: 1, windowSeconds: 60 } });
  const object = key.object();
  await key.api("GET", "/key");
  const gate = Promise.withResolvers<void>();
  aroundCall("KEYS", "admit", { after: () => gate.promise });
  const late = key.api("GET", "/key");
  expect((await key.api("GET", "/key")).status).toBe(429);
  expect((await key.api("GET", "/key")).status).toBe(429);
  gate.resolve();
  expect((await late).status).toBe(429);
  pass(1_001);
  await key.api("GET", "/key");
  await runDurableObjectAlarm(object);
  expect((await keyStats(key)).refused.rate_limited).toBe(4);
});

test("a revoked key's requests, a wrong address's and those over the quota are counted as what they are", async () => {
  const key = await limitedKey({ monthlyQuota: 1 });
  for (let n = 0; n < 3; n++) await key.api("GET", "/key");
  await admin("PATCH", `/keys/${key.keyId}`, { ipAllowlist: ["192.0.2.1"], monthlyQuota: null });
  await key.api("GET", "/key");
  await admin("DELETE", `/keys/${key.keyId}`);
  await key.api("GET", "/key");
  await runDurableObjectAlarm(key.object());
  expect(await keyStats(key)).toMatchObject({
    admitted: 1,
    refused: { ...NO_REFUSALS, quota_exceeded: 2, ip_not_allowed: 1, invalid_api_key: 1 },
  });
});

test("what a key's own request stores waits a minute, what is in memory alone is stored after 5 s", async () => {
  const key = await limitedKey({});
  const alarm = () => alarmOf(key.object()).then((at) => (at ?? 0) - Date.now());
  await key.api("GET", "/key");
  expect(await alarm()).toBe(60_000);
  pass(2_000);
  await key.api("GET", "/key");
  expect(await alarm()).toBe(58_000);
  // From here on units are reserved ahead.
  await key.api("GET", "/key");
  await key.api("GET", "/key");
  expect(await alarm()).toBe(5_000);
});

test("a key that is used all the time writes to the directory once a minute", async () => {
  const key = await limitedKey({});
  let written = 0;
  const prepare = env.DB.prepare.bind(env.DB);
  vi.spyOn(env.DB, "prepare").mockImplementation((text) => {
    if (text.startsWith("update api_keys set stats")) written++;
    return prepare(text);
  });
  for (let second = 0; second < 120; second++) {
    await key.api("GET", "/key");
    pass(999);
    if (((await alarmOf(key.object())) ?? 0) <= Date.now()) await runDurableObjectAlarm(key.object());
  }
  expect(written).toBe(2);
  pass(60_000);
  await runDurableObjectAlarm(key.object());
  expect(written).toBe(3);
  expect((await keyStats(key)).admitted).toBe(120);
  expect(await alarmOf(key.object())).toBeNull();
});

test("an eviction costs no count of a request that was stored, and none that is older than 5 s", async () => {
  const key = await limitedKey({});
  await key.api("GET", "/key");
  await evictDurableObject(key.object());
  for (let n = 0; n < 4; n++) await key.api("GET", "/key");
  pass(5_000);
  await runDurableObjectAlarm(key.object());
  await evictDurableObject(key.object());
  pass(60_000);
  await key.api("GET", "/key");
  await runDurableObjectAlarm(key.object());
  expect((await keyStats(key)).admitted).toBe(6);
});

test("what the directory does not take of a key's numbers is written a minute later, an eviction in between", async () => {
  const key = await limitedKey({});
  await key.api("GET", "/key");
  breakDirectory();
  await runDurableObjectAlarm(key.object());
  vi.restoreAllMocks();
  expect((await keyStats(key)).updatedAt).toBeNull();
  expect(await alarmOf(key.object())).toBe(Date.now() + 60_000);
  await evictDurableObject(key.object());
  pass(60_000);
  await runDurableObjectAlarm(key.object());
  expect((await keyStats(key)).admitted).toBe(1);
});

test("units that were reserved ahead are given back before the object rests: an eviction after it costs none", async () => {
  const key = await limitedKey({ monthlyQuota: 100_000 });
  const usage = async () => (await admin("GET", `/keys/${key.keyId}/usage`)).body.usage;
  for (let burst = 1; burst <= 3; burst++) {
    for (let n = 0; n < 3; n++) await key.api("GET", "/key");
    pass(5_000);
    await runDurableObjectAlarm(key.object());
    await evictDurableObject(key.object());
    expect(await usage()).toMatchObject({ used: 3 * burst, window: { remaining: 300 - 3 * burst } });
    pass(10_000);
  }
});

test("a key whose units are given back amid its window has each of them once", async () => {
  const key = await limitedKey({ rateLimit: { limit: 100, windowSeconds: 3_600 } });
  const statuses: number[] = [];
  for (let n = 0; n < 105; n++) {
    statuses.push((await key.api("GET", "/key")).status);
    if (n % 7 === 0) await runDurableObjectAlarm(key.object());
    if (n % 21 === 0) await evictDurableObject(key.object());
    pass(300);
  }
  expect(statuses.filter((status) => status === 200)).toHaveLength(100);
  expect(statuses.slice(100)).toEqual(Array.from({ length: 5 }, () => 429));
});

test("an erased key's object keeps nothing, though its numbers were on their way", async () => {
  const key = await limitedKey({});
  for (let n = 0; n < 4; n++) await key.api("GET", "/key");
  expect((await admin("DELETE", `/organizations/${key.organizationId}`)).status).toBe(200);
  await runDurableObjectAlarm(key.object());
  const left = await runInDurableObject(key.object(), async (_object, { storage }) => [
    ...storage.kv.list(),
    await storage.getAlarm(),
  ]);
  expect(left).toEqual([null]);
});

test("the numbers of an unknown organization are a 404, and a page past the end is empty", async () => {
  expect((await admin("GET", "/stats?organization=org_gaaaaaaaaaaaaaaa")).status).toBe(404);
  const { organizationId } = await newOrganization();
  const { body } = await admin("GET", `/stats?organization=${organizationId}&page=9`);
  expect(body).toMatchObject({ channels: [], keys: [], pagination: { page: 9, total: 1, hasMore: false } });
});

test("reading the numbers asks no object", async () => {
  const { organizationId } = await newOrganization();
  const spies = [env.KEYS, env.CHATS, env.CHANNELS].map((namespace) => vi.spyOn(namespace, "getByName"));
  await statsOf(organizationId);
  expect(spies.map((spy) => spy.mock.calls.length)).toEqual([0, 0, 0]);
});
