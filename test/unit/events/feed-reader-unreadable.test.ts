import { expect, test } from "vitest";
import { feedOf, LIFE, readerOf } from "./fake-feed.ts";

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
