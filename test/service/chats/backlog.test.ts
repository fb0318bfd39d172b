import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { Message } from "../../../src/model/message.ts";
import { admin, expectError, newChannel, newChat, newOrganization, send } from "../../support/harness.ts";
import { untilStatus } from "../../support/message-status.ts";
import { fakeNetworks, status } from "../../support/networks.ts";
import { rowsRead } from "../../support/rows-read.ts";
import { fromTelegram, taken, telegramText, tellStatus } from "../inbound/webhook-calls.ts";
import { conversation, stopTheClock } from "./object/delivery/conversation.ts";

stopTheClock();

/** A chat on a Telegram channel with `count` queued messages. The first one is sent, the others are copies of its row. */
async function newQueue(count: number) {
  const { api, organizationId } = await newOrganization();
  const chat = await newChat(api, await newChannel(organizationId, "telegram"), "4915112345");
  const first = await send(api, chat.id);
  await fill(chat.id, first, count);
  const post = (headers = {}) => api("POST", `/chats/${chat.id}/messages`, { content: "Hello" }, headers);
  return { api, chat, first, post };
}

async function fill(chatId: string, first: Message, count: number): Promise<void> {
  const stub = env.CHATS.getByName(chatId);
  await runInDurableObject(stub, (_, { storage }) => {
    storage.sql.exec(
      `with recursive numbers (n) as (select 2 union all select n + 1 from numbers where n < ?)
       insert into messages (seq, doc, delivery, queued)
       select n, json_set(doc, '$.seq', n, '$.id', 'msg_' || n), delivery, n
       from numbers, messages where doc ->> '$.id' = ?`,
      count,
      first.id,
    );
  });
  // The object's memory does not include these rows.
  await evictDurableObject(stub);
}

test("the ten-thousandth queued message is accepted, and the next one is a 409", async () => {
  const { post, api, chat } = await newQueue(9_999);
  const last = await post();
  expect([last.status, last.body.message.seq]).toEqual([201, 10_000]);
  const answer = await post();
  expectError(answer, 409, "chat_backlog");
  expect(answer.body.error).toMatch("Too many messages of this chat wait for delivery");
  expect((await api("GET", `/chats/${chat.id}/messages`)).body.pagination.total).toBe(10_000);
});

test("a full queue does not affect other chats of its channel", async () => {
  const { post, api, chat } = await newQueue(10_000);
  expectError(await post(), 409, "chat_backlog");
  const calls = fakeNetworks();
  const other = await newChat(api, chat.channel.id, "4915154321");
  const { id } = await send(api, other.id, { content: "I go" });
  await untilStatus(other.id, id, "SENT");
  expect(calls.filter(({ to }) => to === "4915154321").map(({ text }) => text)).toEqual(["I go"]);
});

test("a message that leaves a full queue makes room for another one", async () => {
  const { post, chat, first } = await newQueue(10_000);
  expectError(await post(), 409, "chat_backlog");
  await admin("POST", `/chats/${chat.id}/messages/${first.id}/redact`);
  expect((await post()).status).toBe(201);
  expectError(await post(), 409, "chat_backlog");
});

test("a chat with a full queue replays used idempotency keys, and uses up no new ones", async () => {
  const { api, organizationId } = await newOrganization();
  const chat = await newChat(api, await newChannel(organizationId, "telegram"), "4915112345");
  const post = (key: string) =>
    api("POST", `/chats/${chat.id}/messages`, { content: "Hello" }, { "Idempotency-Key": key });
  const first = await post("first");
  await fill(chat.id, first.body.message, 10_000);
  expect((await post("first")).text).toBe(first.text);
  expectError(await post("second"), 409, "chat_backlog");
  await admin("POST", `/chats/${chat.id}/messages/msg_2/redact`);
  expect((await post("second")).headers.get("Idempotent-Replayed")).toBeNull();
});

