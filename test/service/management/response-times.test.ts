import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { admin, newChat, send, statsOf } from "../../support/harness.ts";
import { objectWrites } from "../../support/object-writes.ts";
import { report, writeAsContact } from "../chats/inbound.ts";
import { conversation, crash, pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { desk, HOUR, MINUTE, NO_CLASSES } from "./response-times-fixtures.ts";

stopTheClock();

test("each answered run of the contact's messages counts once, by the time from its first message to the first answer", async () => {
  const { write, send, sums, channelId } = await desk();
  await write();
  pass(30_000);
  await write();
  pass(29_999);
  await send();
  await send();
  await write();
  pass(MINUTE);
  await send();
  await write();
  pass(23 * HOUR);
  await write();
  pass(HOUR);
  await send();
  await write();
  expect(await sums(channelId)).toEqual({
    ...{ received: 6, sent: 4, newChats: 1 },
    ...{ answers: 3, within1m: 1, within5m: 1, later: 1 },
  });
});

test("a run that is marked as answered is not counted, and the one after it is", async () => {
  const { write, send, sums, channelId, chatId, api } = await desk();
  await write();
  pass(HOUR);
  expect((await api("POST", `/chats/${chatId}/answered`)).status).toBe(200);
  await send();
  expect(await sums(channelId)).toEqual({ received: 1, sent: 1, newChats: 1 });
  await write();
  pass(MINUTE);
  await send();
  expect(await sums(channelId)).toMatchObject({ answers: 1, within5m: 1 });
});

test.each([false, true])(
  "a run that is marked as answered stays uncounted if that is taken back (evicted: %s)",
  async (isEvicted) => {
    const { write, send, sums, channelId, chatId, api } = await desk();
    await write();
    pass(HOUR);
    await api("POST", `/chats/${chatId}/answered`);
    await write();
    expect((await api("DELETE", `/chats/${chatId}/answered`)).status).toBe(200);
    if (isEvicted) await evictDurableObject(env.CHATS.getByName(chatId));
    await write();
    pass(HOUR);
    await send();
    expect(await sums(channelId)).toEqual({ received: 3, sent: 1, newChats: 1 });
    await write();
    pass(MINUTE);
    await send();
    expect(await sums(channelId)).toMatchObject({ answers: 1, within5m: 1 });
  },
);

test("taking an answered back that nobody gave leaves the run counted", async () => {
  const { write, send, sums, channelId, chatId, api } = await desk();
  await write();
  expect((await api("DELETE", `/chats/${chatId}/answered`)).status).toBe(200);
  await send();
  expect(await sums(channelId)).toMatchObject({ answers: 1, within1m: 1 });
});

test("a chat that crashed before it reported loses no message and no answer", async () => {
  const { write, send, sums, chatId, ann, channelId } = await desk();
  await write();
  pass(5 * MINUTE);
  await send({ senderId: ann });
  await crash(env.CHATS.getByName(chatId));
  const all = { sent: 1, answers: 1, within15m: 1 };
  expect(await sums(channelId)).toEqual({ ...all, received: 1, newChats: 1 });
  expect(await sums(ann)).toEqual(all);
  await crash(env.CHATS.getByName(chatId));
  expect(await sums(ann)).toEqual(all);
});

test("a send that names no member writes the rows that it wrote without response times, and one that does writes one more", async () => {
  const { write, send, report, ann, organizationId } = await desk();
  const object = () => env.ORGANIZATIONS.getByName(organizationId);
  const rows = async (body: object) => {
    await write();
    await report();
    pass(10_000);
    const sendAndReport = async () => {
      await send(body);
      pass(10_000);
      await report();
    };
    const { rows } = await objectWrites({ object }, sendAndReport);
    vi.restoreAllMocks();
    expect(rows).toBeGreaterThan(0);
    return rows;
  };
  await rows({ senderId: ann });
  const plain = await rows({});
  expect(await rows({ senderId: ann })).toBe(plain + 1);
});

test("statistics say how many chats a channel has and how many wait for an answer", async () => {
  const { write, report, send, api, channelId, organizationId } = await desk();
  await newChat(api, channelId);
  const now = async () => {
    await report();
    const { channels } = await statsOf(organizationId);
    const { chats, unanswered } = channels.find(({ id }: { id: string }) => id === channelId);
    return { chats, unanswered };
  };
  expect(await now()).toEqual({ chats: 2, unanswered: 0 });
  await write();
  expect(await now()).toEqual({ chats: 2, unanswered: 1 });
  await send();
  expect(await now()).toEqual({ chats: 2, unanswered: 0 });
});

test("a chat of a network counts the same, whatever became of the message", async () => {
  const chat = await conversation("telegram");
  await writeAsContact(chat.organizationId, chat.chatId);
  pass(20 * MINUTE);
  await send(chat.api, chat.chatId, { senderId: chat.ownerId });
  await report(chat.chatId);
  for (const id of [chat.channelId, chat.ownerId]) {
    const { body } = await admin("GET", `/stats/history?of=${id}`);
    expect(body.history.buckets.at(-1)).toMatchObject({ sent: 1, answers: 1, classes: { ...NO_CLASSES, within1h: 1 } });
  }
});
