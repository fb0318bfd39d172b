import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { MAX_CHANGED, MAX_EVENTS_AWAY } from "../../../../../src/chats/object/visitors/queries.ts";
import type { EventType } from "../../../../../src/model/event.ts";
import type { Message } from "../../../../../src/model/message.ts";
import { admin, send, sendMany } from "../../../../support/harness.ts";
import { connect, visit } from "../../../../support/sockets.ts";
import { stopTheClock } from "../delivery/conversation.ts";
import { newVisitor } from "./new-visitor.ts";

stopTheClock();

test("a page catches up from its last number and requests older messages, oldest first, 100 at a time", async () => {
  const { api, channelId, token } = await newVisitor();
  const { page } = await visit(channelId, { token });
  await page.write("a");
  const chatId: string = (await visit(channelId, { token })).ready.chatId;
  await page.close();
  await sendMany(api, chatId, 104);
  const seqs = ({ messages }: { messages: Message[] }) => messages.map((message) => message.seq);
  const range = (low: number, high: number) => Array.from({ length: high - low + 1 }, (_, i) => low + i);
  const { ready: all } = await visit(channelId, { token });
  expect([seqs(all), all.hasMore, all.lastSeq]).toEqual([range(1, 100), true, 105]);
  const { ready: rest } = await visit(channelId, { token, after: 100 });
  expect([seqs(rest), rest.hasMore, rest.lastSeq]).toEqual([range(101, 105), false, 105]);
  const { page: again, ready: none } = await visit(channelId, { token, after: 105 });
  expect([seqs(none), none.hasMore, none.lastSeq]).toEqual([[], false, 105]);
  const older = async (before: number) => seqs(await again.ask({ type: "older", before }));
  expect([await older(105), await older(5)]).toEqual([range(5, 104), range(1, 4)]);
  expect([await older(1), await older(10_000)]).toEqual([[], range(6, 105)]);
});

test("a visitor without a chat has no older messages", async () => {
  const { page } = await visit((await newVisitor()).channelId);
  expect(await page.ask({ type: "older", before: 7 })).toEqual({ type: "older", messages: [] });
});

test("a page that catches up gets the same messages as an open page", async () => {
  const { api, channelId, token } = await newVisitor();
  const { page } = await visit(channelId, { token });
  await page.write("a");
  const { ready } = await visit(channelId, { token });
  await send(api, ready.chatId, { metadata: { secret: "s" } });
  const { message } = await page.next();
  const { page: again, ready: back } = await visit(channelId, { token, after: 1 });
  expect(back.messages).toEqual([message]);
  expect((await again.ask({ type: "older", before: 3 })).messages[1]).toEqual(message);
  expect(JSON.stringify(message)).not.toMatch(/metadata|senderId|templateId|variables/);
});

test("a page whose number is too high learns the chat's newest number", async () => {
  const { channelId, token } = await newVisitor();
  await (await visit(channelId, { token })).page.write("a");
  expect((await visit(channelId, { token, after: 999 })).ready).toMatchObject({
    messages: [],
    hasMore: false,
    lastSeq: 1,
  });
});

test("a redacted message is redacted on open pages too", async () => {
  const { channelId, token } = await newVisitor();
  const { page } = await visit(channelId, { token });
  const { messageId } = await page.write("a", "My card number");
  const { ready } = await visit(channelId, { token });
  await admin("POST", `/chats/${ready.chatId}/messages/${messageId}/redact`);
  expect(await page.next()).toMatchObject({
    type: "updated",
    message: { id: messageId, seq: 1, content: "", text: "" },
  });
});

