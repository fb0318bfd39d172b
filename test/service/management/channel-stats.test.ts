import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { runAlarm } from "../../support/alarms.ts";
import { asOwner } from "../../support/as-owner.ts";
import {
  aroundCall,
  breakDirectory,
  breakObjects,
  countCalls,
  countRoundTrips,
  OUTAGES,
} from "../../support/faults.ts";
import { admin, newChat, newOrganization, send, sendMany, statsOf } from "../../support/harness.ts";
import { untilQueueIsEmpty } from "../../support/message-status.ts";
import { accept, fakeNetworks, inTurn, lost, refuse, status } from "../../support/networks.ts";
import { storedChat } from "../../support/stored.ts";
import { neverRing } from "../../support/timers.ts";
import { gate } from "../../support/until.ts";
import { report as reportNow, writeAsContact } from "../chats/inbound.ts";
import {
  alarmOf,
  type Conversation,
  chatOf,
  conversation,
  pass,
  stopTheClock,
} from "../chats/object/delivery/conversation.ts";

stopTheClock();

/** The statistics of a conversation's channel; every organization has a web channel before it. */
async function channelStats({ organizationId, channelId }: Conversation) {
  const { channels } = await statsOf(organizationId);
  return channels.find(({ id }: { id: string }) => id === channelId);
}

/** Runs the chat's alarm when its next report is due. */
async function report(chat: Pick<Conversation, "run">): Promise<void> {
  pass(5_000);
  await chat.run();
}

/** Waits until the network has accepted all messages. An alarm that rings after that reports early. */
async function delivered(chat: Conversation): Promise<void> {
  await untilQueueIsEmpty(chat.chatId);
}

/** A chat with a message that its network did not accept, and that its chat has reported. */
async function waiting(): Promise<Conversation> {
  fakeNetworks(status(503));
  const chat = await conversation("telegram");
  await send(chat.api, chat.chatId);
  await chat.run();
  await report(chat);
  return chat;
}

const NO_ATTEMPTS = { sent: 0, retry: 0, failed: 0, unknown: 0, moved: 0, channel_broken: 0 };
const NO_QUEUE = { depth: 0, oldest: null, ageSeconds: null };

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

/** A hook that stops a call until `resume`. */
function pause() {
  const { pass: hook, reached, open: resume } = gate("the call");
  return { hook, reached, resume };
}

/** Deletes a chat with a reported waiting message and a second one that is not reported. */
const DELETIONS: Record<string, (chat: Conversation, remove: () => Promise<void>) => Promise<unknown>> = {
  "and stops reporting": async (_chat, remove) => remove(),
  "before its report arrives": async (chat, remove) => {
    aroundCall("ORGANIZATIONS", "report", { before: remove });
    await report(chat);
  },
  "after its report arrived and before the response": async (chat, remove) => {
    aroundCall("ORGANIZATIONS", "report", { after: remove });
    await report(chat);
  },
  "and reports before its object is emptied": async (chat, remove) => {
    const erasure = pause();
    aroundCall("CHATS", "erase", { before: erasure.hook });
    const removed = remove();
    await erasure.reached();
    vi.restoreAllMocks();
    await report(chat);
    erasure.resume();
    await removed;
  },
  "and whose report arrives after its object was emptied": async (chat, remove) => {
    const arrival = pause();
    aroundCall("ORGANIZATIONS", "report", { before: arrival.hook });
    const reported = report(chat);
    await arrival.reached();
    const erasure = pause();
    aroundCall("CHATS", "erase", { after: erasure.hook });
    const removed = remove();
    await erasure.reached();
    arrival.resume();
    await reported;
    erasure.resume();
    await removed;
  },
  "by two requests at once": (_chat, remove) => Promise.all([remove(), remove()]),
  "by a request that is repeated because it failed": async ({ chatId }, remove) => {
    breakObjects("CHATS", "erase");
    expect((await admin("DELETE", `/chats/${chatId}`)).status).toBe(503);
    vi.restoreAllMocks();
    await remove();
  },
  "by the organization's alarm because the request failed": async ({ chatId, organizationId }) => {
    breakObjects("CHATS", "erase");
    expect((await admin("DELETE", `/chats/${chatId}`)).status).toBe(503);
    vi.restoreAllMocks();
    pass(36_000);
    await runAlarm(env.ORGANIZATIONS.getByName(organizationId));
  },
};

