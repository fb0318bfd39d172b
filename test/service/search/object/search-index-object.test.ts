import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { SearchIndexObject } from "../../../../src/index.ts";
import { newId } from "../../../../src/model/id.ts";
import { heldBy, NOTHING } from "../../../support/stored.ts";
import { changeOf, EVERYTHING, limitIndexes, messageOf, newIndex, storedIn, type TestIndex } from "./fixtures.ts";

const OK = { outcome: "ok", isFull: false };
const GONE = { outcome: "gone" };
const EMPTY = { candidates: [], hasMore: false };
const chatId = newId("cht", null);
const put = [messageOf(1, "FIRST WORD"), messageOf(2, "SECOND WORD")];

/** From here on, counts the commits of an index and the characters of the texts in each. */
async function watchCommits({ object }: TestIndex) {
  const commits: { words: number; statements: number }[] = [];
  await runInDurableObject(object(), (_object, { storage }) => {
    const transaction = storage.transactionSync.bind(storage);
    vi.spyOn(storage, "transactionSync").mockImplementation(((work: () => unknown) => {
      commits.push({ words: 0, statements: 0 });
      return transaction(work);
    }) as typeof transaction);
    const exec = storage.sql.exec.bind(storage.sql);
    vi.spyOn(storage.sql, "exec").mockImplementation(((query: string, ...values: unknown[]) => {
      const commit = commits.at(-1);
      if (commit && /^(insert or replace into|delete from) grams_/.test(query)) {
        commit.statements++;
        commit.words += typeof values[1] === "string" ? values[1].split(" ").length : 0;
      }
      return exec(query, ...(values as never[]));
    }) as typeof exec);
  });
  return commits;
}

test("calls at the same time share a commit", async () => {
  const index = newIndex();
  await index.index(changeOf(chatId, {}));
  // So that nothing is under way.
  await index.evict();
  const commits = await watchCommits(index);
  // Calls within the object: those from outside come one after the other on a busy machine.
  const answers = await runInDurableObject(index.object(), (object: SearchIndexObject) =>
    Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        object.index(index.owner, changeOf(newId("cht", null), { put: [messageOf(n + 1, "WORD")] })),
      ),
    ),
  );
  expect(answers).toEqual(answers.map(() => OK));
  expect(commits.map(({ statements }) => statements)).toEqual([20]);
  expect((await storedIn(index)).messages).toBe(20);
});

test("long texts are stored in many commits, each of few characters", async () => {
  const index = newIndex();
  await index.index(changeOf(chatId, {}));
  const commits = await watchCommits(index);
  const long = Array.from({ length: 100 }, (_, n) => {
    const text = Array.from({ length: 4_096 }, (_, i) => String.fromCharCode(0x4e00 + ((n * 4_096 + i * i) % 20_000)));
    return messageOf(n + 1, text.join(""));
  });
  expect(await index.index(changeOf(chatId, { put: long }))).toEqual(OK);
  expect(Math.max(...commits.map(({ words }) => words))).toBeLessThan(25_000);
  expect(commits.length).toBeGreaterThanOrEqual(20);
});

test("many short messages, and many removals, are divided too", async () => {
  const index = newIndex();
  await index.index(changeOf(chatId, {}));
  const commits = await watchCommits(index);
  const many = Array.from({ length: 1_000 }, (_, n) => messageOf(n + 1, "WORD"));
  await index.index(changeOf(chatId, { put: many }));
  expect(commits.map(({ statements }) => statements)).toEqual(
    Array.from({ length: 10 }, () => 100)
      .concat(0)
      .slice(0, commits.length),
  );
  commits.length = 0;
  await index.removeChat(chatId);
  expect(Math.max(...commits.map(({ statements }) => statements))).toBeLessThanOrEqual(64);
  expect(await storedIn(index)).toEqual({ messages: 0, chats: 0, tables: [0] });
});

test("a message does not wait for long removals of other chats", async () => {
  const index = newIndex();
  const many = Array.from({ length: 1_000 }, (_, n) => messageOf(n + 1, "WORD"));
  const others = [newId("cht", null), newId("cht", null)];
  for (const id of others) await index.index(changeOf(id, { put: many }));
  const commits = await watchCommits(index);
  // In the object, so that all are under way.
  await runInDurableObject(index.object(), async (object: SearchIndexObject) => {
    const removals = others.map((id) => object.removeChat(index.organizationId, id, 1));
    await object.index(index.owner, changeOf(chatId, { put }));
    expect(commits.length).toBeLessThan(3);
    await Promise.all(removals);
  });
  expect(commits.length).toBeGreaterThan(20);
  expect(await storedIn(index)).toMatchObject({ messages: 2, chats: 1 });
});

