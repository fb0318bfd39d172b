import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { runAlarm } from "../../support/alarms.ts";
import { asOwner } from "../../support/as-owner.ts";
import { aroundCall, breakDirectory, breakObjects, OUTAGES } from "../../support/faults.ts";
import { admin, send, sendMany } from "../../support/harness.ts";
import { accept, fakeNetworks, status } from "../../support/networks.ts";
import { storedChat } from "../../support/stored.ts";
import { neverRing } from "../../support/timers.ts";
import { gate } from "../../support/until.ts";
import { writeAsContact } from "../chats/inbound.ts";
import {
  alarmOf,
  type Conversation,
  chatOf,
  conversation,
  pass,
  stopTheClock,
} from "../chats/object/delivery/conversation.ts";
import { channelStats, delivered, NO_ATTEMPTS, NO_QUEUE, report } from "./channel-stats-fixtures.ts";

stopTheClock();

/** A chat with a message that its network did not accept, and that its chat has reported. */
async function waiting(): Promise<Conversation> {
  fakeNetworks(status(503));
  const chat = await conversation("telegram");
  await send(chat.api, chat.chatId);
  await chat.run();
  await report(chat);
  return chat;
}

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
