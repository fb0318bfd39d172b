import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { newId } from "../../../src/model/id.ts";
import { runAlarm } from "../../support/alarms.ts";
import {
  type Answer,
  admin,
  expectError,
  expectFaults,
  newChat,
  newOrganization,
  send,
  sendMany,
} from "../../support/harness.ts";
import { once } from "../../support/once.ts";

async function newChatWith(count: number) {
  const { api, channelId } = await newOrganization();
  const chat = await newChat(api, channelId);
  const sent = await sendMany(api, chat.id, count);
  const list = (query: string) => api("GET", `/chats/${chat.id}/messages${query}`);
  return { api, channelId, chat, sent, list };
}

function numbers(answer: Answer): number[] {
  expect(answer.status, answer.text).toBe(200);
  return answer.body.messages.map((message: { seq: number }) => message.seq);
}

test("a list has the newest messages first, and 20 per page by default", async () => {
  const { list, sent } = await newChatWith(21);
  const answer = await list("");
  expect(answer.body.messages).toEqual(sent.slice(1).reverse());
  expect(answer.body.pagination).toEqual({ page: 1, limit: 20, total: 21, totalPages: 2, hasMore: true });
});

test.each([
  ["?limit=2", [5, 4], { page: 1, limit: 2, total: 5, totalPages: 3, hasMore: true }],
  ["?page=2&limit=2", [3, 2], { page: 2, limit: 2, total: 5, totalPages: 3, hasMore: true }],
  ["?page=3&limit=2", [1], { page: 3, limit: 2, total: 5, totalPages: 3, hasMore: false }],
  ["?page=4&limit=2", [], { page: 4, limit: 2, total: 5, totalPages: 3, hasMore: false }],
  ["?page=1&limit=5", [5, 4, 3, 2, 1], { page: 1, limit: 5, total: 5, totalPages: 1, hasMore: false }],
  ["?limit=100", [5, 4, 3, 2, 1], { page: 1, limit: 100, total: 5, totalPages: 1, hasMore: false }],
  ["?page=0000000000001&limit=1", [5], { page: 1, limit: 1, total: 5, totalPages: 5, hasMore: true }],
  ["?page=999999999999999&limit=100", [], { page: 999999999999999, limit: 100, total: 5, totalPages: 1 }],
])("of five messages %s shows %j", async (query, seqs, pagination) => {
  const answer = await (await newChatWith(5)).list(query);
  expect(numbers(answer)).toEqual(seqs);
  expect(answer.body.pagination).toEqual({ hasMore: false, ...pagination });
});

test("a chat without messages is an empty page", async () => {
  const answer = await (await newChatWith(0)).list("");
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({
    messages: [],
    pagination: { page: 1, limit: 20, total: 0, totalPages: 0, hasMore: false },
  });
});

test("before selects the newest messages before the cursor", async () => {
  const { list, sent } = await newChatWith(5);
  const answer = await list(`?before=${sent[4]?.id}&limit=2`);
  expect(numbers(answer)).toEqual([4, 3]);
  expect(answer.body.pagination).toEqual({ limit: 2, total: 5, hasMore: true });
});

test("before the first message, the page is empty", async () => {
  const { list, sent } = await newChatWith(2);
  const answer = await list(`?before=${sent[0]?.id}`);
  expect(answer.body).toEqual({ messages: [], pagination: { limit: 20, total: 2, hasMore: false } });
});

test("pages read with before contain each message once, even if others arrive", async () => {
  const { api, chat, list } = await newChatWith(5);
  const seen = numbers(await list("?limit=2"));
  let answer = await list("?limit=2");
  while (answer.body.pagination.hasMore) {
    await send(api, chat.id);
    answer = await list(`?limit=2&before=${answer.body.messages.at(-1).id}`);
    seen.push(...numbers(answer));
  }
  expect(seen).toEqual([5, 4, 3, 2, 1]);
});

test("after selects the oldest messages after the cursor, listed newest first", async () => {
  const { list, sent } = await newChatWith(5);
  const answer = await list(`?after=${sent[0]?.id}&limit=2`);
  expect(numbers(answer)).toEqual([3, 2]);
  expect(answer.body.pagination).toEqual({ limit: 2, total: 5, hasMore: true });
});

test("pages read with after skip no message, and the last one has hasMore false", async () => {
  const { list, sent } = await newChatWith(6);
  const first = await list(`?after=${sent[0]?.id}&limit=3`);
  const second = await list(`?after=${first.body.messages[0].id}&limit=3`);
  expect([...numbers(second), ...numbers(first)]).toEqual([6, 5, 4, 3, 2]);
  expect(second.body.pagination).toEqual({ limit: 3, total: 6, hasMore: false });
});

test("after the newest message, the page is empty", async () => {
  const { list, sent } = await newChatWith(2);
  const answer = await list(`?after=${sent[1]?.id}`);
  expect(answer.body).toEqual({ messages: [], pagination: { limit: 20, total: 2, hasMore: false } });
});

/** An organization for tests that only read, or whose requests are refused. */
const shared = once(newOrganization);

test.each([
  ["?page", "page"],
  ["?page=1%20", "page"],
  ["?limit=101", "limit"],
  ["?before=a&before=a", "before"],
  ["?after=", "after"],
])("the query %s is a 400 that names %s, whether the chat exists or not", async (query, path) => {
  const { api } = await shared();
  expectFaults(await api("GET", `/chats/${newId("cht", null)}/messages${query}`), path);
});

test("every wrong parameter is named", async () => {
  expectFaults(await (await newChatWith(0)).list("?page=0&limit=101"), "page", "limit");
});

