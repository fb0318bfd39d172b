import { expect, test } from "vitest";
import { newId } from "../../../src/ids.ts";
import {
  type Answer,
  expectError,
  expectFaults,
  newChat,
  newOrganization,
  send,
  sendMany,
} from "../../support/harness.ts";

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

test("a list is most recent first, 20 a page unless the query says otherwise", async () => {
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

test("before gives the newest messages before the cursor", async () => {
  const { list, sent } = await newChatWith(5);
  const answer = await list(`?before=${sent[4]?.id}&limit=2`);
  expect(numbers(answer)).toEqual([4, 3]);
  expect(answer.body.pagination).toEqual({ limit: 2, total: 5, hasMore: true });
});

test("before the first message lies nothing", async () => {
  const { list, sent } = await newChatWith(2);
  const answer = await list(`?before=${sent[0]?.id}`);
  expect(answer.body).toEqual({ messages: [], pagination: { limit: 20, total: 2, hasMore: false } });
});

test("a walk with before sees each message once while others arrive", async () => {
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

test("after gives the oldest messages after the cursor, listed most recent first", async () => {
  const { list, sent } = await newChatWith(5);
  const answer = await list(`?after=${sent[0]?.id}&limit=2`);
  expect(numbers(answer)).toEqual([3, 2]);
  expect(answer.body.pagination).toEqual({ limit: 2, total: 5, hasMore: true });
});

test("a walk with after ends with hasMore false and skips none", async () => {
  const { list, sent } = await newChatWith(6);
  const first = await list(`?after=${sent[0]?.id}&limit=3`);
  const second = await list(`?after=${first.body.messages[0].id}&limit=3`);
  expect([...numbers(second), ...numbers(first)]).toEqual([6, 5, 4, 3, 2]);
  expect(second.body.pagination).toEqual({ limit: 3, total: 6, hasMore: false });
});

test("after the newest message lies nothing", async () => {
  const { list, sent } = await newChatWith(2);
  const answer = await list(`?after=${sent[1]?.id}`);
  expect(answer.body).toEqual({ messages: [], pagination: { limit: 20, total: 2, hasMore: false } });
});

test.each([
  ["?page=0", "page"],
  ["?page=", "page"],
  ["?page", "page"],
  ["?page=-1", "page"],
  ["?page=1.0", "page"],
  ["?page=1e3", "page"],
  ["?page=0x1", "page"],
  ["?page=%2B1", "page"],
  ["?page=1%20", "page"],
  ["?page=one", "page"],
  ["?page=%D9%A1", "page"],
  ["?page=1000000000000000", "page"],
  ["?page=1&page=1", "page"],
  ["?limit=0", "limit"],
  ["?limit=101", "limit"],
  ["?limit=", "limit"],
  ["?limit=-5", "limit"],
  ["?limit=2.5", "limit"],
  ["?limit=5&limit=6", "limit"],
  ["?before=", "before"],
  ["?after=", "after"],
  ["?before=a&before=a", "before"],
  [`?before=${"m".repeat(65)}`, "before"],
])("the query %s is a 400 that names %s, whether there is such a chat or not", async (query, path) => {
  const { api } = await newOrganization();
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

test.each(["before", "after"])("a %s that is no message, or one of another chat, is a 400", async (cursor) => {
  const { api, channelId, list } = await newChatWith(1);
  const elsewhere = await send(api, (await newChat(api, channelId)).id);
  for (const id of [elsewhere.id, newId("msg", null), "1", "\0", "msg_' or '1' = '1"]) {
    expectFaults(await list(`?${cursor}=${encodeURIComponent(id)}`), cursor);
  }
});

test("a hundred of the longest messages are one page", async () => {
  const { api, chat, list } = await newChatWith(0);
  const metadata = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`key${index}`, "x".repeat(500)]));
  await Promise.all(Array.from({ length: 100 }, () => send(api, chat.id, { content: "\0".repeat(4_096), metadata })));
  const answer = await list("?limit=100");
  expect(numbers(answer)).toEqual(Array.from({ length: 100 }, (_, index) => 100 - index));
});

test("one message is read by its id", async () => {
  const { api, chat, sent } = await newChatWith(2);
  const answer = await api("GET", `/chats/${chat.id}/messages/${sent[0]?.id}`);
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({ message: sent[0] });
});

test("a message of another chat of the same organization is not found in this one", async () => {
  const { api, channelId, sent } = await newChatWith(1);
  const other = await newChat(api, channelId);
  const answer = await api("GET", `/chats/${other.id}/messages/${sent[0]?.id}`);
  expectError(answer, 404, "message_not_found", "Message not found");
});
