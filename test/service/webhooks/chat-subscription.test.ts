import { expect, test } from "vitest";
import { newId } from "../../../src/model/id.ts";
import {
  admin,
  client,
  expectError,
  expectFaults,
  newChat,
  newKey,
  newOrganization,
  send,
} from "../../support/harness.ts";
import { until } from "../../support/until.ts";
import { stopTheClock } from "../chats/object/delivery/conversation.ts";
import { WRITER } from "./configured.ts";
import { addWebhook, chatWithWebhook, fakeReceiver, type Reply } from "./receiver.ts";

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const EMPTY = { pending: 0, head: null, nextAttemptAt: null, attempts: [] };

// The next try of an event is due in a second, and would be made while a test still reads.
stopTheClock();

/** A chat whose first message a webhook refuses, as a key that configures webhooks sees it. */
async function stuckChat(reply: Reply = ({ event }) => new Response("no", { status: event.number === 2 ? 500 : 200 })) {
  const calls = fakeReceiver(reply);
  const chat = await chatWithWebhook({ types: ["message.*"] });
  const { secret } = await newKey(chat.organizationId, { permissions: WRITER });
  const configurer = client(secret);
  const message = await send(chat.api, chat.chatId);
  await chat.settled(1);
  const path = `/webhooks/${chat.webhookId}/chats/${chat.chatId}`;
  const skip = (eventId: unknown) => configurer("POST", `${path}/skip`, { eventId });
  return { ...chat, calls, configurer, message, path, skip };
}

/** Waits until a webhook has these numbers, as the operator sees it. */
async function untilWebhook(id: string, wanted: Partial<Record<"waitingChats" | "failed", number>>): Promise<void> {
  await until(
    `the webhook has ${JSON.stringify(wanted)}`,
    async () => (await admin("GET", `/webhooks/${id}`)).body.webhook,
    (webhook) => Object.entries(wanted).every(([name, count]) => webhook[name] === count),
  );
}

test("a chat's subscription shows its head, its next attempt, and its last attempts with the responses", async () => {
  const { api, chatId, calls, configurer, path } = await stuckChat();
  await send(api, chatId);
  const { status, body } = await configurer("GET", path);
  const eventId = calls[0]?.headers.get("webhook-id");
  expect(status).toBe(200);
  expect(body).toEqual({
    pending: 2,
    head: { eventId, number: 2, type: "message.created", tries: 1 },
    nextAttemptAt: TIME,
    attempts: [
      {
        eventId,
        type: "message.created",
        chatId,
        number: 2,
        startedAt: TIME,
        durationMs: expect.any(Number),
        outcome: "retry",
        httpStatus: 500,
        code: "http_500",
        message: expect.any(String),
        response: "no",
      },
    ],
  });
  const waitMs = Date.parse(body.nextAttemptAt) - Date.parse(body.attempts[0].startedAt);
  expect(waitMs).toBeGreaterThan(1_000);
  expect((await admin("GET", path)).body).toEqual(body);
});

test("an attempt without a response has no status", async () => {
  const { configurer, path } = await stuckChat(() => Promise.reject(new Error("refused")));
  const [attempt] = (await configurer("GET", path)).body.attempts;
  expect(attempt).toMatchObject({ outcome: "retry", code: "connection", response: null });
  expect(attempt).not.toHaveProperty("httpStatus");
});

test("a chat that waits for the next try of an event counts as waiting, until the event is accepted", async () => {
  let isOpen = false;
  const { settled, webhookId, path } = await stuckChat(() => new Response(null, { status: isOpen ? 204 : 500 }));
  await untilWebhook(webhookId, { waitingChats: 1 });
  isOpen = true;
  await admin("POST", `${path}/retry`);
  await settled(2);
  await untilWebhook(webhookId, { waitingChats: 0 });
});

