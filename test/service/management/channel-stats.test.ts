import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { countCalls, countRoundTrips } from "../../support/faults.ts";
import { admin, newChat, newOrganization, send, sendMany, statsOf } from "../../support/harness.ts";
import { accept, fakeNetworks, inTurn, lost, refuse, status } from "../../support/networks.ts";
import { report as reportNow, writeAsContact } from "../chats/inbound.ts";
import { alarmOf, chatOf, conversation, pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { channelStats, delivered, NO_ATTEMPTS, NO_QUEUE, report } from "./channel-stats-fixtures.ts";

stopTheClock();

test("a channel that has sent nothing has statistics", async () => {
  const { organizationId, channelId } = await conversation("telegram");
  const { channels, pagination } = await statsOf(organizationId);
  expect(channels).toHaveLength(2);
  expect(channels.find(({ id }: { id: string }) => id === channelId)).toEqual({
    id: channelId,
    organizationId,
    kind: "telegram",
    name: "telegram",
    health: {
      state: "ok",
      reason: null,
      since: new Date().toISOString(),
      isVerified: false,
      warnings: [],
      unknown: {},
      nextProbeAt: null,
    },
    queue: NO_QUEUE,
    chats: 1,
    unanswered: 0,
    withBot: 0,
    handovers: { bot_asked: 0, asked: 0, took_over: 0, bot_silent: 0, bot_gone: 0 },
    attempts: NO_ATTEMPTS,
    received: 0,
    updatedAt: null,
  });
  expect(pagination).toMatchObject({ page: 1, total: 2 });
});

test("sent messages are counted with one report of the chat and no query of the directory", async () => {
  fakeNetworks(accept);
  const chat = await conversation("telegram");
  await sendMany(chat.api, chat.chatId, 3);
  await delivered(chat);
  const reports = countCalls("ORGANIZATIONS", "report");
  const roundTrips = countRoundTrips();
  await report(chat);
  expect([reports(), roundTrips()]).toEqual([1, 0]);
  const stats = await channelStats(chat);
  expect(stats).toMatchObject({ attempts: { ...NO_ATTEMPTS, sent: 3 }, queue: NO_QUEUE });
  expect(stats.updatedAt).toBe(new Date().toISOString());
  expect(await alarmOf(chat.object())).toBeNull();
  await report(chat);
  expect(reports()).toBe(1);
});

test("a waiting message is counted with its age until it is sent", async () => {
  fakeNetworks(inTurn(status(503), status(503), accept));
  const chat = await conversation("telegram");
  const { createdAt } = await send(chat.api, chat.chatId);
  await chat.run();
  await report(chat);
  const { queue, attempts } = await channelStats(chat);
  expect(queue).toEqual({
    depth: 1,
    oldest: createdAt,
    ageSeconds: Math.floor((Date.now() - Date.parse(createdAt)) / 1_000),
  });
  expect(attempts.retry).toBeGreaterThan(0);
  for (let turns = 0; turns < 3; turns++) {
    pass(600_000);
    await chat.run();
    await report(chat);
  }
  expect(await channelStats(chat)).toMatchObject({
    queue: NO_QUEUE,
    attempts: { ...NO_ATTEMPTS, retry: 2, sent: 1 },
  });
});

test("a channel's queue is the sum of its chats' queues, with the oldest message of all", async () => {
  fakeNetworks(status(503));
  const chat = await conversation("telegram");
  const first = await send(chat.api, chat.chatId);
  const other = { ...chat, ...(await chatOf(chat, chat.channelId)) };
  pass(1_000);
  await sendMany(other.api, other.chatId, 4);
  for (const each of [chat, other]) {
    await each.run();
    await report(each);
  }
  expect((await channelStats(chat)).queue).toMatchObject({ depth: 5, oldest: first.createdAt });
});

test("each outcome of an attempt has its own count", async () => {
  fakeNetworks(inTurn(lost, refuse(400, "Bad Request: no"), accept));
  const chat = await conversation("telegram");
  await sendMany(chat.api, chat.chatId, 2);
  await chat.run();
  for (let turns = 0; turns < 3; turns++) {
    pass(600_000);
    await chat.run();
    await report(chat);
  }
  expect((await channelStats(chat)).attempts).toEqual({ ...NO_ATTEMPTS, unknown: 1, failed: 1, sent: 1 });
});

test("a broken channel shows when it is probed next", async () => {
  fakeNetworks(refuse(401, "Unauthorized"));
  const chat = await conversation("telegram");
  await send(chat.api, chat.chatId);
  await chat.run();
  const brokenAt = Date.now();
  await report(chat);
  const { health, queue, attempts } = await channelStats(chat);
  expect(health).toMatchObject({ state: "broken", nextProbeAt: new Date(brokenAt + 300_000).toISOString() });
  expect([queue.depth, attempts.channel_broken]).toEqual([1, 1]);
});

test("the messages of a web chat are counted, in and out, like those of a network", async () => {
  const { api, organizationId, channelId } = await newOrganization();
  const { id } = await newChat(api, channelId);
  await sendMany(api, id, 2);
  await writeAsContact(organizationId, id);
  pass(5_000);
  await reportNow(id);
  const { channels } = await statsOf(organizationId);
  expect(channels[0]).toMatchObject({ attempts: { ...NO_ATTEMPTS, sent: 2 }, received: 1 });
  const { buckets } = (await admin("GET", `/stats/history?of=${channelId}&by=day`)).body.history;
  expect(buckets.at(-1)).toMatchObject({ attempts: { ...NO_ATTEMPTS, sent: 2 }, received: 1 });
  expect(buckets[0]).toMatchObject({ attempts: NO_ATTEMPTS, received: 0 });
});

test("an organization's object names the counts of a channel as Workers of earlier versions read them", async () => {
  const { api, organizationId, channelId } = await newOrganization();
  const { id } = await newChat(api, channelId);
  await sendMany(api, id, 2);
  await reportNow(id);
  const { channels } = await env.ORGANIZATIONS.getByName(organizationId).numbers([channelId], []);
  expect(channels[0]).toMatchObject({ id: channelId, attempts: { sent: 2 } });
});

test("a channel is verified once its network has accepted a message", async () => {
  fakeNetworks(inTurn(status(503), accept));
  const chat = await conversation("telegram");
  const isVerified = async () => (await admin("GET", `/channels/${chat.channelId}`)).body.channel.health.isVerified;
  await send(chat.api, chat.chatId);
  await chat.run();
  await report(chat);
  expect(await isVerified()).toBe(false);
  pass(60_000);
  await chat.run();
  await report(chat);
  expect(await isVerified()).toBe(true);
});