test("a page that was away hears of each changed message once, as it is now, before the new ones", async () => {
  const { api, channelId, token } = await newVisitor();
  const { page } = await visit(channelId, { token });
  const { messageId } = await page.write("a", "My card number");
  const { ready } = await visit(channelId, { token });
  await page.close();
  const { id } = await send(api, ready.chatId);
  for (const each of [messageId, id]) await admin("POST", `/chats/${ready.chatId}/messages/${each}/redact`);
  const again = await connect(channelId, { token, after: 1, events: ready.events });
  const frames = await again.rest();
  expect(frames).toMatchObject([
    { type: "updated", message: { id: messageId, seq: 1, text: "", redactedAt: expect.any(String) } },
    { type: "updated", message: { id, seq: 2, text: "" } },
    { type: "ready", messages: [{ id, text: "" }] },
  ]);
  const known = frames.at(-1).events;
  expect(known).toBeGreaterThan(ready.events);
  const { page: fresh } = await visit(channelId, { token, after: 2, events: known });
  expect(await fresh.rest()).toEqual([]);
  const { page: first } = await visit(channelId, { token });
  expect(await first.rest()).toEqual([]);
});

test("a page that was away for too many changes gets a reset and the newest messages", async () => {
  const { api, channelId, token, object } = await newVisitor();
  const { page } = await visit(channelId, { token });
  await page.write("a");
  const { chatId, events } = (await visit(channelId, { token })).ready;
  await sendMany(api, chatId, MAX_CHANGED + 1);
  const change = (count: number) =>
    runInDurableObject(object, (_object, { storage }) => {
      for (let seq = 1; seq <= count; seq++) appendEvent(storage.sql, "message.edited", seq);
    });
  const types = async (since: number) => {
    const frames = await (await connect(channelId, { token, after: 202, events: since })).rest();
    return frames.map(({ type }) => type);
  };
  await change(MAX_CHANGED);
  await evictDurableObject(object);
  expect(await types(events)).toEqual([...Array(MAX_CHANGED).fill("updated"), "ready"]);
  await change(MAX_CHANGED + 1);
  await evictDurableObject(object);
  const late = await connect(channelId, { token, after: 202, events });
  expect(await late.next()).toEqual({ type: "reset" });
  const ready = await late.next();
  expect(ready).toMatchObject({ type: "ready", hasMore: false, lastSeq: 202 });
  expect(ready.messages.map(({ seq }: Message) => seq)).toEqual(Array.from({ length: 100 }, (_, n) => 103 + n));
  // The changes of the last ones alone can be told.
  expect(await types(ready.events - 1)).toEqual(["updated", "ready"]);
});

test("a page that asks for the events of a long chat costs no more than one that was never here", async () => {
  const { channelId, token, object } = await newVisitor();
  const { page } = await visit(channelId, { token });
  await page.write("a");
  await runInDurableObject(object, (_object, { storage }) => {
    for (let n = 0; n <= MAX_EVENTS_AWAY; n++) appendEvent(storage.sql, "chat.updated", null);
  });
  await evictDurableObject(object);
  const newest = (await visit(channelId, { token })).ready.events;
  const first = async (events: number) => (await (await connect(channelId, { token, after: 1, events })).next()).type;
  expect(await first(newest - MAX_EVENTS_AWAY)).toBe("ready");
  expect(await first(newest - MAX_EVENTS_AWAY - 1)).toBe("reset");
  expect(await first(0)).toBe("reset");
});

test("a page that knows more events than there are was on a deleted chat, and gets a reset", async () => {
  const { channelId, token } = await newVisitor();
  const none = await connect(channelId, { token, after: 3, events: 7 });
  expect(await none.rest()).toMatchObject([{ type: "reset" }, { type: "ready", chatId: null, events: 0 }]);
  const { page } = await visit(channelId, { token, events: 0 });
  await page.write("a");
  const { ready } = await visit(channelId, { token });
  const wrong = await connect(channelId, { token, after: 3, events: ready.events + 1 });
  expect(await wrong.rest()).toMatchObject([{ type: "reset" }, { type: "ready", messages: [{ seq: 1 }] }]);
});

test.each([{ events: "x" }, { events: -1 }, { events: 1.5 }, { after: "x" }])(
  "%j is no number of a page",
  async (query) => {
    const page = await connect((await newVisitor()).channelId, query);
    expect(await page.closed).toBe(1008);
  },
);

function appendEvent(sql: SqlStorage, type: EventType, seq: number | null): void {
  sql.exec("insert into events (n, type, seq, note, at) select max(n) + 1, ?, ?, null, 0 from events", type, seq);
}