test("the head can be tried at once, and a try that succeeds lets the later events go", async () => {
  let isOpen = false;
  const { api, chatId, calls, settled, configurer, path } = await stuckChat(
    () => new Response(null, { status: isOpen ? 204 : 500 }),
  );
  await send(api, chatId);
  const { body } = await configurer("POST", `${path}/retry`);
  await settled(2);
  expect(body.head).toMatchObject({ number: 2 });
  isOpen = true;
  expect((await configurer("POST", `${path}/retry`)).status).toBe(200);
  await settled(4);
  expect(calls.map(({ event }) => event.number)).toEqual([2, 2, 2, 3]);
  expect((await admin("POST", `${path}/retry`)).body).toMatchObject({ pending: 0, head: null });
});

test("the head can be skipped, and then the later events are sent", async () => {
  const { api, chatId, calls, skip, configurer, subscription, path } = await stuckChat();
  await send(api, chatId);
  const eventId = calls[0]?.headers.get("webhook-id") ?? "";
  const { status, body } = await skip(eventId);
  expect(status).toBe(200);
  expect(body.head?.eventId).not.toBe(eventId);
  await until("no event is pending", subscription, (seen) => seen?.pending === 0);
  expect((await configurer("GET", path)).body).toMatchObject({ pending: 0, head: null, nextAttemptAt: null });
  expect(calls.map(({ event }) => [event.number, event.previous])).toEqual([
    [2, null],
    [3, 2],
  ]);
  expectError(await skip(eventId), 409, "not_head");
});

test("the operator skips the head too", async () => {
  const { calls, settled, webhookId, path } = await stuckChat();
  const { status } = await admin("POST", `${path}/skip`, { eventId: calls[0]?.headers.get("webhook-id") });
  expect(status).toBe(200);
  await untilWebhook(webhookId, { failed: 1 });
  await settled(1);
});

test("what a chat gave up is forgotten when the chat is deleted", async () => {
  const { calls, settled, webhookId, chatId, path } = await stuckChat();
  const { status } = await admin("POST", `${path}/skip`, { eventId: calls[0]?.headers.get("webhook-id") });
  expect(status).toBe(200);
  await settled(1);
  await untilWebhook(webhookId, { failed: 1 });
  expect((await admin("DELETE", `/chats/${chatId}`)).status).toBe(200);
  await untilWebhook(webhookId, { failed: 0 });
});

test("an event that is not the head is not skipped", async () => {
  const { api, chatId, calls, skip, configurer, path } = await stuckChat();
  await send(api, chatId);
  const head = calls[0]?.headers.get("webhook-id") ?? "";
  const later = head.replace(/\d$/, "3");
  const another = head.replace("evt_g", "evt_e");
  for (const eventId of [later, another, "evt_gaaaaaaaaaaaaaaa000000001", "none"]) {
    expectError(await skip(eventId), 409, "not_head");
  }
  expectFaults(await skip(7), "eventId");
  expectError(await configurer("POST", `${path}/skip`, {}), 400, "missing_field");
  expect((await configurer("GET", path)).body).toMatchObject({ pending: 2, head: { eventId: head } });
});

test("a chat that does not know the webhook yet has an empty subscription", async () => {
  fakeReceiver();
  const { organizationId, channelId, api } = await newOrganization();
  const { secret } = await newKey(organizationId, { permissions: WRITER });
  const chat = await newChat(api, channelId);
  const path = `/webhooks/${await addWebhook(organizationId)}/chats/${chat.id}`;
  expect((await client(secret)("GET", path)).body).toEqual(EMPTY);
  const skipped = await client(secret)("POST", `${path}/skip`, { eventId: "evt_gaaaaaaaaaaaaaaa000000001" });
  expectError(skipped, 409, "not_head");
});

test("an unknown chat and a chat of another organization are a 404", async () => {
  const { configurer, webhookId, calls } = await stuckChat();
  const theirs = await newOrganization();
  const { id } = await newChat(theirs.api, theirs.channelId);
  const eventId = calls[0]?.headers.get("webhook-id");
  for (const chatId of [id, newId("cht", null), "none"]) {
    const path = `/webhooks/${webhookId}/chats/${chatId}`;
    for (const api of [configurer, admin]) {
      expectError(await api("GET", path), 404, "chat_not_found");
      expectError(await api("POST", `${path}/skip`, { eventId }), 404, "chat_not_found");
    }
  }
});
