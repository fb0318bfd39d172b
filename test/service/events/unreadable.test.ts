import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { breakObject } from "../../support/faults.ts";
import { expectError, newChat, send } from "../../support/harness.ts";
import { ringSoon } from "../../support/timers.ts";
import { pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { linesOf } from "../export/fixtures.ts";
import { nameOf, newListenerWithChat, openStream, pageOf, report } from "./fixtures.ts";

stopTheClock();

/** Three chats, of which the one in the middle of the feed can't be read. */
async function placeWithBadChat(method: string) {
  const place = await newListenerWithChat();
  const bad = await newChat(place.api, place.channelId);
  await report(bad.id);
  const last = await newChat(place.api, place.channelId);
  await report(last.id);
  await send(place.api, bad.id);
  await report(bad.id);
  return { ...place, badId: bad.id, lastId: last.id, tries: breakObject("CHATS", bad.id, method, "throws") };
}

test("a chat that can't be read holds up the feed for two minutes; then the feed says which events to read later", async () => {
  const { api, chat, badId, lastId, channelId, organizationId } = await placeWithBadChat("events");
  const first = await pageOf(api);
  expect(first.events.map(nameOf)).toEqual([`${chat.id} 1 chat.created`]);
  expect(first.hasMore).toBe(true);
  const held = await api("GET", `/events?after=${first.cursor}`);
  expectError(held, 503, "unavailable");
  expect(held.headers.get("Retry-After")).toBe("5");
  pass(119_000);
  expectError(await api("GET", `/events?after=${first.cursor}`), 503, "unavailable");
  pass(1_000);
  const { events, cursor, hasMore } = await pageOf(api, `after=${first.cursor}`);
  expect(events.map(({ type, chatId, number, data }) => [type, chatId, number, data])).toEqual([
    ["chat.unreadable", badId, null, { first: 1, last: 1 }],
    ["chat.created", lastId, 1, expect.anything()],
    ["chat.unreadable", badId, null, { first: 2, last: 2 }],
  ]);
  expect([hasMore, events.at(-1)?.cursor]).toEqual([false, cursor]);
  expect(events[0]).toMatchObject({ organizationId, channelId, channelKind: null, contactAddress: null });
  expect(new Set(events.map(({ id }) => id)).size).toBe(3);
  // The same ids each time. A filter of types leaves them in.
  const again = await pageOf(api, `after=${first.cursor}&types=message.*,chat.created`);
  expect(again.events.map(({ id }) => id)).toEqual(events.map(({ id }) => id));
  expectError(await api("GET", `/events/${events[0].id}`), 404, "event_not_found");
  vi.restoreAllMocks();
  const missed = (await api("GET", `/chats/${badId}/events?after=0`)).body.events;
  expect(missed.map(nameOf)).toEqual([`${badId} 1 chat.created`, `${badId} 2 message.created`]);
});

test("once a chat can be read again, its events are in the feed, and a later fault holds it up anew", async () => {
  const { api, badId } = await placeWithBadChat("events");
  const { cursor } = await pageOf(api);
  expectError(await api("GET", `/events?after=${cursor}`), 503, "unavailable");
  pass(300_000);
  vi.restoreAllMocks();
  const { events } = await pageOf(api, `after=${cursor}`);
  expect(events.map(({ type }) => type)).not.toContain("chat.unreadable");
  expect(events).toHaveLength(3);
  breakObject("CHATS", badId, "events", "throws");
  expectError(await api("GET", `/events?after=${cursor}`), 503, "unavailable");
});

test("a stream stays open while a chat can't be read, and goes on with it or without it", async () => {
  const { api, chat, badId, lastId, secret } = await placeWithBadChat("events");
  const { cursor } = await pageOf(api);
  // After this time, the feed is read again.
  ringSoon(3_000);
  const stream = await openStream(secret, `after=${cursor}`);
  expect(await stream.next()).toMatchObject({ id: cursor });
  pass(120_000);
  const events = await stream.events(3);
  expect(events.map(({ type, chatId }) => `${type} ${chatId}`)).toEqual([
    `chat.unreadable ${badId}`,
    `chat.created ${lastId}`,
    `chat.unreadable ${badId}`,
  ]);
  vi.restoreAllMocks();
  await send(api, chat.id);
  await report(chat.id);
  expect((await stream.events(1)).map(nameOf)).toEqual([`${chat.id} 2 message.created`]);
  await stream.close();
});

test("a chat that is deleted while it can't be read is left out, and chat.deleted tells of it", async () => {
  const { api, badId, lastId } = await placeWithBadChat("events");
  const { cursor } = await pageOf(api);
  const organization = env.ORGANIZATIONS.getByName((await api("GET", "/organization")).body.organization.id);
  expect(await organization.deleteChat(badId)).not.toBeNull();
  const { events } = await pageOf(api, `after=${cursor}`);
  expect(events.map(({ type, chatId }) => `${type} ${chatId}`)).toEqual([
    `chat.created ${lastId}`,
    `chat.deleted ${badId}`,
  ]);
});

test.each([0, 1, 2])(
  "an export goes on without its chat %i, which can't be read for two minutes, and says so",
  async (at) => {
    const { api, secret, channelId, chat } = await newListenerWithChat();
    const ids = [chat.id, (await newChat(api, channelId)).id, (await newChat(api, channelId)).id].toSorted();
    const badId = ids[at] as string;
    await send(api, badId);
    breakObject("CHATS", badId, "exportPage", "throws");
    // Held: the response ends before the chat. From there it is a 503.
    const begun = await linesOf(secret, "/export");
    expect(begun.filter(({ type }) => type === "chat")).toHaveLength(at);
    expect(begun.at(-1)).toMatchObject({ type: "end", next: expect.any(String) });
    const held = await api("GET", `/export?after=${begun.at(-1)?.next}`);
    expectError(held, 503, "unavailable");
    expect(held.headers.get("Retry-After")).toBe("5");
    pass(120_000);
    const lines = await linesOf(secret, "/export");
    expect(
      lines.flatMap(({ type, chat, chatId }) => (type.startsWith("chat") ? [`${type} ${chat?.id ?? chatId}`] : [])),
    ).toEqual(ids.map((id) => (id === badId ? `chat_unreadable ${id}` : `chat ${id}`)));
    expect(lines.find(({ type }) => type === "chat_unreadable")?.next).toBeNull();
    expect(lines.at(-1)).toMatchObject({ type: "end", next: null, unreadable: 1 });
    expectError(await api("GET", `/chats/${badId}/export`), 500, "internal_error");
    vi.restoreAllMocks();
    expect((await linesOf(secret, `/chats/${badId}/export`)).at(-1)).toEqual({ type: "end", lastSeq: 1, next: null });
    const whole = await linesOf(secret, "/export");
    expect(whole.at(-1)).not.toHaveProperty("unreadable");
  },
);
