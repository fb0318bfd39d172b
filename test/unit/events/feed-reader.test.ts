import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readCursor } from "../../../src/events/cursor.ts";
import { cursorAt, type FeedPort, FeedReader, MAX_READS } from "../../../src/events/feed-reader.ts";
import { ApiError } from "../../../src/model/error.ts";
import type { EventType } from "../../../src/model/event.ts";
import { type FeedFilter, matches } from "../../../src/model/event-filter.ts";
import type { FeedPointer } from "../../../src/model/organization.ts";

const LIFE = "0Vx3kQ2a";
const ALL: FeedFilter = { types: null, channels: null };

/** A feed of bursts. An event is named by its chat and number. */
class FakeFeed implements FeedPort {
  readonly bursts: FeedPointer[] = [];
  readonly types = new Map<string, EventType>();
  readonly deleted = new Set<string | null>();
  /** Chats that can't be read, and for how many milliseconds. */
  readonly broken = new Map<string | null, number>();
  /** Chats of which it was told that they work again. */
  readonly mended: string[] = [];
  failures = 0;
  life = LIFE;
  oldest = 1;
  exists = true;
  /** The ranges that were read at the same time. */
  readonly calls: string[] = [];
  /** How many calls of any kind a request may make, as on the platform. */
  allowed = Number.POSITIVE_INFINITY;
  #made = 0;
  #underWay = 0;
  most = 0;

  report(chatId: string | null, channelId: string | null, types: EventType[]): void {
    const first = (this.bursts.findLast((burst) => burst.chatId === chatId)?.last ?? 0) + 1;
    const last = first + types.length - 1;
    for (const [index, type] of types.entries()) this.types.set(`${chatId} ${first + index}`, type);
    const position = this.bursts.length + 1;
    this.bursts.push({ position, chatId, life: null, channelId, first, last, types: [...new Set(types)], at: 0 });
  }

  /** Every event that a reader must get, in order. */
  expected(filter: FeedFilter): string[] {
    return this.bursts.flatMap(({ chatId, channelId, first, last }) =>
      Array.from({ length: last - first + 1 }, (_, index) => `${chatId} ${first + index}`).filter(
        (name) => !this.deleted.has(chatId) && matches(filter, this.types.get(name) as EventType, channelId),
      ),
    );
  }

  /** A request begins. */
  begin(): void {
    this.#made = 0;
  }

  #count(): void {
    if (++this.#made > this.allowed) throw new Error("Too many subrequests by single Worker invocation.");
  }

  async pointers(after: number, limit: number) {
    this.#count();
    const { life, oldest } = this;
    const pointers = this.bursts.filter(({ position }) => position > after && position >= oldest).slice(0, limit);
    const unreadable = Object.fromEntries(this.known);
    return this.exists ? { life, oldest, newest: this.bursts.length, pointers, unreadable } : null;
  }

  /** What earlier readers told. */
  readonly known = new Map<string, number>();

  async failed(chatId: string): Promise<number | null> {
    this.#count();
    this.failures++;
    if (this.deleted.has(chatId)) return null;
    const ms = this.broken.get(chatId) ?? 0;
    this.known.set(chatId, ms);
    return ms;
  }

  async worked(chatId: string): Promise<void> {
    this.known.delete(chatId);
    this.mended.push(chatId);
  }

  standIn(life: string, { position, chatId }: FeedPointer, { first, last }: { first: number; last: number }): string {
    return `${life} ${position} ${chatId} ${first}-${last}`;
  }

