import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { runAlarm } from "../../support/alarms.ts";
import { newChat, newOrganization, send } from "../../support/harness.ts";
import { untilStatus } from "../../support/message-status.ts";
import { accept, acceptAs, fakeNetworks } from "../../support/networks.ts";
import { asUser, newSite, signUser, visit } from "../../support/sockets.ts";
import { until } from "../../support/until.ts";
import {
  alarmOf,
  conversation,
  type Kind,
  newNetworkChannel,
  pass,
  stopTheClock,
} from "../chats/object/delivery/conversation.ts";
import { fromApp, written } from "../inbound/echo-calls.ts";
import { fromMeta, fromTelegram, taken, telegramText, tellStatus, whatsappText } from "../inbound/webhook-calls.ts";
import { addWebhook, fakeReceiver } from "../webhooks/receiver.ts";
import { meter } from "./meter.ts";

stopTheClock();

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Lets objects report, and what follows it. @returns nothing is left that rings */
async function settle(objects: DurableObjectStub[]): Promise<void> {
  for (let n = 0; n < 3; n++) {
    pass(MINUTE_MS);
    for (const object of objects) await runAlarm(object);
  }
  for (const object of objects) expect(await alarmOf(object)).toBeNull();
}

/** A chat of a network whose messages come alone, and what it costs from here on. */
async function quietConversation(kind: Kind) {
  fakeNetworks(kind === "whatsapp" ? acceptAs("wamid.1") : accept);
  const chat = await conversation(kind);
  const ofChat = chat.object();
  const ofKey = env.KEYS.getByName(chat.keyId);
  const objects = [ofChat, ofKey, env.ORGANIZATIONS.getByName(chat.organizationId)];
  const sendAlone = async () => {
    const message = await send(chat.api, chat.chatId);
    const waiting = "select 1 from messages where status = 'QUEUED'";
    const count = () =>
      runInDurableObject(ofChat, (_object, { storage }) => storage.sql.exec(waiting).toArray().length);
    await until("the message is sent", count, (left) => left === 0);
    return message;
  };
  await sendAlone();
  await settle(objects);
  const metered = await meter([...objects, env.CHANNELS.getByName(chat.channelId)]);
  return { ...chat, ...metered, ofChat, ofKey, sendAlone };
}

test("a message through Telegram that comes alone", async () => {
  const { sendAlone, ring, read, ofChat, ofKey } = await quietConversation("telegram");
  await sendAlone();
  pass(MINUTE_MS);
  await ring(ofChat);
  await ring(ofKey);
  // Calls: the key and the chat for the send, two of the channel, two alarms, two reports. Rows: the key's counters, the
  // message and its outcome, an event for each, the chat's state as reported, in the organization's object three of the
  // chat and two of its channel's and key's numbers, the feed's, and the alarms of the chat and the key.
  expect(read()).toEqual({ calls: 8, rows: 14, directory: 0 });
});

test("a message through WhatsApp that comes alone, with its three statuses", async () => {
  const chat = await quietConversation("whatsapp");
  const { id } = await chat.sendAlone();
  for (const status of ["sent", "delivered", "read"]) taken(await tellStatus(chat, id, status, { id: "wamid.1" }));
  pass(MINUTE_MS);
  await chat.ring(chat.ofChat);
  await chat.ring(chat.ofKey);
  // Each status that changes something adds a call of the chat, and rows for the message and its event.
  expect(chat.read()).toEqual({ calls: 11, rows: 18, directory: 0 });
});

test.for(["telegram", "whatsapp"] as const)("a contact's message through %s that comes alone", async (kind) => {
  const { channel, address, ring, read, ofChat } = await quietConversation(kind);
  const told = kind === "telegram" ? fromTelegram(channel, telegramText(address, "Hi")) : null;
  taken(await (told ?? fromMeta(channel, [whatsappText({ wa_id: address }, "Hi")])));
  pass(MINUTE_MS);
  await ring(ofChat);
  // Calls: the chat, and who it is from an isolate that does not know the contact; an alarm and a report. Rows: the message
  // and its event, the chat's state as reported, six in the organization's object, and the chat's alarm.
  expect(read()).toEqual({ calls: 4, rows: 11, directory: 0 });
});

test("what the company writes in WhatsApp's app costs no more than a contact's message", async () => {
  const { channel, address, ring, read, ofChat } = await quietConversation("whatsapp");
  taken(await fromApp(channel, written(address, "Hi")));
  pass(MINUTE_MS);
  await ring(ofChat);
  // One row less: the chat does not become unanswered.
  expect(read()).toEqual({ calls: 4, rows: 10, directory: 0 });
});

