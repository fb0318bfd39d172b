import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { runAlarm, workIsDone } from "../../support/alarms.ts";
import { client, newChat, newKey, newOrganization, send } from "../../support/harness.ts";
import { gate, until } from "../../support/until.ts";
import { alarmOf, pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { addWebhook, fakeReceiver, type Reply } from "../webhooks/receiver.ts";
import { meter } from "./meter.ts";

stopTheClock();

/** The settings of a webhook for one event: a web chat's message has no other. */
const MESSAGES = { types: ["message.created"] };

/** How many attempts a webhook's object knows. */
function attemptsOf(webhook: DurableObjectStub): Promise<number> {
  return runInDurableObject(webhook, (_object, { storage: { sql } }) => {
    // The first attempt creates the table.
    const tables = sql.exec("select 1 from sqlite_master where name = 'attempts_0'").toArray();
    return tables.length && sql.exec("select 1 from attempts_0").toArray().length;
  });
}

/** Waits until each of these webhooks' objects knows this many attempts. */
async function untilAttempted(webhooks: DurableObjectStub[], count: number): Promise<void> {
  await until(
    `each webhook has ${count} attempts`,
    () => Promise.all(webhooks.map(attemptsOf)),
    (attempts) => attempts.every((each) => each === count),
  );
}

/** A chat of a visitor that knows `count` webhooks, which have worked, and in which nothing is under way. */
async function quietChat(count: number, reply?: Reply) {
  fakeReceiver(reply);
  const { api, organizationId, channelId, keyId, ownerId } = await newOrganization();
  const ids: string[] = [];
  while (ids.length < count) ids.push(await addWebhook(organizationId, MESSAGES));
  const { id: chatId } = await newChat(api, channelId);
  const ofChat = env.CHATS.getByName(chatId);
  const ofKey = env.KEYS.getByName(keyId);
  const ofOrganization = env.ORGANIZATIONS.getByName(organizationId);
  const ofWebhooks = ids.map((id) => env.WEBHOOKS.getByName(id));
  // The chat learns of the webhooks with its first report.
  await runAlarm(ofChat);
  let sent = 0;
  const sendMessage = () => {
    sent++;
    return send(api, chatId);
  };
  /** Resolves when the webhooks' objects know that the webhooks accepted all events, and the chat knows that they do. */
  const delivered = async () => {
    await untilAttempted(ofWebhooks, sent);
    await workIsDone(ofChat);
  };
  const deliver = async () => {
    await sendMessage();
    await delivered();
  };
  await deliver();
  pass(60_000);
  for (const object of [ofChat, ofKey, ofOrganization]) await runAlarm(object);
  pass(60_000);
  const all = [ofChat, ofKey, ofOrganization, ...ofWebhooks];
  for (const object of all) expect(await alarmOf(object)).toBeNull();
  const assign = () => api("PATCH", `/chats/${chatId}`, { assigneeId: ownerId, ifAssigneeId: null });
  return { organizationId, chatId, ownerId, assign, deliver, sendMessage, delivered, ofChat, ofKey, ofWebhooks, all };
}

/** What a single message costs in a chat with this many webhooks, from the send to the last report. */
async function costOf(webhooks: number) {
  const { deliver, ofChat, ofKey, all } = await quietChat(webhooks);
  const { ring, read } = await meter(all);
  await deliver();
  pass(60_000);
  await ring(ofChat);
  await ring(ofKey);
  const cost = read();
  for (const object of all) expect(await alarmOf(object)).toBeNull();
  return cost;
}

test("the cost of an event in the feed alone is a row in the chat and one in the feed", async () => {
  // Calls: the key and the chat for the send, two alarms, two reports. The event's pointer is in the report of the chat.
  // Rows of the event: the event in the chat, and its pointer in the feed.
  // The other rows: the key's counters, the message, the chat's state as reported, in the organization's object three of
  // the chat, one of its channel's numbers and one of the key, and the alarms of the chat and the key.
  expect(await costOf(0)).toEqual({ calls: 6, rows: 2 + 10, directory: 0 });
});

test.for([1, 3])("each webhook adds two calls and two rows to the cost of an event: %i", async (webhooks) => {
  // Calls: the permit, and the report of the attempt, because there is no next event whose permit it could be part of.
  // Rows: the subscription in the chat, and the attempt in the webhook's object.
  expect(await costOf(webhooks)).toEqual({ calls: 6 + 2 * webhooks, rows: 12 + 2 * webhooks, directory: 0 });
});

test("the permit of the next event is in the same call as the report of the last attempt", async () => {
  const held = gate("the call of the webhook");
  const { sendMessage, delivered, ofWebhooks } = await quietChat(1, async (_call, number) => {
    // The call of the first event that the test sends.
    if (number === 2) await held.pass();
    return new Response("ok");
  });
  await sendMessage();
  await held.reached();
  await sendMessage();
  await sendMessage();
  const { read } = await meter(ofWebhooks);
  held.open();
  await delivered();
  // The first permit was granted before. Calls: two permits, and the last report. Rows: three attempts.
  expect(read()).toEqual({ calls: 3, rows: 3, directory: 0 });
});

/** What a report of a channel's health, with its event, costs in an organization with this many webhooks. */
async function costOfOwnEvent(webhooks: number) {
  fakeReceiver();
  const { organizationId, channelId } = await newOrganization();
  const ids: string[] = [];
  while (ids.length < webhooks) ids.push(await addWebhook(organizationId, { types: ["channel.health"] }));
  const ofOrganization = env.ORGANIZATIONS.getByName(organizationId);
  const ofWebhooks = ids.map((id) => env.WEBHOOKS.getByName(id));
  const health = { reason: null, since: Date.now(), probeAt: null };
  let number = 0;
  const reportHealth = async () => {
    const state = ++number % 2 === 1 ? "broken" : "ok";
    await env.ORGANIZATIONS.getByName(organizationId).reportHealth(organizationId, channelId, {
      number,
      state,
      ...health,
    });
    await untilAttempted(ofWebhooks, number);
    await workIsDone(ofOrganization);
  };
  await reportHealth();
  pass(60_000);
  await runAlarm(ofOrganization);
  const all = [ofOrganization, ...ofWebhooks];
  const { ring, read } = await meter(all);
  await reportHealth();
  if (webhooks > 0) await ring(ofOrganization);
  const cost = read();
  for (const object of all) expect(await alarmOf(object)).toBeNull();
  return cost;
}

test("an event of the organization costs a row for itself and one for its pointer", async () => {
  // The call is the report, which writes the channel's row too.
  expect(await costOfOwnEvent(0)).toEqual({ calls: 1, rows: 2 + 1, directory: 0 });
});

test.for([1, 3])("each webhook adds two calls and two rows to an event of the organization: %i", async (webhooks) => {
  // Calls: the report and the alarm, and for each webhook the permit and the report of the attempt.
  // Rows: besides those of the event, two of the alarm, and for each webhook the subscription and the attempt.
  expect(await costOfOwnEvent(webhooks)).toEqual({ calls: 2 + 2 * webhooks, rows: 5 + 2 * webhooks, directory: 0 });
});

test("an assignment costs five calls and eleven rows, and a send in an assigned chat a row more than elsewhere", async () => {
  const { assign, deliver, ofChat, ofKey, all } = await quietChat(0);
  const { ring, read } = await meter(all);
  expect((await assign()).status).toBe(200);
  // Calls: the key, the change with its report, and the chat as it is then, from its own object and the organization's.
  // A row of them is the number of the member's chats. It is the member's first one, so the directory is asked a day later
  // whether the member is still there: another row, and one of the alarm.
  expect(read()).toEqual({ calls: 5, rows: 11 + 2, directory: 0 });
  pass(60_000);
  for (const object of [ofChat, ofKey]) await ring(object);
  read();
  await deliver();
  pass(60_000);
  for (const object of [ofChat, ofKey]) await ring(object);
  // The row: the index of the member's chats.
  expect(read()).toEqual({ calls: 6, rows: 12 + 1, directory: 0 });
});

test("a note costs two rows less than a send, and no send costs more after it", async () => {
  const { organizationId, chatId, ownerId, deliver, ofChat, ofKey, all } = await quietChat(0);
  const { key, secret } = await newKey(organizationId, { permissions: ["notes:write"] });
  const api = client(secret);
  const ofNoteKey = env.KEYS.getByName(key.id);
  // The first note creates the table.
  expect((await api("POST", `/chats/${chatId}/notes`, { content: "The first" })).status).toBe(201);
  pass(60_000);
  for (const object of [ofChat, ofNoteKey]) await runAlarm(object);
  const { ring, read } = await meter([...all, ofNoteKey]);
  const write = async (mentions: string[]) => {
    const note = await api("POST", `/chats/${chatId}/notes`, { content: "For the team", mentions });
    expect(note.status).toBe(201);
    const written = read();
    for (const object of [ofChat, ofNoteKey]) {
      pass(60_000);
      await ring(object);
    }
    return [written, read()];
  };
  // The chat stays where it is in the lists.
  expect(await write([])).toEqual([
    { calls: 2, rows: 6, directory: 0 },
    { calls: 4, rows: 4, directory: 0 },
  ]);
  // The first mention of a member: the chat knows it. In the organization's object the chat in the member's list, the number
  // of its move, and that it is asked later whether the member is still there.
  expect(await write([ownerId])).toEqual([
    { calls: 2, rows: 7, directory: 0 },
    { calls: 4, rows: 8, directory: 0 },
  ]);
  await deliver();
  pass(60_000);
  for (const object of [ofChat, ofKey]) await ring(object);
  expect(read()).toEqual({ calls: 6, rows: 12, directory: 0 });
});