  async events({ chatId }: FeedPointer, { first, last }: { first: number; last: number }) {
    this.#count();
    this.calls.push(`${chatId} ${first}-${last}`);
    this.most = Math.max(this.most, ++this.#underWay);
    await Promise.resolve();
    this.#underWay--;
    if (this.broken.has(chatId)) throw new Error(`${chatId} can't be read`);
    if (this.deleted.has(chatId)) return [];
    return Array.from({ length: last - first + 1 }, (_, index) => {
      const name = `${chatId} ${first + index}`;
      return { number: first + index, type: this.types.get(name) as EventType, doc: name };
    });
  }
}

function feedOf(...bursts: [chatId: string | null, count: number][]): FakeFeed {
  const feed = new FakeFeed();
  for (const [chatId, count] of bursts) {
    feed.report(
      chatId,
      chatId && "chn_a",
      Array.from({ length: count }, () => "message.created" as const),
    );
  }
  return feed;
}

async function readerOf(feed: FakeFeed, { filter = ALL, after }: { filter?: FeedFilter; after?: string } = {}) {
  const cursor = after === undefined ? await cursorAt("oldest", feed) : readCursor(after);
  if (!cursor) throw new Error(`${after} is not a cursor`);
  return new FeedReader(feed, filter, cursor);
}

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

test("a chat that can't be read for a moment holds up the feed behind the events before it", async () => {
  const feed = feedOf(["a", 2], ["b", 1], ["c", 1]);
  feed.broken.set("b", 119_999);
  const reader = await readerOf(feed);
  const first = await reader.read(10);
  expect([first.events.map(({ doc }) => doc), first.hasMore, first.heldBy]).toEqual([["a 1", "a 2"], true, undefined]);
  const second = await reader.read(10);
  expect([second.events, second.hasMore, second.cursor]).toEqual([[], true, first.cursor]);
  expect(second.heldBy).toEqual(new Error("b can't be read"));
  feed.broken.clear();
  const third = await reader.read(10);
  expect([third.events.map(({ doc }) => doc), third.hasMore, third.heldBy]).toEqual([["b 1", "c 1"], false, undefined]);
  expect(feed.mended).toEqual(["b"]);
});

test("one event stands for the events of a chat that can't be read for two minutes, whatever the filter", async () => {
  const feed = feedOf(["a", 1], ["b", 300], ["c", 1], ["b", 2]);
  feed.broken.set("b", 120_000);
  const filter = { types: ["message.*"], channels: null };
  const { events, hasMore, cursor } = await (await readerOf(feed, { filter })).read(10);
  expect(events.map(({ type, doc }) => `${type} ${doc}`)).toEqual([
    "message.created a 1",
    `chat.unreadable ${LIFE} 2 b 1-300`,
    "message.created c 1",
    `chat.unreadable ${LIFE} 4 b 301-302`,
  ]);
  expect([hasMore, events.at(-1)?.cursor]).toEqual([false, cursor]);
  // From the cursor of each event, exactly the later ones follow.
  for (const [index, event] of events.entries()) {
    const rest = await (await readerOf(feed, { filter, after: event.cursor })).read(10);
    expect(rest.events).toEqual(events.slice(index + 1));
  }
  feed.broken.clear();
  expect((await (await readerOf(feed)).read(1_000)).events).toHaveLength(304);
  expect(feed.known.size).toBe(0);
});

test("a reader in the middle of a burst that can't be read is told of the rest of it alone", async () => {
  const feed = feedOf(["a", 9]);
  const { cursor } = await (await readerOf(feed)).read(4);
  feed.broken.set("a", 500_000);
  const { events, hasMore } = await (await readerOf(feed, { after: cursor })).read(1);
  expect([events.map(({ doc }) => doc), hasMore]).toEqual([[`${LIFE} 1 a 5-9`], false]);
});

test("a chat that can't be read is asked about once a page, and one that was deleted is left out", async () => {
  const feed = feedOf(["bad", 1], ["a", 1], ["bad", 1], ["gone", 1], ["bad", 1], ["b", 1]);
  feed.broken.set("bad", 200_000).set("gone", 0);
  feed.deleted.add("gone");
  const { events } = await (await readerOf(feed)).read(10);
  expect(events.map(({ type, doc }) => `${type} ${doc}`.split(" ").slice(0, 2).join(" "))).toEqual([
    `chat.unreadable ${LIFE}`,
    "message.created a",
    `chat.unreadable ${LIFE}`,
    `chat.unreadable ${LIFE}`,
    "message.created b",
  ]);
  expect(feed.failures).toBe(2);
});

test("the organization's own events are not passed over", async () => {
  const feed = feedOf(["a", 1], [null, 1]);
  feed.broken.set(null, 500_000);
  await expect((await readerOf(feed)).read(10)).rejects.toThrow("can't be read");
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
