import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { ChatIdentity } from "../../../src/model/chat-answers.ts";
import { asOwner } from "../../support/as-owner.ts";
import { countCalls } from "../../support/faults.ts";
import { admin, call, expectError, expectFaults, newChannel, newChat, send } from "../../support/harness.ts";
import { stopTheClock } from "../chats/object/delivery/conversation.ts";
import { nameOf, newListener, newListenerWithChat, pageOf, report } from "./fixtures.ts";

stopTheClock();

test("an organization without a chat has an empty feed, and its cursor gets the first event", async () => {
  const { api, channelId } = await newListener();
  const { events, cursor, hasMore } = await pageOf(api);
  expect([events, hasMore]).toEqual([[], false]);
  const chat = await newChat(api, channelId);
  await report(chat.id);
  const next = await pageOf(api, `after=${cursor}`);
  expect(next.events.map(nameOf)).toEqual([`${chat.id} 1 chat.created`]);
});

test("the events of several chats come once and in order, page by page and from each cursor", async () => {
  const { api, channelId } = await newListener();
  const [one, other] = [await newChat(api, channelId), await newChat(api, channelId)];
  for (let turn = 0; turn < 3; turn++) {
    for (const chat of [one, other]) {
      for (let count = 0; count < 3; count++) await send(api, chat.id);
      await report(chat.id);
    }
  }
  const all = await pageOf(api, "limit=100");
  expect(all.hasMore).toBe(false);
  for (const chat of [one, other]) {
    const numbers = all.events.filter(({ chatId }) => chatId === chat.id).map(({ number }) => number);
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => index + 1));
    expect(numbers.length).toBeGreaterThanOrEqual(10);
  }
  const names = all.events.map(nameOf);
  for (const limit of [1, 2, 7]) {
    const seen: string[] = [];
    let query = "from=oldest";
    for (let hasMore = true; hasMore; ) {
      const page = await pageOf(api, `limit=${limit}&${query}`);
      seen.push(...page.events.map(nameOf));
      query = `after=${page.cursor}`;
      hasMore = page.hasMore;
    }
    expect(seen).toEqual(names);
  }
  for (const [index, { cursor }] of all.events.entries()) {
    expect((await pageOf(api, `limit=100&after=${cursor}`)).events.map(nameOf)).toEqual(names.slice(index + 1));
  }
});

test("a page reads a chat only if one of its events shows the chat", async () => {
  const { api, channelId } = await newListener();
  const chat = await newChat(api, channelId);
  await send(api, chat.id);
  await report(chat.id);
  const reads = countCalls("ORGANIZATIONS", "find");
  expect((await pageOf(api, "types=message.created")).events).toHaveLength(1);
  expect(reads()).toBe(0);
  expect((await pageOf(api)).events).toHaveLength(2);
  expect(reads()).toBe(1);
});

test("an event of the feed is the event that its id finds, with a cursor", async () => {
  const { api, chat, organizationId } = await newListenerWithChat();
  const message = await send(api, chat.id, { content: "Hello" });
  await report(chat.id);
  const { events } = await pageOf(api, "types=message.created");
  const [{ cursor, ...event }] = events as [{ cursor: string; id: string }];
  expect(event).toMatchObject({
    id: expect.stringMatching(/^evt_/),
    type: "message.created",
    organizationId,
    chatId: chat.id,
    channelId: chat.channel.id,
    channelKind: "web",
    contactAddress: chat.contact.address,
    number: 2,
    data: { messageId: message.id, seq: 1, message: { content: "Hello" } },
  });
  expect(cursor).toMatch(/^[\w-]+$/);
  expect((await api("GET", `/events/${event.id}`)).body).toEqual({ event });
});

