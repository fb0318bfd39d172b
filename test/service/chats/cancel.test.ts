import { evictDurableObject } from "cloudflare:test";
import { expect, test, vi } from "vitest";
import { breakObjects, replaceMethod } from "../../support/faults.ts";
import { expectError, newChat, newOrganization, send, sendMany } from "../../support/harness.ts";
import { untilQueueIsEmpty } from "../../support/message-status.ts";
import {
  accept,
  fakeNetworks,
  hanging,
  inTurn,
  lost,
  type NetworkCall,
  refuse,
  status,
} from "../../support/networks.ts";
import { objectWrites } from "../../support/object-writes.ts";
import { gate, until } from "../../support/until.ts";
import { writeAsContact } from "./inbound.ts";
import { chatOf, pass, runNext, stopTheClock } from "./object/delivery/conversation.ts";
import { inFuture, MINUTE, queuePlace } from "./object/delivery/queued.ts";

stopTheClock();

const slowDown = refuse(429, "Slow down", { parameters: { retry_after: 30 } });
const texts = (calls: NetworkCall[]) => calls.map((call) => call.text);

test("a message that waits behind another one can be canceled, and is never sent", async () => {
  const calls = fakeNetworks(inTurn(slowDown));
  const chat = await queuePlace("telegram");
  const [, second] = await sendMany(chat.api, chat.chatId, 3);
  await chat.run();
  const canceled = await chat.cancel(second?.id ?? "");
  expect([canceled.status, canceled.body.message]).toMatchObject([200, { seq: 2, status: "CANCELED", error: null }]);
  expect((await chat.cancel(second?.id ?? "")).body).toEqual(canceled.body);
  expect(await chat.message(second?.id ?? "")).toEqual(canceled.body.message);
  expect(await chat.queue()).toMatchObject({ depth: 2 });
  await runNext(chat);
  expect(texts(calls)).toEqual(["Message 1", "Message 1", "Message 3"]);
  expect(await chat.statuses()).toEqual(["SENT", "CANCELED", "SENT"]);
  expect(await chat.statusEvents()).toEqual(["2 CANCELED", "1 SENT", "3 SENT"]);
  expect(await chat.queue()).toMatchObject({ depth: 0, oldest: null });
});

test("a message that waits after a refused attempt can be canceled, and the next one is sent at once", async () => {
  const calls = fakeNetworks(inTurn(slowDown));
  const chat = await queuePlace("telegram");
  const [first] = await sendMany(chat.api, chat.chatId, 2);
  await chat.run();
  expect((await chat.cancel(first?.id ?? "")).status).toBe(200);
  await untilQueueIsEmpty(chat.chatId);
  expect(await chat.statuses()).toEqual(["CANCELED", "SENT"]);
  expect(texts(calls)).toEqual(["Message 1", "Message 2"]);
});

test("a message that was stored with its first attempt can be canceled until the attempt begins", async () => {
  const calls = fakeNetworks(accept);
  const chat = await queuePlace("telegram");
  breakObjects("CHANNELS", "permit");
  const message = await send(chat.api, chat.chatId);
  expect((await chat.cancel(message.id)).body.message.status).toBe("CANCELED");
  vi.restoreAllMocks();
  pass(MINUTE);
  await chat.run();
  expect(calls).toEqual([]);
  expect(await chat.attempts(message.id)).toEqual({ attempts: [], dropped: 0, nextAttemptAt: null });
});

test("a message can't be canceled during an attempt, and after one without an answer", async () => {
  const hang = hanging(lost);
  fakeNetworks(inTurn(hang.script));
  const chat = await queuePlace("whatsapp");
  const message = await send(chat.api, chat.chatId);
  await hang.reached();
  expectError(await chat.cancel(message.id), 409, "not_cancelable");
  hang.letGo();
  await until("the outcome is unknown", chat.queue, ({ lastError }) => lastError?.code === "outcome_unknown");
  expectError(await chat.cancel(message.id), 409, "not_cancelable");
  await evictDurableObject(chat.object());
  expectError(await chat.cancel(message.id), 409, "not_cancelable");
  expect(await chat.message(message.id)).toMatchObject({ status: "QUEUED" });
});

