import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import type { SearchIndexObject } from "../../../../../src/index.ts";
import { newId } from "../../../../../src/model/id.ts";
import {
  changeOf,
  EVERYTHING,
  limitIndexes,
  messageOf,
  newIndex,
  storedIn,
} from "../../../../service/search/object/fixtures.ts";
import { heldBy, NOTHING } from "../../../../support/stored.ts";

const chatId = newId("cht", null);
const put = [messageOf(1, "FIRST WORD"), messageOf(2, "SECOND WORD")];

test("the words of removed messages leave a table, however few messages it keeps", async () => {
  const index = newIndex();
  const many = Array.from({ length: 2_000 }, (_, n) => messageOf(n + 1, `WORD ${(n * 7_919) % 10_007} ${n ** 3}`));
  await index.index(changeOf(chatId, { put: many }));
  const size = () =>
    runInDurableObject(
      index.object(),
      (_object, { storage: { sql } }) =>
        sql.exec<{ bytes: number }>("select sum(length(block)) as bytes from grams_0_data").one().bytes,
    );
  const merging = await runInDurableObject(index.object(), (_object, { storage: { sql } }) =>
    [...sql.exec("select v from grams_0_config where k = 'automerge'").raw()].flat(),
  );
  expect(merging, "FTS5 merges only what it is told to").toEqual([0]);
  const before = await size();
  for (const { seq } of many.slice(0, -1)) await index.index(changeOf(chatId, { removeUpTo: seq }));
  expect(await size()).toBeLessThan(before / 10);
  expect((await index.candidates({ search: "WORD" })).candidates.map(({ seq }) => seq)).toEqual([2_000]);
});

test("a table that loses all messages is dropped with the next commit, unless it takes new ones", async () => {
  limitIndexes({ tableMessages: 2 });
  const index = newIndex();
  const feed = (seq: number) => index.index(changeOf(chatId, { put: [messageOf(seq, "WORD")] }));
  for (const seq of [1, 2, 3]) await feed(seq);
  await index.index(changeOf(chatId, { remove: [1, 2] }));
  await index.evict();
  await feed(4);
  expect(await storedIn(index)).toEqual({ messages: 2, chats: 1, tables: [null, 2] });
  await index.evict();
  for (const seq of [5, 6, 7]) await feed(seq);
  expect((await storedIn(index)).tables).toEqual([null, 2, 2, 1]);
  await index.index(changeOf(chatId, { removeUpTo: 6 }));
  await feed(7);
  expect((await storedIn(index)).tables).toEqual([null, null, 0, 1]);
  await feed(7);
  expect((await storedIn(index)).tables).toEqual([null, null, null, 1]);
  expect((await index.candidates({ search: "WORD" })).candidates.map(({ seq }) => seq)).toEqual([7]);
});

test("a search goes on while a table that it has not read yet is dropped", async () => {
  limitIndexes({ tableMessages: 2 });
  const index = newIndex();
  const other = newId("cht", null);
  await index.index(changeOf(chatId, { put }));
  const newer = Array.from({ length: 40 }, (_, n) => messageOf(n + 3, "WORD"));
  for (const message of newer) await index.index(changeOf(other, { put: [message] }));
  // In the object, so that the removals come while the search reads the newer tables.
  const [found] = await runInDurableObject(index.object(), async (object: SearchIndexObject) => {
    const drop = async () => {
      await object.index(index.owner, changeOf(chatId, { removeUpTo: 2 }));
      await object.index(index.owner, changeOf(other, {}));
    };
    return Promise.all([object.candidates(index.organizationId, { ...EVERYTHING, search: "WORD" }), drop()]);
  });
  expect(found.candidates).toHaveLength(newer.length);
  expect((await storedIn(index)).tables[0]).toBeNull();
});

test("an index of several tables that loses its last message gives its storage back", async () => {
  limitIndexes({ messages: 3, tableMessages: 2 });
  const index = newIndex();
  const size = () => runInDurableObject(index.object(), (_object, { storage: { sql } }) => sql.databaseSize);
  const other = newId("cht", null);
  const large = Array.from({ length: 20 }, (_, n) => messageOf(n + 1, `WORD ${n} `.repeat(1_000)));
  await index.index(changeOf(chatId, { put: large }));
  await index.index(changeOf(other, { put }));
  await index.evict();
  const before = await size();
  await index.removeChat(chatId);
  expect((await index.candidates({ search: "WORD" })).candidates).toHaveLength(2);
  expect(await size()).toBeGreaterThanOrEqual(before);
  expect(await index.index(changeOf(other, { removeUpTo: 2 }))).toEqual({ outcome: "ok", isFull: true });
  expect(await size()).toBeLessThan(before / 2);
  expect(await index.candidates({ search: "WORD" })).toEqual({ candidates: [], hasMore: false });
  expect(await heldBy(index.object())).toEqual(NOTHING);
  // What a chat says that has not heard of the next index is not lost.
  expect(await index.index(changeOf(chatId, { put }))).toEqual({ outcome: "ok", isFull: false });
  expect((await index.candidates({ search: "WORD" })).candidates).toHaveLength(2);
});

test("a message that waits while an index loses its last one stays", async () => {
  limitIndexes({ tableMessages: 1 });
  const index = newIndex();
  const other = newId("cht", null);
  for (const id of [chatId, other]) await index.index(changeOf(id, { put: [messageOf(1, "WORD")] }));
  // More removals than a commit has, so that the new message waits for the next one.
  const remove = Array.from({ length: 5_000 }, (_, n) => n + 1);
  // In the object, so that both are under way.
  await runInDurableObject(index.object(), (object: SearchIndexObject) =>
    Promise.all([
      object.index(index.owner, changeOf(chatId, { remove: [1] })),
      object.index(index.owner, changeOf(other, { remove, put: [messageOf(9, "LATER WORD")] })),
    ]),
  );
  expect((await index.candidates({ search: "WORD" })).candidates.map(({ seq }) => seq)).toEqual([9]);
});

test("an index of one table keeps it without messages", async () => {
  const index = newIndex();
  await index.index(changeOf(chatId, { put }));
  await index.removeChat(chatId);
  expect(await storedIn(index)).toEqual({ messages: 0, chats: 0, tables: [0] });
});
