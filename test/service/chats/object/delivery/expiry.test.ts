import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { expect, test, vi } from "vitest";
import { hurryAlarms, ringAlarm } from "../../../../support/alarms.ts";
import { breakObjects } from "../../../../support/faults.ts";
import { send, sendMany } from "../../../../support/harness.ts";
import { untilStatus } from "../../../../support/message-status.ts";
import { accept, fakeNetworks, hanging, inTurn, lost, type NetworkCall, refuse } from "../../../../support/networks.ts";
import { taken, tellStatus } from "../../../inbound/webhook-calls.ts";
import { alarmOf, deliveryOf, pass, runNext, stopTheClock } from "./conversation.ts";
import { inFuture, MINUTE, queuePlace } from "./queued.ts";

stopTheClock();

const EXPIRED = { status: "FAILED", error: { code: "expired", message: "It expired before it was delivered" } };
const slowDown = refuse(429, "Slow down", { parameters: { retry_after: 3_000 } });
const texts = (calls: NetworkCall[]) => calls.map((call) => call.text);

test("a message that waits for its next attempt fails when it expires, and the next one is sent", async () => {
  const calls = fakeNetworks(inTurn(slowDown));
  const chat = await queuePlace("telegram");
  const expiresAt = inFuture(MINUTE);
  const message = await send(chat.api, chat.chatId, { content: "Old", expiresAt });
  await chat.run();
  await send(chat.api, chat.chatId, { content: "New" });
  expect((await chat.queue()).nextAttemptAt).toBe(expiresAt);
  pass(MINUTE - 1);
  await chat.run();
  expect(await chat.message(message.id)).toMatchObject({ status: "QUEUED", expiresAt });
  expect(await alarmOf(chat.object())).toBe(Date.parse(expiresAt));
  pass(1);
  await chat.run();
  expect(await chat.message(message.id)).toMatchObject({ ...EXPIRED, failedAt: expiresAt });
  expect(texts(calls)).toEqual(["Old", "New"]);
  expect(await chat.queue()).toMatchObject({ depth: 0 });
  expect(await chat.statusEvents()).toEqual(["1 FAILED", "2 SENT"]);
});

test("messages behind the head fail when they expire, and the others keep their order", async () => {
  const calls = fakeNetworks(inTurn(slowDown));
  const chat = await queuePlace("telegram");
  await send(chat.api, chat.chatId, { content: "1" });
  await chat.run();
  for (const [content, ms] of [
    ["2", 20_000],
    ["3", null],
    ["4", 10_000],
    ["5", 20_000],
  ] as const) {
    await send(chat.api, chat.chatId, { content, ...(ms && { expiresAt: inFuture(ms) }) });
  }
  await chat.run();
  expect(await alarmOf(chat.object())).toBe(Date.now() + 10_000);
  pass(10_000);
  await chat.run();
  expect(await chat.statuses()).toEqual(["QUEUED", "QUEUED", "QUEUED", "expired", "QUEUED"]);
  expect(await chat.queue()).toMatchObject({ depth: 4 });
  // A new instance finds the rest.
  await evictDurableObject(chat.object());
  pass(10_000);
  await chat.run();
  expect(await chat.statuses()).toEqual(["QUEUED", "expired", "QUEUED", "expired", "expired"]);
  expect(await chat.queue()).toMatchObject({ depth: 2 });
  expect(await chat.statusEvents()).toEqual(["4 FAILED", "2 FAILED", "5 FAILED"]);
  await runNext(chat);
  expect(texts(calls)).toEqual(["1", "1", "3"]);
  expect(await chat.queue()).toMatchObject({ depth: 0 });
});