test("a message with a part that is sent can't be canceled", async () => {
  fakeNetworks(inTurn(accept, status(503)));
  const chat = await queuePlace("whatsapp");
  const audio = { type: "AUDIO", content: "Listen", mediaUrl: "https://example.com/a.mp3" };
  const message = await send(chat.api, chat.chatId, audio);
  await chat.run();
  expect(await chat.message(message.id)).toMatchObject({ status: "QUEUED" });
  expectError(await chat.cancel(message.id), 409, "not_cancelable");
});

test("messages that ended, of the contact, or of a web chat can't be canceled", async () => {
  fakeNetworks(inTurn(accept, refuse(400, "No")));
  const chat = await queuePlace("telegram");
  const [sent, failed] = await sendMany(chat.api, chat.chatId, 2);
  await chat.run();
  expect(await chat.statuses()).toEqual(["SENT", "network_400"]);
  expectError(await chat.cancel(sent?.id ?? ""), 409, "not_cancelable");
  expectError(await chat.cancel(failed?.id ?? ""), 409, "not_cancelable");
  expectError(await chat.cancel("msg_gaaaaaaaaaaaaaaa9"), 404, "message_not_found");
  expectError(await chat.cancel("nothing"), 404, "message_not_found");
  const written = await writeAsContact(chat.organizationId, chat.chatId);
  expectError(await chat.cancel(written.id), 409, "not_cancelable");
  const { api, channelId } = await newOrganization();
  const { id } = await newChat(api, channelId);
  const path = `/chats/${id}/messages/${(await send(api, id)).id}`;
  expectError(await api("POST", `${path}/cancel`), 409, "not_cancelable");
  expect((await api("GET", path)).body.message.status).toBe("SENT");
});

test("a scheduled message can be canceled, and one that expired without a place can't", async () => {
  const calls = fakeNetworks(accept);
  const chat = await queuePlace("telegram");
  const message = await send(chat.api, chat.chatId, { scheduledAt: inFuture(MINUTE) });
  const canceled = await chat.cancel(message.id);
  expect(canceled.body.message).toMatchObject({ id: message.id, seq: null, status: "CANCELED" });
  expect((await chat.cancel(message.id)).body).toEqual(canceled.body);
  const body = { scheduledAt: inFuture(MINUTE), expiresAt: inFuture(90_000) };
  const { id } = await send(chat.api, chat.chatId, body);
  pass(2 * MINUTE);
  await chat.run();
  expectError(await chat.cancel(id), 409, "not_cancelable");
  expect(await chat.message(id)).toMatchObject({ seq: null, status: "FAILED", error: { code: "expired" } });
  expect(calls).toEqual([]);
});

test("a cancellation writes the message and its event, and behind another one the count of the queue", async () => {
  fakeNetworks(inTurn(slowDown));
  const chat = await queuePlace("telegram");
  const [, second] = await sendMany(chat.api, chat.chatId, 3);
  await chat.run();
  const behind = await objectWrites(chat, () => chat.cancel(second?.id ?? ""));
  expect(behind).toMatchObject({ rows: 2, values: 1 });
});

test("a permit that comes after the cancellation is returned, so that another chat's message is sent at once", async () => {
  const calls = fakeNetworks(accept);
  const chat = await queuePlace("telegram");
  const other = await chatOf(chat, chat.channelId);
  const granted = gate("the permit");
  const restore = replaceMethod("CHANNELS", "permit", (original) => async (...given) => {
    const answer = await original(...given);
    await granted.pass();
    return answer;
  });
  const message = await send(chat.api, chat.chatId, { content: "Canceled" });
  await granted.reached();
  expect((await chat.cancel(message.id)).status).toBe(200);
  granted.open();
  restore();
  await chat.run();
  await send(chat.api, other.chatId, { content: "Sent" });
  await other.run();
  expect(texts(calls)).toEqual(["Sent"]);
});
