import { expect, test } from "vitest";
import { newChat, send } from "../../support/harness.ts";
import { nameOf, newListener, newListenerWithChat, pageOf, report } from "./place.ts";

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