test("a deleted chat leaves the feed, its events are not found, and chat.deleted is there", async () => {
  const { api, channelId, chat, organizationId } = await newListenerWithChat();
  const other = await newChat(api, channelId);
  await report(other.id);
  const [{ id }] = (await pageOf(api)).events;
  expect((await admin("DELETE", `/chats/${chat.id}`)).status).toBe(200);
  const { events } = await pageOf(api);
  expect(events.map(({ type }) => type)).toEqual(["chat.created", "chat.deleted"]);
  expect(events[0].chatId).toBe(other.id);
  const { cursor: _, ...deleted } = events[1];
  expect(deleted).toMatchObject({ organizationId, chatId: chat.id, channelId, number: null, data: {} });
  expect((await api("GET", `/events/${deleted.id}`)).body).toEqual({ event: deleted });
  expectError(await api("GET", `/events/${id}`), 404, "event_not_found");
  expectError(await api("GET", `/chats/${chat.id}/events`), 404, "chat_not_found");
});

test("another organization's cursor is expired, and its events are answered like events that don't exist", async () => {
  const [ours, theirs] = [await newListenerWithChat(), await newListenerWithChat()];
  const [event] = (await pageOf(theirs.api)).events;
  expectError(await ours.api("GET", `/events?after=${event.cursor}`), 410, "cursor_expired");
  const swapped = await ours.api("GET", `/events/${event.id}`);
  const missing = await ours.api("GET", `/events/${event.id.replace(/1$/, "9")}`);
  expectError(swapped, 404, "event_not_found");
  expect(swapped.text).toBe(missing.text);
  expectError(await ours.api("GET", `/chats/${theirs.chat.id}/events`), 404, "chat_not_found");
  expectError(await ours.api("GET", "/events/evt_x"), 404, "event_not_found");
  expect((await ours.api("GET", `/events/${(await pageOf(ours.api)).events[0].id}`)).status).toBe(200);
});

test("the feed leaves out the events of a chat's earlier life, and has those of the new one once", async () => {
  const { api, organizationId, chat } = await newListenerWithChat();
  const object = env.CHATS.getByName(chat.id);
  const identity = await env.ORGANIZATIONS.getByName(organizationId).identity(chat.id);
  const again = { ...identity, life: (identity?.life ?? 0) + 1 } as ChatIdentity;
  await object.erase(organizationId, again.life - 1);
  await object.adopt(again);
  expect((await pageOf(api)).events).toEqual([]);
  const read = await object.events(asOwner(organizationId, again), { first: 1, last: 1, life: again.life }, null);
  expect(read).toMatchObject({ outcome: "ok", events: [{ number: 1, type: "chat.created" }] });
});

test("an id with another life of its chat is the id of no event", async () => {
  const { api } = await newListenerWithChat();
  const [{ id }] = (await pageOf(api)).events;
  const [tail, number] = [id.slice(0, 20), id.slice(28)];
  expectError(await api("GET", `/events/${tail}00000000${number}`), 404, "event_not_found");
});

test("a place to begin is given once, and must be a cursor of this feed", async () => {
  const { api, secret } = await newListenerWithChat();
  const { cursor } = await pageOf(api);
  expectFaults(await api("GET", `/events?after=${cursor}&from=now`), "after");
  expectFaults(await api("GET", `/events?after=${cursor.slice(0, -2)}`), "after");
  const stream = (query: string, id: string) =>
    call("GET", `/api/v1/events/stream?${query}`, {
      headers: { Authorization: `Bearer ${secret}`, "Last-Event-ID": id },
    });
  expectFaults(await stream("", "7"), "Last-Event-ID");
});

test("a page can be filtered by types and families, and by channel", async () => {
  const { api, organizationId, chat } = await newListenerWithChat();
  await send(api, chat.id);
  await report(chat.id);
  const types = async (query: string) => (await pageOf(api, query)).events.map(({ type }) => type);
  expect(await types("types=message.*")).toEqual(["message.created"]);
  expect(await types("types=chat.created,message.created")).toEqual(["chat.created", "message.created"]);
  expect(await types(`channel=${chat.channel.id}`)).toEqual(["chat.created", "message.created"]);
  expect(await types(`channel=${await newChannel(organizationId, "web")}`)).toEqual([]);
});
