import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readCursor } from "../../../src/events/cursor.ts";
import { cursorAt, FeedReader, MAX_READS } from "../../../src/events/feed-reader.ts";
import { ApiError } from "../../../src/model/error.ts";
import type { EventType } from "../../../src/model/event.ts";
import type { FeedFilter } from "../../../src/model/event-filter.ts";
import { ALL, FakeFeed, feedOf, LIFE, readerOf } from "./fake-feed.ts";

async function expired(read: Promise<unknown>): Promise<void> {
  await expect(read).rejects.toThrow(new ApiError("cursor_expired"));
}

test("events come in the order of the bursts, each with a cursor", async () => {
  const feed = feedOf(["a", 2], ["b", 1], [null, 1], ["a", 1]);
  const { events, cursor, hasMore } = await (await readerOf(feed)).read(10);
  expect(events.map(({ doc }) => doc)).toEqual(["a 1", "a 2", "b 1", "null 1", "a 3"]);
  expect([hasMore, events.at(-1)?.cursor]).toEqual([false, cursor]);
  expect(events.map((event) => readCursor(event.cursor))).toEqual([
    { life: LIFE, position: 1, offset: 1 },
    { life: LIFE, position: 2, offset: 0 },
    { life: LIFE, position: 3, offset: 0 },
    { life: LIFE, position: 4, offset: 0 },
    { life: LIFE, position: 5, offset: 0 },
  ]);
});

test("a cursor at the newest end gets only what comes later", async () => {
  const feed = feedOf(["a", 3]);
  const reader = new FeedReader(feed, ALL, await cursorAt("now", feed));
  expect((await reader.read(10)).events).toEqual([]);
  feed.report("b", "chn_a", ["chat.created"]);
  expect((await reader.read(10)).events.map(({ doc }) => doc)).toEqual(["b 1"]);
});

test("a cursor from before the first chat gets every event", async () => {
  const feed = new FakeFeed();
  feed.exists = false;
  const { cursor, events, hasMore } = await (await readerOf(feed)).read(10);
  expect([events, hasMore]).toEqual([[], false]);
  feed.exists = true;
  feed.report("a", "chn_a", ["chat.created"]);
  expect((await (await readerOf(feed, { after: cursor })).read(10)).events.map(({ doc }) => doc)).toEqual(["a 1"]);
  // After the first day of the feed was dropped, events are missing.
  feed.oldest = 2;
  await expired((await readerOf(feed, { after: cursor })).read(10));
});

describe("a cursor is expired if it is", () => {
  const cursor = (changes: object) => ({ life: LIFE, position: 3, offset: 0, ...changes });
  test.each([
    ["of another life", cursor({ life: "00000000" })],
    ["of a feed without a life that is not at its beginning", cursor({ life: "" })],
    ["before the oldest burst", cursor({ position: 1 })],
    ["in a burst that is gone", cursor({ position: 1, offset: 1 })],
    ["after the newest burst", cursor({ position: 5 })],
  ])("%s", async (_, position) => {
    const feed = feedOf(["a", 2], ["b", 2], ["c", 2]);
    feed.oldest = 2;
    await expired(new FeedReader(feed, ALL, position).read(10));
    if (position.life === LIFE) expect((await new FeedReader(feed, ALL, cursor({})).read(10)).events).toHaveLength(2);
  });
});

test("an offset past the end of its burst continues with the next burst", async () => {
  const feed = feedOf(["a", 2], ["b", 1]);
  const { events } = await new FeedReader(feed, ALL, { life: LIFE, position: 1, offset: 9 }).read(10);
  expect(events.map(({ doc }) => doc)).toEqual(["b 1"]);
});

test("at most 20 chats are read at once, and no more events than a page can take", async () => {
  const feed = feedOf(...Array.from({ length: 50 }, (_, index): [string, number] => [`chat${index}`, 1]));
  expect((await (await readerOf(feed)).read(100)).events).toHaveLength(50);
  expect(feed.most).toBe(20);
  const large = feedOf(["a", 1_000]);
  const { hasMore } = await (await readerOf(large)).read(3);
  expect([large.calls, hasMore]).toEqual([["a 1-3"], true]);
});

test("the events of deleted chats are left out, and a page that they fill has a cursor after them", async () => {
  const feed = feedOf(["a", 2], ["b", 2], ["a", 1]);
  feed.deleted.add("a");
  const reader = await readerOf(feed);
  expect((await reader.read(10)).events.map(({ doc }) => doc)).toEqual(["b 1", "b 2"]);
  expect(reader.readUpTo).toBe(3);
});