/** A web chat of a visitor whom the site knows, in which nothing is under way. */
async function quietSite() {
  const site = await newSite();
  const chat = await newChat(site.api, site.channelId, "user-7");
  const protocols = asUser("user-7", await signUser("user-7", site.secret));
  const [ofChat, ofKey] = [env.CHATS.getByName(chat.id), env.KEYS.getByName(site.keyId)];
  const objects = [ofChat, ofKey, env.ORGANIZATIONS.getByName(site.organizationId)];
  await send(site.api, chat.id);
  await settle(objects);
  return { ...site, chatId: chat.id, protocols, ofChat, ofKey, objects };
}

test("a message to a visitor whose page is open, delivered and read", async () => {
  const { api, channelId, chatId, protocols, ofChat, ofKey, objects } = await quietSite();
  const { page, ready } = await visit(channelId, { protocols });
  page.send({ type: "read", seq: ready.lastSeq });
  await page.rest();
  await settle(objects);
  const { ring, read } = await meter(objects);
  await send(api, chatId);
  const { message } = await page.pastStatuses();
  page.send({ type: "delivered", seq: message.seq });
  page.send({ type: "read", seq: message.seq });
  await untilStatus(chatId, message.id, "READ", ofChat);
  pass(MINUTE_MS);
  await ring(ofChat);
  await ring(ofKey);
  expect(read()).toEqual({ calls: 7, rows: 16, directory: 0 });
});

test("a visitor's day: three visits, five questions, five answers that are read", async () => {
  const { api, channelId, chatId, protocols, ofChat, ofKey, objects } = await quietSite();
  const { ring, read } = await meter([...objects, env.CHANNELS.getByName(channelId)]);
  let [after, asked] = [1, 0];
  for (const questions of [2, 2, 1]) {
    const { page } = await visit(channelId, { protocols, after });
    for (let n = 0; n < questions; n++) {
      const stored = await page.write(`question ${++asked}`);
      expect(stored).toMatchObject({ type: "stored" });
      pass(MINUTE_MS);
      await ring(ofChat);
      await send(api, chatId, { content: `Answer ${asked}` });
      const { message } = await page.pastStatuses();
      after = message.seq;
      page.send({ type: "delivered", seq: after });
      page.send({ type: "read", seq: after });
      await untilStatus(chatId, message.id, "READ", ofChat);
      pass(MINUTE_MS);
      await ring(ofChat);
      await ring(ofKey);
    }
    await page.close();
    pass(60 * MINUTE_MS);
  }
  expect(read()).toEqual({ calls: 50, rows: 142, directory: 0 });
});

test("an idle month: an organization with three channels, a webhook, a key and ten chats", async () => {
  fakeNetworks();
  fakeReceiver();
  const { api, organizationId, channelId, keyId } = await newOrganization();
  const channels = [channelId];
  for (const kind of ["telegram", "whatsapp"] as const) {
    channels.push((await newNetworkChannel(organizationId, kind)).id);
  }
  const webhookId = await addWebhook(organizationId, {});
  const chats: string[] = [];
  while (chats.length < 10) chats.push((await newChat(api, channelId)).id);
  for (const id of chats) await send(api, id);
  const objects = [
    ...chats.map((id) => env.CHATS.getByName(id)),
    ...channels.map((id) => env.CHANNELS.getByName(id)),
    ...[env.KEYS.getByName(keyId), env.WEBHOOKS.getByName(webhookId), env.ORGANIZATIONS.getByName(organizationId)],
  ];
  const nextOf = async () => {
    const all = await Promise.all(objects.map(async (object) => ({ object, at: await alarmOf(object) })));
    return all.filter(({ at }) => at !== null).sort((one, other) => Number(one.at) - Number(other.at))[0];
  };
  const begun = Date.now();
  const ringUntil = async (end: number, ring: (object: DurableObjectStub) => Promise<unknown>) => {
    for (let next = await nextOf(); next && Number(next.at) <= end; next = await nextOf()) {
      pass(Math.max(0, Number(next.at) - Date.now()));
      await ring(next.object);
    }
  };
  await ringUntil(begun + DAY_MS, runAlarm);
  pass(begun + DAY_MS - Date.now());
  const { ring, read } = await meter(objects);
  await ringUntil(begun + 31 * DAY_MS, ring);
  // WhatsApp is asked once a day for the health of its number.
  expect(read()).toEqual({ calls: 30, rows: 60, directory: 0 });
  // The cron trigger does this 2,880 times.
  await env.ORGANIZATIONS.getByName(organizationId).checkAlarms();
  expect(read()).toEqual({ calls: 1, rows: 0, directory: 0 });
});