test.each(Object.entries(DELETIONS))(
  "a chat that is deleted %s no longer counts in the channel's queue",
  async (_when, deletion) => {
    // No deletion gives up a call that the test holds.
    neverRing(10_000);
    const chat = await waiting();
    expect((await channelStats(chat)).queue.depth).toBe(1);
    await send(chat.api, chat.chatId);
    await deletion(chat, async () => {
      expect([200, 404]).toContain((await admin("DELETE", `/chats/${chat.chatId}`)).status);
    });
    vi.restoreAllMocks();
    expect(await storedChat(chat.organizationId, chat.chatId)).toBeUndefined();
    expect((await channelStats(chat)).queue).toEqual(NO_QUEUE);
  },
);

test("a contact's new chat after a deletion starts with an empty queue", async () => {
  const chat = await waiting();
  expect((await admin("DELETE", `/chats/${chat.chatId}`)).status).toBe(200);
  const again = { ...chat, ...(await chatOf(chat, chat.channelId, chat.address)) };
  await report(again);
  expect((await channelStats(chat)).queue).toEqual(NO_QUEUE);
  await sendMany(again.api, again.chatId, 2);
  await report(again);
  expect((await channelStats(chat)).queue.depth).toBe(2);
});

test("a deleted channel leaves a mark in its object, and no data", async () => {
  const chat = await waiting();
  expect((await admin("DELETE", `/channels/${chat.channelId}`)).status).toBe(200);
  const left = await runInDurableObject(env.CHANNELS.getByName(chat.channelId), (_object, { storage }) => [
    ...storage.kv.list(),
  ]);
  expect(left).toEqual([["erased", true]]);
  expect(await channelStats(chat)).toBeUndefined();
});

test("a failed report of a chat is repeated later and counts once", async () => {
  fakeNetworks(accept);
  const chat = await conversation("telegram");
  await send(chat.api, chat.chatId);
  await delivered(chat);
  breakObjects("ORGANIZATIONS", "report");
  await report(chat);
  vi.restoreAllMocks();
  fakeNetworks(accept);
  expect((await channelStats(chat)).attempts.sent).toBe(0);
  expect(await alarmOf(chat.object())).toBeLessThanOrEqual(Date.now() + 20_000);
  await evictDurableObject(chat.object());
  pass(20_000);
  await chat.run();
  await report(chat);
  expect((await channelStats(chat)).attempts.sent).toBe(1);
  expect(await alarmOf(chat.object())).toBeNull();
});

test.each(OUTAGES)(
  "a chat reports its queue while the directory is down, and an eviction loses nothing (%s error)",
  async (outage) => {
    const chat = await waiting();
    await sendMany(chat.api, chat.chatId, 2);
    breakDirectory(outage);
    await report(chat);
    vi.restoreAllMocks();
    await evictDurableObject(env.ORGANIZATIONS.getByName(chat.organizationId));
    expect((await channelStats(chat)).queue.depth).toBe(3);
  },
);

test.each([false, true])(
  "attempts in a report whose response was lost are counted once (the platform allows a retry: %s)",
  async (retryable) => {
    fakeNetworks(accept);
    const chat = await conversation("telegram");
    await send(chat.api, chat.chatId);
    await chat.run();
    const loseResponse = () => {
      throw Object.assign(new Error("Network connection lost."), { retryable });
    };
    aroundCall("ORGANIZATIONS", "report", { after: loseResponse });
    await report(chat);
    vi.restoreAllMocks();
    fakeNetworks(accept);
    expect((await channelStats(chat)).attempts.sent).toBe(1);
    await send(chat.api, chat.chatId);
    pass(20_000);
    for (let reports = 0; reports < 3; reports++) await report(chat);
    expect((await channelStats(chat)).attempts).toEqual({ ...NO_ATTEMPTS, sent: 2 });
    expect(await alarmOf(chat.object())).toBeNull();
  },
);

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

test("what is counted during a report of a chat that was restored to an earlier time is told by the next one", async () => {
  const chat = await conversation("telegram");
  await writeAsContact(chat.organizationId, chat.chatId);
  await report(chat);
  // The organization's object has a later report.
  await runInDurableObject(env.ORGANIZATIONS.getByName(chat.organizationId), (_object, { storage }) => {
    storage.sql.exec("update chats set report = 9");
  });
  await writeAsContact(chat.organizationId, chat.chatId);
  pass(5_000);
  aroundCall("ORGANIZATIONS", "report", {
    before: async () => {
      await writeAsContact(chat.organizationId, chat.chatId);
      // Whoever asks for the activity has it counted.
      await chat.object().state(asOwner(chat.organizationId));
    },
  });
  await chat.run();
  vi.restoreAllMocks();
  for (let reports = 0; reports < 3; reports++) await report(chat);
  expect((await channelStats(chat)).received).toBe(3);
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
