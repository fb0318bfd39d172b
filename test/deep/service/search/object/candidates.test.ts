import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { newId } from "../../../../../src/model/id.ts";
import type { Candidate } from "../../../../../src/model/search-index.ts";
import {
  changeOf,
  limitIndexes,
  messageOf,
  newIndex,
  storedIn,
  type TestIndex,
} from "../../../../service/search/object/fixtures.ts";
import { Random } from "../../../../support/random.ts";
import { IndexedModel } from "./indexed-model.ts";

/** The tables that a search for a word reads, in their order. */
async function tablesRead(index: TestIndex, limit: number): Promise<string[]> {
  const spy = await runInDurableObject(index.object(), (_object, { storage }) => vi.spyOn(storage.sql, "exec"));
  await index.candidates({ search: "WORD", limit });
  const tables = new Set(spy.mock.calls.flatMap(([query]) => /from (grams_\d)/.exec(query)?.[1] ?? []));
  spy.mockRestore();
  return [...tables];
}

const SEEDS = env.TEST_SEED ? [Number(env.TEST_SEED)] : [1, 2, 3, 4];

test.each(SEEDS)("a search finds what a plain scan finds, in its order and on any pages (SEED=%i)", async (seed) => {
  const random = new Random(seed);
  limitIndexes(random.pick([{ tableMessages: 10 }, { tableMessages: 40 }, { tableWeight: 500 }]));
  const model = new IndexedModel(random, 6);
  for (let round = 0; round < 20; round++) {
    for (let acts = random.between(1, 8); acts > 0; acts--) await model.act();
    for (let searches = 0; searches < 4; searches++) await model.compare();
  }
  expect((await storedIn(model.index)).tables.length).toBeGreaterThan(2);
});

test.each([1_500, 10_000])(
  "more messages of a second than it has ids come in their order, in tables of %i",
  async (size) => {
    limitIndexes({ tableMessages: size });
    const index = newIndex();
    const chatId = newId("cht", null);
    const at = Date.UTC(2026, 0, 1);
    // Those of the next second come first, and those of the second before last.
    const times = [1_500, 999, 0, 500, -1];
    const put = times.flatMap((ms, n) =>
      Array.from({ length: 500 }, (_, i) => messageOf(n * 500 + i + 1, "WORD", at + ms)),
    );
    await index.index(changeOf(chatId, { put }));
    const expected = put
      .map(({ seq, at: time }) => ({ at: time, chatId, seq }))
      .toSorted((a, b) => b.at - a.at || b.seq - a.seq);
    const found: Candidate[] = [];
    for (let before: Candidate | null = null; ; before = found.at(-1) ?? null) {
      const page = await index.candidates({ search: "WORD", before, limit: 190 });
      found.push(...page.candidates);
      if (!page.hasMore) break;
    }
    expect(found).toEqual(expected);
    const within = await index.candidates({ search: "WORD", since: at + 1, until: at + 999, limit: 10 });
    expect(within).toEqual({ candidates: expected.filter((each) => each.at <= at + 999).slice(0, 10), hasMore: true });
  },
);

test("messages of the same time in several tables come in their order", async () => {
  limitIndexes({ tableMessages: 1 });
  const index = newIndex();
  const chatId = newId("cht", null);
  const at = Date.UTC(2026, 0, 1);
  for (const seq of [3, 2, 4, 1]) await index.index(changeOf(chatId, { put: [messageOf(seq, "WORD", at)] }));
  const found: number[] = [];
  for (let before: Candidate | null = null; found.length < 4; ) {
    const { candidates } = await index.candidates({ search: "WORD", before, limit: 1 });
    found.push(...candidates.map(({ seq }) => seq));
    before = candidates[0] ?? null;
  }
  expect(found).toEqual([4, 3, 2, 1]);
});

test("a message keeps its time when its text is edited", async () => {
  const index = newIndex();
  const chatId = newId("cht", null);
  await index.index(changeOf(chatId, { put: [messageOf(1, "EARLY WORD"), messageOf(2, "LATER WORD")] }));
  await index.index(changeOf(chatId, { put: [messageOf(1, "ANOTHER WORD")] }));
  const seqs = async (search: string) => (await index.candidates({ search })).candidates.map(({ seq }) => seq);
  expect(await seqs("WORD")).toEqual([2, 1]);
  expect(await seqs("EARLY")).toEqual([]);
  expect(await seqs("ANOTHER")).toEqual([1]);
});

test("a search of only what is newer than a table does not read the table", async () => {
  limitIndexes({ tableMessages: 2 });
  const index = newIndex();
  const chatId = newId("cht", null);
  for (let seq = 1; seq <= 6; seq++) await index.index(changeOf(chatId, { put: [messageOf(seq, "WORD")] }));
  expect(await tablesRead(index, 1)).toEqual(["grams_2"]);
  expect(await tablesRead(index, 3)).toEqual(["grams_2", "grams_1"]);
  expect(await tablesRead(index, 6)).toEqual(["grams_2", "grams_1", "grams_0"]);
});

test("a search does not read a table that has lost all messages", async () => {
  limitIndexes({ tableMessages: 2 });
  const index = newIndex();
  const chatId = newId("cht", null);
  for (let seq = 1; seq <= 6; seq++) await index.index(changeOf(chatId, { put: [messageOf(seq, "WORD")] }));
  await index.index(changeOf(chatId, { remove: [3, 6] }));
  await index.index(changeOf(chatId, { remove: [3] }));
  expect(await tablesRead(index, 6)).toEqual(["grams_2", "grams_1", "grams_0"]);
  await index.index(changeOf(chatId, { remove: [4] }));
  await index.evict();
  expect(await tablesRead(index, 6)).toEqual(["grams_2", "grams_0"]);
});