test("what chats say at the same time is stored in each chat's order", async () => {
  const index = newIndex();
  const chats = [chatId, newId("cht", null), newId("cht", null)];
  const many = Array.from({ length: 200 }, (_, n) => messageOf(n + 1, "FIRST WORD"));
  await runInDurableObject(index.object(), (object: SearchIndexObject) =>
    Promise.all(
      chats.flatMap((id) => [
        object.index(index.owner, changeOf(id, { put: many })),
        object.index(index.owner, changeOf(id, { removeUpTo: 199 })),
        object.index(index.owner, changeOf(id, { put: [messageOf(200, "SECOND WORD")] })),
      ]),
    ),
  );
  expect(await storedIn(index)).toMatchObject({ messages: chats.length, chats: chats.length });
  expect((await index.candidates({ search: "FIRST" })).candidates).toEqual([]);
  expect((await index.candidates({ search: "SECOND" })).candidates).toHaveLength(chats.length);
});

test("the removals of a change come before its messages", async () => {
  const index = newIndex();
  await index.index(changeOf(chatId, { put }));
  await index.index(changeOf(chatId, { remove: [1], removeUpTo: 2, put: [messageOf(2, "ANOTHER WORD")] }));
  const { candidates } = await index.candidates({ search: "WORD" });
  expect(candidates.map(({ seq }) => seq)).toEqual([2]);
  expect((await storedIn(index)).messages).toBe(1);
});

test("a chat that was removed can be fed again", async () => {
  const index = newIndex();
  await index.index(changeOf(chatId, { put }));
  await index.removeChat(chatId);
  await index.removeChat(chatId);
  expect(await index.candidates({ search: "WORD" })).toEqual(EMPTY);
  await index.index(changeOf(chatId, { put }));
  expect((await index.candidates({ search: "WORD" })).candidates).toHaveLength(2);
});

test("a later life of a chat replaces the former one, and stays when that is removed or says something late", async () => {
  const index = newIndex();
  await index.index(changeOf(chatId, { put }));
  const later = { life: 2, put: [messageOf(2, "LATER WORD", 2_000_000)] };
  await index.index(changeOf(chatId, later));
  await index.removeChat(chatId, 1);
  await index.index(changeOf(chatId, { put, removeUpTo: 9 }));
  expect((await index.candidates({ search: "WORD" })).candidates).toMatchObject([{ seq: 2, at: 2_000_000 }]);
  expect(await storedIn(index)).toMatchObject({ messages: 1, chats: 1 });
  await index.removeChat(chatId, 2);
  expect(await storedIn(index)).toMatchObject({ messages: 0, chats: 0 });
});

test("an index belongs to the organization that first fed it", async () => {
  const index = newIndex();
  await index.index(changeOf(chatId, { put }));
  const other = { organizationId: newId("org", null), number: 1 };
  expect(await index.object().index(other, changeOf(chatId, { removeUpTo: 9, put: [messageOf(3, "WORD")] }))).toEqual(
    GONE,
  );
  const asked = { search: "WORD", before: null, channelId: null, direction: null, since: null, until: null, limit: 9 };
  expect(await index.object().candidates(other.organizationId, asked)).toEqual(EMPTY);
  await index.object().removeChat(other.organizationId, chatId, Number.MAX_SAFE_INTEGER);
  expect((await index.candidates({ search: "WORD" })).candidates.map(({ seq }) => seq)).toEqual([2, 1]);
});

test.each([
  ["eu", ["eu"]],
  [null, []],
] as const)("an index is in the jurisdiction of its organization (%s)", async (jurisdiction, expected) => {
  const asked = vi.spyOn(env.SEARCH_INDEXES, "jurisdiction");
  await newIndex(newId("org", jurisdiction)).candidates({ search: "WORD" });
  expect(asked.mock.calls.flat()).toEqual(expected);
});

test("reading and removing store nothing in an index that was never fed", async () => {
  const index = newIndex();
  expect(await index.candidates({ search: "WORD" })).toEqual(EMPTY);
  await index.removeChat(chatId);
  expect(await heldBy(index.object())).toEqual(NOTHING);
});

test.each([true, false])("an index that was erased no longer stores anything (fed before: %s)", async (isFed) => {
  const index = newIndex();
  if (isFed) await index.index(changeOf(chatId, { put }));
  for (const _ of [1, 2]) await index.erase();
  const mark = { ...NOTHING, values: [["erased", true]] };
  expect(await heldBy(index.object())).toEqual(mark);
  expect(await index.index(changeOf(chatId, { put }))).toEqual(GONE);
  await index.evict();
  expect(await index.index(changeOf(chatId, { put }))).toEqual(GONE);
  expect(await index.candidates({ search: "WORD" })).toEqual(EMPTY);
  await index.removeChat(chatId);
  expect(await heldBy(index.object())).toEqual(mark);
});