test("a filter reads no burst without its types or channel, and takes only its types from the others", async () => {
  const feed = new FakeFeed();
  feed.report("a", "chn_a", ["chat.created", "message.created", "message.status"]);
  feed.report("b", "chn_b", ["message.created"]);
  feed.report("a", "chn_a", ["message.status"]);
  feed.report(null, null, ["channel.health"]);
  const read = async (filter: FeedFilter) => (await (await readerOf(feed, { filter })).read(10)).events;
  const found = await read({ types: ["message.created"], channels: ["chn_a"] });
  expect([found.map(({ doc }) => doc), feed.calls]).toEqual([["a 2"], ["a 1-3"]]);
  expect((await read({ types: ["channel.*"], channels: ["chn_b"] })).map(({ doc }) => doc)).toEqual(["null 1"]);
});

test("a page ends after 2,000 bursts that the filter left out, and says that there is more", async () => {
  const feed = feedOf(...Array.from({ length: 2_100 }, (_, index): [string, number] => [`chat${index}`, 1]));
  feed.report("last", "chn_a", ["chat.created"]);
  const reader = await readerOf(feed, { filter: { types: ["chat.*"], channels: null } });
  const first = await reader.read(10);
  expect([first.events, first.hasMore, reader.readUpTo]).toEqual([[], true, 2_000]);
  const second = await (await readerOf(feed, { after: first.cursor })).read(1_000);
  expect([second.events.length, second.hasMore]).toEqual([101, false]);
});

const someTypes = fc.constantFrom<EventType>("message.created", "message.status", "chat.updated");
const someBurst = fc.record({
  chat: fc.constantFrom("a", "b", "c"),
  types: fc.array(someTypes, { minLength: 1, maxLength: 7 }),
});
const someFilter = fc.record({
  types: fc.constantFrom<string[] | null>(null, ["message.*"], ["chat.updated"], ["message.status", "chat.*"]),
  channels: fc.constantFrom<string[] | null>(null, ["chn_a"], ["chn_a", "chn_b"]),
});

test("whatever the bursts, the filter and the limits are, each event is read once and in order from page to page", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(someBurst, { maxLength: 30 }),
      someFilter,
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
      fc.boolean(),
      fc.option(fc.constantFrom("a", "b"), { nil: undefined }),
      async (bursts, filter, limits, isSameReader, deleted) => {
        const feed = new FakeFeed();
        for (const { chat, types } of bursts) feed.report(chat, `chn_${chat}`, types);
        if (deleted) feed.deleted.add(deleted);
        const seen: string[] = [];
        let reader = await readerOf(feed, { filter });
        for (let turn = 0; ; turn++) {
          const limit = limits[turn % limits.length] as number;
          const { events, cursor, hasMore } = await reader.read(limit);
          expect(events.length).toBeLessThanOrEqual(limit);
          seen.push(...events.map(({ doc }) => doc));
          if (!hasMore) break;
          if (!isSameReader) reader = await readerOf(feed, { filter, after: cursor });
        }
        expect(seen).toEqual(feed.expected(filter));
        // From the cursor of each event, exactly the later ones follow.
        const all = await (await readerOf(feed, { filter })).read(1_000);
        for (const [index, { cursor }] of all.events.entries()) {
          const rest = await (await readerOf(feed, { filter, after: cursor })).read(1_000);
          expect(rest.events).toEqual(all.events.slice(index + 1));
        }
      },
    ),
  );
});

test("each request makes progress, however few calls the platform allows in one", async () => {
  const feed = feedOf(...Array.from({ length: 100 }, (_, n): [string, number] => [`c${n}`, 1]));
  feed.allowed = 50;
  const read: string[] = [];
  let after: string | undefined;
  for (let hasMore = true; hasMore; ) {
    const reader = await readerOf(feed, after === undefined ? {} : { after });
    feed.begin();
    const page = await reader.read(100);
    read.push(...page.events.map(({ doc }) => doc));
    expect(page.events.length).toBeGreaterThan(0);
    ({ cursor: after, hasMore } = page);
  }
  expect(read).toEqual(feed.expected(ALL));
});

test("a request that can't make one call fails", async () => {
  const feed = feedOf(["a", 1]);
  const reader = await readerOf(feed);
  feed.begin();
  feed.allowed = 1;
  await expect(reader.read(100)).rejects.toThrow("Too many subrequests");
});

test("a page reads at most 800 parts, and the next one goes on behind them", async () => {
  const feed = feedOf(...Array.from({ length: 1_000 }, (_, n): [string, number] => [`c${n}`, 1]));
  for (let n = 0; n < 900; n++) feed.deleted.add(`c${n}`);
  const reader = await readerOf(feed);
  const first = await reader.read(100);
  expect([feed.calls.length, first.events.length, first.hasMore]).toEqual([MAX_READS, 0, true]);
  expect((await reader.read(100)).events.map(({ doc }) => doc)).toEqual(feed.expected(ALL));
});
