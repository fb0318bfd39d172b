import { expect, test } from "vitest";
import { ENTRY_BYTES, PageCache } from "../../../src/chats/page-cache.ts";
import type { ListAnswer } from "../../../src/model/chat-answers.ts";

/** A cache with room for two pages of four bytes, and a list with one page, whose text is also its version. */
function cachedList() {
  const cache = new PageCache({ maxBytes: 2 * (4 + ENTRY_BYTES), maxPageBytes: 4 });
  const asked: (string | undefined)[] = [];
  const read = async (name: string | null, text: string | null) => {
    const page = await cache.read(name, async (cachedVersion): Promise<ListAnswer> => {
      asked.push(cachedVersion);
      if (text === null) return { outcome: "unknown_cursor" };
      if (cachedVersion === text) return { outcome: "unchanged" };
      return { outcome: "ok", body: new TextEncoder().encode(text), version: text };
    });
    return page && new TextDecoder().decode(page.body);
  };
  return { read, asked };
}

test("a cached page is read again only if it changed", async () => {
  const { read, asked } = cachedList();
  expect([await read("a", "one"), await read("a", "one"), await read("a", "two")]).toEqual(["one", "one", "two"]);
  expect(await read("a", "two")).toBe("two");
  expect(asked).toEqual([undefined, "one", "one", "two"]);
});

test("a page without a name, and a page above the limit, are not cached", async () => {
  const { read, asked } = cachedList();
  for (const _ of [1, 2]) expect(await read(null, "one")).toBe("one");
  for (const _ of [1, 2]) expect(await read("a", "12345")).toBe("12345");
  for (const _ of [1, 2]) expect(await read("b", "1234")).toBe("1234");
  expect(asked).toEqual([undefined, undefined, undefined, undefined, undefined, "1234"]);
});

test("a page that changes takes the room of its new version only", async () => {
  const { read, asked } = cachedList();
  for (const text of ["1", "12", "123", "1234"]) await read("a", text);
  await read("b", "1234");
  for (const name of ["a", "b"]) await read(name, "1234");
  expect(asked.slice(-2)).toEqual(["1234", "1234"]);
});

test("the cache keeps the pages that were read last, and an unknown cursor has no page", async () => {
  const { read, asked } = cachedList();
  for (const name of ["a", "b", "c"]) await read(name, "one");
  expect(await read("b", null)).toBeNull();
  expect(await read("a", "one")).toBe("one");
  expect(asked.slice(3)).toEqual(["one", undefined]);
});