test("what is under way when an index is erased ends, and stores nothing", async () => {
  limitIndexes({ tableMessages: 1 });
  const index = newIndex();
  await index.index(changeOf(chatId, { put }));
  const many = Array.from({ length: 500 }, (_, n) => messageOf(n + 1, "LATER WORD"));
  // In the object, so that the calls come in this order.
  const [fed, found] = await runInDurableObject(index.object(), (object: SearchIndexObject) =>
    Promise.all([
      object.index(index.owner, changeOf(chatId, { put: many })),
      object.candidates(index.organizationId, { ...EVERYTHING, search: "WORD" }),
      object.erase(),
    ]),
  );
  expect([fed, found]).toEqual([GONE, EMPTY]);
  expect((await heldBy(index.object())).values).toEqual([["erased", true]]);
});

/** From here on, statements of an index fail. @returns a function that ends it */
async function failStatements({ object }: TestIndex, fails: (query: string, values: unknown[]) => boolean) {
  const spy = await runInDurableObject(object(), (_object, { storage }) => {
    const exec = storage.sql.exec.bind(storage.sql);
    return vi.spyOn(storage.sql, "exec").mockImplementation(((query: string, ...values: unknown[]) => {
      if (fails(query, values)) throw new Error("SQLITE_FULL");
      return exec(query, ...(values as never[]));
    }) as typeof exec);
  });
  return () => spy.mockRestore();
}

test.each(["create table", "create virtual table", "into gram_tables", "into grams_", "into messages", "into chats"])(
  "the first commit of an index can fail (%s)",
  async (statement) => {
    const index = newIndex();
    const repair = await failStatements(index, (query) => query.includes(statement));
    await expect(index.index(changeOf(chatId, { put }))).rejects.toThrow("Service unavailable");
    expect(await index.candidates({ search: "WORD" }).catch(() => EMPTY)).toEqual(EMPTY);
    repair();
    expect(await index.index(changeOf(chatId, { put }))).toEqual(OK);
    expect(await storedIn(index)).toEqual({ messages: 2, chats: 1, tables: [2] });
    expect((await index.candidates({ search: "WORD" })).candidates).toHaveLength(2);
  },
);

test("a commit that fails stores nothing, and the index goes on", async () => {
  limitIndexes({ tableMessages: 2 });
  const index = newIndex();
  await index.index(changeOf(chatId, { put }));
  const before = await storedIn(index);
  const other = newId("cht", null);
  // The last statement of the commit.
  const isLast = (query: string, [, messages]: unknown[]) => query.includes("into gram_tables") && messages !== 0;
  const repair = await failStatements(index, isLast);
  const feed = () => index.index(changeOf(other, { put: [messageOf(1, "THIRD WORD")] }));
  for (const _ of [1, 2]) await expect(feed()).rejects.toThrow("Service unavailable");
  repair();
  expect(await storedIn(index)).toEqual({ ...before, tables: [2, 0] });
  expect(await feed()).toEqual(OK);
  expect(await storedIn(index)).toEqual({ messages: 3, chats: 2, tables: [2, 1] });
  expect((await index.candidates({ search: "THIRD" })).candidates).toHaveLength(1);
});

test("a failed commit fails only the calls that were in it", async () => {
  const index = newIndex();
  await index.index(changeOf(chatId, {}));
  const text = "A".repeat(20_000);
  await runInDurableObject(index.object(), (_object, { storage }) => {
    const transaction = storage.transactionSync.bind(storage);
    vi.spyOn(storage, "transactionSync").mockImplementationOnce(((work: () => unknown) =>
      transaction(() => {
        work();
        throw new Error("SQLITE_FULL");
      })) as typeof transaction);
  });
  const [one, two] = [newId("cht", null), newId("cht", null)];
  const outcomes = await Promise.allSettled(
    [one, two].map((id) => index.index(changeOf(id, { put: [messageOf(1, text)] }))),
  );
  // Either call can come first.
  expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect((await storedIn(index)).messages).toBe(1);
});

test("an index says from a number of messages or bytes on that it is full, and takes what comes", async () => {
  limitIndexes({ messages: 2 });
  const index = newIndex();
  expect(await index.index(changeOf(chatId, { put: [messageOf(1, "WORD")] }))).toEqual(OK);
  const full = { outcome: "ok", isFull: true };
  expect(await index.index(changeOf(chatId, { put: [messageOf(2, "WORD")] }))).toEqual(full);
  expect(await index.index(changeOf(chatId, { put: [messageOf(3, "WORD")] }))).toEqual(full);
  await index.evict();
  expect(await index.index(changeOf(chatId, { remove: [1, 2, 3] }))).toEqual(full);
  vi.restoreAllMocks();
  limitIndexes({ bytes: 1 });
  const large = newIndex();
  expect(await large.index(changeOf(chatId, { put }))).toEqual(full);
});