test("sent messages don't count toward the queue, so a web chat has no backlog", async () => {
  const { api, channelId } = await newOrganization();
  const chat = await newChat(api, channelId);
  await fill(chat.id, await send(api, chat.id), 10_000);
  expect((await send(api, chat.id)).seq).toBe(10_001);
});

test("a chat with nearly full storage answers sends with a 409, and can still be read", async () => {
  const { api, channelId } = await newOrganization();
  const chat = await newChat(api, channelId);
  await send(api, chat.id);
  // The next instance reads the size again.
  await evictDurableObject(env.CHATS.getByName(chat.id));
  await runInDurableObject(env.CHATS.getByName(chat.id), (_object, { storage }) => {
    Object.defineProperty(storage.sql, "databaseSize", { value: 9_900_000_000 });
  });
  const answer = await api("POST", `/chats/${chat.id}/messages`, { content: "Hello" });
  expectError(answer, 409, "chat_full");
  expect(answer.body.error).toMatch("The chat's storage is full");
  expect((await api("GET", `/chats/${chat.id}/messages`)).body.pagination.total).toBe(1);
});

test("showing a chat's queue reads the message at its head, and once the expiries", async () => {
  const { chat, first } = await newQueue(5_000);
  // The organization knows these messages: their counts need not be read again. The first call finds that no alarm is set
  // for them. What that alarm reads does not count here.
  await runInDurableObject(env.CHATS.getByName(chat.id), (object, { storage }) => {
    vi.spyOn(object as Required<DurableObject>, "alarm").mockResolvedValue();
    const state = { unansweredSince: null, contactWroteAt: null, attempts: {} };
    storage.kv.put("reported", { number: 1, seq: 5_000, eventsAfter: 0, events: 0, state });
  });
  const read = async () => (await admin("GET", `/chats/${chat.id}`)).body.queue;
  const rows = await rowsRead(env.CHATS.getByName(chat.id), async () => {
    expect(await read()).toMatchObject({ depth: 5_000, oldest: first.createdAt });
  });
  // The look for a lost alarm reads once when the next of the queue expires.
  expect(rows.reduce((sum, count) => sum + count, 0)).toBeLessThan(5_020);
});

test("the depth of a queue doesn't count redacted messages and the contact's messages", async () => {
  fakeNetworks(status(503));
  const chat = await conversation("telegram");
  const depth = async () => {
    await evictDurableObject(chat.object());
    return (await chat.queue()).depth;
  };
  const redact = (id = "") => admin("POST", `/chats/${chat.chatId}/messages/${id}/redact`);
  const sent: Message[] = [];
  for (let n = 0; n < 6; n++) {
    sent.push(await send(chat.api, chat.chatId));
    taken(await fromTelegram(chat.channel, telegramText(chat.address, "Hi")));
  }
  await chat.run();
  expect(await depth()).toBe(6);
  await redact(sent[2]?.id);
  await redact(sent[5]?.id);
  expect(await depth()).toBe(4);
  await redact(sent[0]?.id);
  expect(await depth()).toBe(3);
  await redact(sent[1]?.id);
  expect(await depth()).toBe(2);
  await send(chat.api, chat.chatId);
  expect(await depth()).toBe(3);
  for (const message of await chat.messages()) if (message.status === "QUEUED") await redact(message.id);
  expect(await depth()).toBe(0);
});

test("the depth of a queue doesn't count a message that got a status before its turn", async () => {
  fakeNetworks(status(503));
  const chat = await conversation("whatsapp");
  const sent = [
    await send(chat.api, chat.chatId),
    await send(chat.api, chat.chatId),
    await send(chat.api, chat.chatId),
  ];
  await chat.run();
  taken(await tellStatus(chat, sent[1]?.id ?? "", "delivered", { id: "wamid.1" }));
  expect((await chat.queue()).depth).toBe(2);
  await evictDurableObject(chat.object());
  expect((await chat.queue()).depth).toBe(2);
});