test.each(["before", "after"])("page together with %s is a 400", async (cursor) => {
  const { list, sent } = await newChatWith(1);
  expectFaults(await list(`?page=1&${cursor}=${sent[0]?.id}`), "page");
});

test("before together with after is a 400", async () => {
  const { list, sent } = await newChatWith(2);
  expectFaults(await list(`?before=${sent[1]?.id}&after=${sent[0]?.id}`), "after");
});

test.each(["before", "after"])("%s with an unknown message, or a message of another chat, is a 400", async (cursor) => {
  const { api, channelId, list } = await newChatWith(1);
  const elsewhere = await send(api, (await newChat(api, channelId)).id);
  for (const id of [elsewhere.id, newId("msg", null), "1", "\0", "msg_' or '1' = '1"]) {
    expectFaults(await list(`?${cursor}=${encodeURIComponent(id)}`), cursor);
  }
});

test("a hundred of the longest messages fit in one page", async () => {
  const { api, chat, list } = await newChatWith(0);
  const metadata = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`key${index}`, "x".repeat(500)]));
  const content = `x${"\0".repeat(4_095)}`;
  await Promise.all(Array.from({ length: 100 }, () => send(api, chat.id, { content, metadata })));
  const answer = await list("?limit=100");
  expect(numbers(answer)).toEqual(Array.from({ length: 100 }, (_, index) => 100 - index));
});

test("GET of a message's id returns the message", async () => {
  const { api, chat, sent } = await newChatWith(2);
  const answer = await api("GET", `/chats/${chat.id}/messages/${sent[0]?.id}`);
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({ message: sent[0] });
});

test("a message is not found in another chat of the same organization", async () => {
  const { api, channelId, sent } = await newChatWith(1);
  const other = await newChat(api, channelId);
  const answer = await api("GET", `/chats/${other.id}/messages/${sent[0]?.id}`);
  expectError(answer, 404, "message_not_found", "Message not found");
});

async function polled(messages = 3) {
  const { api, channelId } = await newOrganization();
  const chat = await newChat(api, channelId);
  await sendMany(api, chat.id, messages);
  const poll = (tag?: string, query = "") =>
    api("GET", `/chats/${chat.id}/messages${query}`, undefined, tag === undefined ? {} : { "If-None-Match": tag });
  return { api, channelId, chatId: chat.id, poll };
}

function tagOf(answer: Answer): string {
  const tag = answer.headers.get("ETag") ?? "";
  expect(tag).toMatch(/^"[0-9a-f]{32}"$/);
  return tag;
}

function expectNotModified(answer: Answer): void {
  expect(answer.status, answer.text).toBe(304);
  expect(answer.text).toBe("");
}

test("a page that the client has cached is a 304 without a body, with its tag and the key's limits", async () => {
  const { poll } = await polled();
  const tag = tagOf(await poll());
  const again = await poll(tag);
  expectNotModified(again);
  expect(tagOf(again)).toBe(tag);
  expect(Number(again.headers.get("X-RateLimit-Remaining"))).toBeGreaterThan(0);
});

test.each([
  ["the same tag, but weak", (tag: string) => `W/${tag}`],
  ["one of several", (tag: string) => `"other", ${tag}`],
  ["any", () => "*"],
])("a tag that is %s matches", async (_, made) => {
  const { poll } = await polled();
  expectNotModified(await poll(made(tagOf(await poll()))));
});

test("with another tag or without one, the response is the page", async () => {
  const { poll } = await polled();
  const page = await poll();
  for (const tag of [undefined, "", '"other"', tagOf(page).slice(1, -1)]) {
    const answer = await poll(tag);
    expect(answer.status).toBe(200);
    expect(answer.text).toBe(page.text);
  }
});

test("a tag stays valid after an eviction of the chat's object", async () => {
  const { chatId, poll } = await polled();
  const tag = tagOf(await poll());
  await evictDurableObject(env.CHATS.getByName(chatId));
  expectNotModified(await poll(tag));
});

test("a new message, a redaction and another page each change the tag", async () => {
  const { api, chatId, poll } = await polled();
  const tags = [tagOf(await poll())];
  const message = await send(api, chatId);
  tags.push(tagOf(await poll(tags[0])));
  expect((await admin("POST", `/chats/${chatId}/messages/${message.id}/redact`)).status).toBeLessThan(300);
  tags.push(tagOf(await poll(tags[1])), tagOf(await poll(undefined, "?page=2&limit=1")));
  tags.push(tagOf(await poll(undefined, "?limit=2")));
  expect(new Set(tags).size).toBe(5);
});

test("every list of a chat has a tag, by page and by cursor", async () => {
  const { api, chatId, poll } = await polled();
  const { id } = await send(api, chatId);
  for (const query of ["?page=2&limit=2", `?before=${id}`, `?after=${id}`]) {
    expectNotModified(await poll(tagOf(await poll(undefined, query)), query));
  }
});

test("a list of chats that the client has cached is a 304 too", async () => {
  const { api, channelId, chatId } = await polled();
  // A report of the chat is news.
  await runAlarm(env.CHATS.getByName(chatId));
  const tag = tagOf(await api("GET", "/chats"));
  expectNotModified(await api("GET", "/chats", undefined, { "If-None-Match": tag }));
  await newChat(api, channelId);
  expect((await api("GET", "/chats", undefined, { "If-None-Match": tag })).status).toBe(200);
});

test("a refused key does not learn whether a page changed", async () => {
  const { poll } = await polled();
  const tag = tagOf(await poll());
  const stranger = await polled();
  expect(
    (await stranger.api("GET", "/chats/cht_gaaaaaaaaaaaaaaa/messages", undefined, { "If-None-Match": tag })).status,
  ).toBe(404);
});