test("an attempt that is open when its message expires ends and counts, and those behind expire meanwhile", async () => {
  const hang = hanging();
  const calls = fakeNetworks(inTurn(hang.script));
  const chat = await queuePlace("telegram");
  const first = await send(chat.api, chat.chatId, { content: "1", expiresAt: inFuture(1_000) });
  await hang.reached();
  const second = await send(chat.api, chat.chatId, { content: "2", expiresAt: inFuture(2_000) });
  pass(2_000);
  hurryAlarms();
  await ringAlarm(chat.object());
  await untilStatus(chat.chatId, second.id, "FAILED");
  expect(await chat.message(second.id)).toMatchObject(EXPIRED);
  expect(await chat.message(first.id)).toMatchObject({ status: "QUEUED" });
  hang.letGo();
  await untilStatus(chat.chatId, first.id, "SENT");
  expect(texts(calls)).toEqual(["1"]);
  expect(await chat.queue()).toMatchObject({ depth: 0 });
});

test("after an unknown outcome no attempt begins, and a status proves that the message came through", async () => {
  const calls = fakeNetworks(inTurn(lost));
  const chat = await queuePlace("whatsapp");
  const message = await send(chat.api, chat.chatId, { expiresAt: inFuture(MINUTE) });
  await chat.run();
  pass(MINUTE);
  await chat.run();
  expect(await chat.message(message.id)).toMatchObject(EXPIRED);
  taken(await tellStatus(chat, message.id, "sent", { id: "wamid.1" }));
  expect(await chat.message(message.id)).toMatchObject(EXPIRED);
  taken(await tellStatus(chat, message.id, "delivered", { id: "wamid.1" }));
  expect(await chat.message(message.id)).toMatchObject({ status: "DELIVERED", error: null });
  pass(60 * MINUTE);
  await chat.run();
  expect(calls).toHaveLength(1);
});

test("a message that expires while it waits for its permit is not sent, and its first attempt does not count", async () => {
  const calls = fakeNetworks(accept);
  const chat = await queuePlace("telegram");
  breakObjects("CHANNELS", "permit");
  const message = await send(chat.api, chat.chatId, { expiresAt: inFuture(5_000) });
  await chat.run();
  vi.restoreAllMocks();
  pass(5_000);
  await chat.run();
  expect(await chat.message(message.id)).toMatchObject(EXPIRED);
  expect(await deliveryOf(chat.object(), 1)).toMatchObject({ attempts: 0, startedAt: null });
  expect(calls).toEqual([]);
  await sendMany(chat.api, chat.chatId, 1);
  await chat.run();
  expect(calls).toHaveLength(1);
});

test("thousands of messages expire at once, and the queue's head is not touched", async () => {
  const calls = fakeNetworks(inTurn(slowDown));
  const chat = await queuePlace("telegram");
  await send(chat.api, chat.chatId, { content: "1" });
  await chat.run();
  await send(chat.api, chat.chatId, { content: "2", expiresAt: inFuture(MINUTE) });
  await runInDurableObject(chat.object(), (_object, { storage }) => {
    storage.sql.exec(
      `insert into messages (seq, doc, delivery, queued, expires_at)
       select value, json_set(doc, '$.seq', value, '$.id', substr(doc ->> '$.id', 1, 20) || value), delivery, value, expires_at
       from messages, (with recursive n(value) as (select 3 union all select value + 1 from n where value < 3000)
                       select value from n)
       where seq = 2`,
    );
  });
  await evictDurableObject(chat.object());
  expect(await chat.queue()).toMatchObject({ depth: 3_000 });
  pass(MINUTE);
  await chat.run();
  expect(await chat.queue()).toMatchObject({ depth: 1, lastError: { code: "network_429" } });
  const { body } = await chat.api("GET", `/chats/${chat.chatId}/messages?page=60&limit=50`);
  expect(body.messages.map(({ status }: { status: string }) => status)).toEqual([
    ...Array.from({ length: 49 }, () => "FAILED"),
    "QUEUED",
  ]);
  // The first 100 events are the chat, its two messages, and these.
  expect(await chat.statusEvents()).toHaveLength(97);
  await runNext(chat);
  expect(texts(calls)).toEqual(["1", "1"]);
});
