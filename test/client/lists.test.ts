import { expect, test } from "vitest";
import { clientOf, json } from "./server.ts";

const messages = (ids: string[], cursor: string | null) =>
  json(200, {
    messages: ids.map((id) => ({ id })),
    pagination: { limit: 100, hasMore: cursor !== null, cursor },
  });
const chats = (ids: string[], cursor: string | null) =>
  json(200, { chats: ids.map((id) => ({ id })), pagination: { limit: 100, hasMore: cursor !== null, cursor } });

test("messages are filtered by the service, and an empty page is not the end of the list", async () => {
  const { parley, asked } = await clientOf([messages(["msg_9"], "c1"), messages([], "c2"), messages(["msg_1"], null)]);
  const found = await Array.fromAsync(
    parley.messages("cht_g1", { search: "lamp", status: "FAILED", direction: "OUTBOUND", type: "TEXT" }),
  );
  expect(found.map(({ id }) => id)).toEqual(["msg_9", "msg_1"]);
  const filter = { search: "lamp", status: "FAILED", direction: "OUTBOUND", type: "TEXT", limit: "100" };
  expect(asked.map(({ query }) => query)).toEqual([filter, { ...filter, before: "c1" }, { ...filter, before: "c2" }]);
});

test("chats that a search finds, that wait for an answer or for their time continue with the cursor of the page", async () => {
  for (const filter of [{ search: "maya" }, { unanswered: true, person: "a" }, { scheduled: true, channel: "web" }]) {
    const { parley, asked } = await clientOf([chats(["cht_1"], "c1"), chats([], "c2"), chats(["cht_2"], null)]);
    const found = await Array.fromAsync(parley.chats(filter));
    expect(found.map(({ id }) => id)).toEqual(["cht_1", "cht_2"]);
    const first = { ...Object.fromEntries(Object.entries(filter).map(([k, v]) => [k, String(v)])), limit: "100" };
    expect(asked.map(({ query }) => query)).toEqual([first, { ...first, after: "c1" }, { ...first, after: "c2" }]);
  }
});

test("chats whose contact opted out continue with the cursor as before", async () => {
  const { parley, asked } = await clientOf([chats(["cht_1"], "c1"), chats(["cht_2"], null), chats([], null)]);
  const found = await Array.fromAsync(parley.chats({ optedOut: true, state: "open" }));
  expect(found.map(({ id }) => id)).toEqual(["cht_1", "cht_2"]);
  await Array.fromAsync(parley.chats({ optedOut: false }));
  const first = { optedOut: "true", state: "open", limit: "100" };
  expect(asked.map(({ query }) => query)).toEqual([first, { ...first, before: "c1" }, { limit: "100" }]);
});

test("saved replies are walked to the end of their list", async () => {
  const replies = (ids: string[], cursor: string | null) =>
    json(200, { replies: ids.map((id) => ({ id })), pagination: { limit: 100, hasMore: cursor !== null, cursor } });
  const { parley, asked } = await clientOf([replies(["rpl_1", "rpl_2"], "c1"), replies(["rpl_3"], null)]);
  const found = await Array.fromAsync(parley.replies());
  expect(found.map(({ id }) => id)).toEqual(["rpl_1", "rpl_2", "rpl_3"]);
  expect(asked.map(({ query }) => query)).toEqual([{ limit: "100" }, { limit: "100", after: "c1" }]);
});

test("a search over all chats goes on with the cursor, over empty pages, and gives each message with its chat", async () => {
  const page = (ids: string[], cursor: string | null) =>
    json(200, {
      messages: ids.map((id) => ({ message: { id }, chat: { id: "cht_g1" } })),
      pagination: { limit: 100, hasMore: cursor !== null, cursor },
    });
  const { parley, asked } = await clientOf([page(["msg_9"], "c1"), page([], "c2"), page(["msg_1"], null)]);
  const filter = { search: "lamp", channel: "web", assignee: "none", direction: "INBOUND" } as const;
  const times = { since: "2026-11-01T00:00:00Z", until: "2026-11-20T00:00:00Z" };
  const found = await Array.fromAsync(parley.searchMessages({ ...filter, ...times }));
  expect(found.map(({ message, chat }) => [message.id, chat.id])).toEqual([
    ["msg_9", "cht_g1"],
    ["msg_1", "cht_g1"],
  ]);
  const first = { ...filter, ...times, limit: "100" };
  expect(asked.map(({ query }) => query)).toEqual([first, { ...first, before: "c1" }, { ...first, before: "c2" }]);
});

test("a search over all chats that is off is an error with its code", async () => {
  const { parley } = await clientOf([json(409, { error: "The search is off", code: "search_off" })]);
  await expect(Array.fromAsync(parley.searchMessages({ search: "lamp" }))).rejects.toMatchObject({
    code: "search_off",
  });
});
