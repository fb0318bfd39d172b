import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { aroundCall, breakDirectory, breakObjects, loseAnswers, OUTAGES } from "../../support/faults.ts";
import { admin, send, sendMany, statsOf } from "../../support/harness.ts";
import { accept, fakeNetworks, inTurn, lost, refuse, status } from "../../support/networks.ts";
import { alarmOf, type Conversation, chatOf, conversation, pass, stopTheClock } from "../delivery/conversation.ts";

stopTheClock();

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

/** A chat with a message that its network did not take, and whose channel was told of it. */
async function waiting(): Promise<Conversation> {
  fakeNetworks(status(503));
  const chat = await conversation("telegram");
  await send(chat.api, chat.chatId);
  await chat.run();
  await tellAll(chat);
  return chat;
}

const NO_ATTEMPTS = { sent: 0, retry: 0, failed: 0, unknown: 0, moved: 0, channel_broken: 0 };

test("a channel that has sent nothing has statistics", async () => {
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

test("a waiting message is counted with its age until it is sent", async () => {
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

test("a broken channel shows when it is probed next", async () => {
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
  const chat = await waiting();
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
  aroundCall("CHANNELS", "reportActivity", { before: () => admin("DELETE", `/chats/${chat.chatId}`) });
  await runDurableObjectAlarm(ofChat);
  await runDurableObjectAlarm(ofChannel);
  expect((await channelStats(chat)).queue).toEqual({ depth: 0, oldest: null, ageSeconds: null });
});

test("a channel that is deleted leaves no numbers in its object", async () => {
  const chat = await waiting();
  expect((await admin("DELETE", `/channels/${chat.channelId}`)).status).toBe(200);
  const left = await runInDurableObject(env.CHANNELS.getByName(chat.channelId), (_object, { storage }) => [
    ...storage.kv.list(),
  ]);
  expect(left).toEqual([]);
  expect(await channelStats(chat)).toBeUndefined();
});

test("a failed report of a chat is repeated later and counts once", async () => {
  fakeNetworks(accept);
  const chat = await conversation("telegram");
  await send(chat.api, chat.chatId);
  await chat.run();
  breakObjects("CHANNELS", "reportActivity");
  pass(2_000);
  await chat.run();
  vi.restoreAllMocks();
  fakeNetworks(accept);
  pass(30_000);
  await tellAll(chat);
  expect((await channelStats(chat)).attempts.sent).toBe(1);
});

test.each(OUTAGES)(
  "what the directory does not take of a channel's numbers is written later, an eviction in between (%s error)",
  async (outage) => {
    const chat = await waiting();
    await sendMany(chat.api, chat.chatId, 2);
    pass(2_000);
    await chat.run();
    const channel = env.CHANNELS.getByName(chat.channelId);
    breakDirectory(outage);
    await runDurableObjectAlarm(channel);
    vi.restoreAllMocks();
    expect((await channelStats(chat)).queue.depth).toBe(1);
    expect(await alarmOf(channel)).toBeLessThanOrEqual(Date.now() + 15_000);
    await evictDurableObject(channel);
    await runDurableObjectAlarm(channel);
    expect((await channelStats(chat)).queue.depth).toBe(3);
  },
);

test.each(OUTAGES)(
  "what the directory took of a channel's numbers never falls, though its answer and the instance got lost (%s error)",
  async (outage) => {
    fakeNetworks(accept);
    const chat = await conversation("telegram");
    await sendMany(chat.api, chat.chatId, 3);
    await chat.run();
    pass(2_000);
    await chat.run();
    const channel = env.CHANNELS.getByName(chat.channelId);
    loseAnswers(outage, /^update channels set stats/);
    await runDurableObjectAlarm(channel);
    vi.restoreAllMocks();
    fakeNetworks(accept);
    expect((await channelStats(chat)).attempts.sent).toBe(3);
    await evictDurableObject(channel);
    await send(chat.api, chat.chatId);
    await chat.run();
    await tellAll(chat);
    expect((await channelStats(chat)).attempts.sent).toBe(4);
  },
);

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

test.each([false, true])(
  "attempts of a report whose answer was lost are counted once, though it is told again (at once: %s)",
  async (retryable) => {
    fakeNetworks(accept);
    const chat = await conversation("telegram");
    await send(chat.api, chat.chatId);
    await chat.run();
    const answerLost = () => {
      throw Object.assign(new Error("Network connection lost."), { retryable });
    };
    aroundCall("CHANNELS", "reportActivity", { after: answerLost });
    pass(2_000);
    await chat.run();
    vi.restoreAllMocks();
    await send(chat.api, chat.chatId);
    pass(30_000);
    await chat.run();
    await tellAll(chat);
    await tellAll(chat);
    expect((await channelStats(chat)).attempts).toEqual({ ...NO_ATTEMPTS, sent: 2 });
    expect(await alarmOf(chat.object())).toBeNull();
  },
);
