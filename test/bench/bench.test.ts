import { expect, test } from "vitest";
import { readArguments } from "./arguments.ts";
import { bench } from "./bench.ts";
import { selectCases } from "./selection.ts";
import { FULL, type Sizes } from "./sizes.ts";
import { table } from "./table.ts";

const TINY: Sizes = { chat: 25, longChat: 45, hugeChat: 65, chats: 20, manyChats: 30, keys: 3, visitors: 3 };

test("every case is made, counted and timed, and answers as it must", { timeout: 240_000 }, async () => {
  const cases = selectCases(TINY, { only: null, scale: true });
  const settings = {
    rounds: 1,
    seconds: 0.02,
    data: readArguments([]).data,
    startUp: false,
    memory: [25, 65],
    log: () => undefined,
  };
  const { rows, gzippedBytes, memory } = await bench(cases, settings);
  expect(rows.map(({ name, unexpected }) => [name, unexpected])).toEqual(cases.map(({ name }) => [name, null]));
  expect(rows.filter(({ rate, p50, p99 }) => !(rate > 0 && p50 > 0 && p99 >= p50))).toEqual([]);
  expect(gzippedBytes).toBeGreaterThan(0);

  const counts = Object.fromEntries(rows.map((row) => [row.name, row.counts]));
  // Two when it is alone; those that wait at the same time share them, and the one round trip of a list of chats.
  expect(counts.send?.objectCalls).toBeGreaterThan(0);
  expect(counts.send?.objectCalls).toBeLessThanOrEqual(2);
  expect(counts.send).toMatchObject({ trips: 0 });
  expect(counts.send?.written).toBeGreaterThanOrEqual(2);
  expect(counts["send with a template"]?.trips).toBeGreaterThan(0);
  expect(counts["send with a template"]?.trips).toBeLessThanOrEqual(1);
  expect(counts["GET /chats, page 1 of 20"]?.trips).toBeGreaterThan(0);
  expect(counts["GET /chats, page 1 of 20"]?.trips).toBeLessThanOrEqual(1);
  expect(counts["GET /chats, page 1 of 20"]).toMatchObject({ written: 0 });
  expect(counts["list, page 1 of 25"]).toMatchObject({ trips: 0, written: 0 });
  expect(counts["401: a forged key"]).toMatchObject({ trips: 0, objectCalls: 0, read: 0, written: 0 });
  // The key; the chat, the count and the page; and what the limiter writes.
  expect(counts["literal design: list, page 1"]).toMatchObject({ trips: 2, statements: 4, objectCalls: 1, written: 1 });

  expect(memory.map(({ messages, heap }) => [messages, heap > 100_000])).toEqual([
    [25, true],
    [65, true],
  ]);

  const list = rows.find(({ name }) => name === "list, page 1 of 25");
  expect([list?.toHello, list?.toFloor, list?.toLiteral]).toEqual(Array(3).fill(expect.any(Number)));
  expect(table(rows).split("\n")).toHaveLength(rows.length + 1);
});

test("a case is run with those that it is compared to, and the largest only where they are asked for", () => {
  const names = (only: string | null, scale = false) => selectCases(FULL, { only, scale }).map(({ name }) => name);
  expect(names("list, page 1 of")).toEqual([
    "hello: one bare Hono route",
    "two at once",
    "literal design: list, page 1",
    "list, page 1 of 10,000",
  ]);
  expect(names("1,000,000")).toEqual(["hello: one bare Hono route"]);
  expect(names("1,000,000", true)).toContain("list, last page of 1,000,000");
});
