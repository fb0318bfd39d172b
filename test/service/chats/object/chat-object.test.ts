import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { SendAnswer, Unknown } from "../../../../src/model/chat-answers.ts";
import type { Message } from "../../../../src/model/message.ts";
import { prepareSchema } from "../../../../src/platform/object/schema-steps.ts";
import { runAlarm } from "../../../support/alarms.ts";
import { asOwner } from "../../../support/as-owner.ts";
import { draft, identity } from "../../../support/drafts.ts";
import { type Answer, expectError, newChat, newOrganization, send, sendMany } from "../../../support/harness.ts";
import { TOMORROW } from "../../../support/tomorrow.ts";

async function someChat() {
  const organization = await newOrganization();
  const chat = await newChat(organization.api, organization.channelId);
  const object = env.CHATS.getByName(chat.id);
  const list = async (query = "") => (await organization.api("GET", `/chats/${chat.id}/messages${query}`)).body;
  return { ...organization, chatId: chat.id, object, list };
}

test("an evicted chat lists the same messages, and continues its numbers", async () => {
  const { api, chatId, object, list } = await someChat();
  for (const content of ["one", "two", "three"]) await send(api, chatId, { content });
  const before = await list();
  await evictDurableObject(object);
  expect(await list()).toEqual(before);
  await evictDurableObject(object);
  expect((await send(api, chatId)).seq).toBe(4);
});

test("after an eviction, an object reads its state from storage", async () => {
  const { api, chatId, object, list } = await someChat();
  await send(api, chatId, { content: "one" });
  await send(api, chatId, { content: "two" });
  await runInDurableObject(object, (_object, { storage }) => {
    // Written directly to storage: in memory, the newest message is still number 2.
    storage.sql.exec(
      `insert into messages (seq, doc) select 3, json_set(doc, '$.content', 'three', '$.seq', 3)
       from messages where seq = 2`,
    );
  });
  await evictDurableObject(object);
  const { messages, pagination } = await list();
  expect(messages.map((message: Message) => message.content)).toEqual(["three", "two", "one"]);
  expect(pagination.total).toBe(3);
  expect((await send(api, chatId)).seq).toBe(4);
});

test("an eviction during concurrent sends loses no acknowledged message and leaves no gap", async () => {
  const { api, chatId, object, list } = await someChat();
  const before = await send(api, chatId);
  const first = Array.from({ length: 10 }, (_, i) => send(api, chatId, { content: `a${i}` }));
  const evicted = evictDurableObject(object);
  const second = Array.from({ length: 10 }, (_, i) => send(api, chatId, { content: `b${i}` }));
  const sent = [before, ...(await Promise.all([...first, ...second]))];
  await evicted;
  const { messages } = await list("?limit=100");
  expect(messages.map((message: Message) => message.seq)).toEqual(Array.from({ length: 21 }, (_, i) => 21 - i));
  expect(new Set(messages.map((message: Message) => message.id))).toEqual(new Set(sent.map((message) => message.id)));
});

test("50 concurrent sends get the numbers 1 to 50, as their responses say", async () => {
  const { api, chatId, list } = await someChat();
  const sent = await Promise.all(Array.from({ length: 50 }, (_, i) => send(api, chatId, { content: `No. ${i}` })));
  const inOrder = sent.toSorted((one, other) => other.seq - one.seq);
  expect(inOrder.map((message) => message.seq)).toEqual(Array.from({ length: 50 }, (_, i) => 50 - i));
  expect((await list("?limit=100")).messages).toEqual(inOrder);
});

/** The answers to sends in an adopted chat. */
function stored(answers: SendAnswer[] | string | Unknown): SendAnswer[] {
  if (!Array.isArray(answers)) throw new Error("the chat does not know itself");
  return answers;
}

test("the drafts of one call are stored in order, each with its own answer, and a refused draft does not affect the others", async () => {
  const { api, chatId, organizationId, object, list } = await someChat();
  await send(api, chatId);
  const keyed = { idempotencyHash: "k", fingerprint: "f" };
  const refused = draft("Not sent", { prepared: { outcome: "refused", code: "sender_not_found" } });
  const drafts = [draft("One"), refused, draft("Two", keyed), draft("Two", keyed), draft("Three")];
  const answers = stored(await object.send(asOwner(organizationId), drafts));
  expect(answers.map((answer) => answer.outcome)).toEqual(["stored", "refused", "stored", "stored", "stored"]);
  const documents = answers.flatMap((answer) => (answer.outcome === "stored" ? [JSON.parse(answer.doc)] : []));
  expect(documents.map(({ seq, content }) => [seq, content])).toEqual([
    [2, "One"],
    [3, "Two"],
    [3, "Two"],
    [4, "Three"],
  ]);
  expect((await list()).messages.map((message: { seq: number }) => message.seq)).toEqual([4, 3, 2, 1]);
});

test("a repeated send with the same message id is stored once and gets the same answer", async () => {
  const { api, chatId, organizationId, object, list } = await someChat();
  await send(api, chatId);
  const repeated = draft("Once");
  const first = await object.send(asOwner(organizationId), [repeated]);
  expect(first).toMatchObject([{ outcome: "stored", replayed: false }]);
  expect(await object.send(asOwner(organizationId), [repeated])).toEqual(first);
  // In memory, it is known even if it arrives after its own repeat. After an eviction, the caller says that it repeats.
  await evictDurableObject(object);
  expect(await object.send(asOwner(organizationId, null, true), [repeated])).toEqual(first);
  expect((await list()).pagination.total).toBe(2);
  expect((await send(api, chatId)).seq).toBe(3);
});

test("a repeated call with an idempotency key does not count as a replay", async () => {
  const { api, chatId, organizationId, object } = await someChat();
  await send(api, chatId);
  const repeated = draft("Once", { idempotencyHash: "k", fingerprint: "f" });
  const first = await object.send(asOwner(organizationId), [repeated]);
  expect(await object.send(asOwner(organizationId), [repeated])).toEqual(first);
  const other = draft("Once", { idempotencyHash: "k", fingerprint: "f" });
  const [answer] = stored(first);
  expect(await object.send(asOwner(organizationId), [other])).toEqual([{ ...answer, replayed: true }]);
});

test("times never run backwards if the clock is set back, even after an eviction", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: TOMORROW });
  const { api, chatId, object, list } = await someChat();
  await send(api, chatId);
  vi.setSystemTime(TOMORROW - 300_000);
  await send(api, chatId);
  await evictDurableObject(object);
  await send(api, chatId);
  vi.setSystemTime(TOMORROW + 1);
  await send(api, chatId);
  const stamps = (await list()).messages.map((message: Message) => message.createdAt);
  const at = (time: number) => new Date(time).toISOString();
  expect(stamps).toEqual([at(TOMORROW + 1), at(TOMORROW), at(TOMORROW), at(TOMORROW)]);
  expect((await api("GET", `/chats/${chatId}`)).body.chat.lastMessageAt).toBe(at(TOMORROW + 1));
});

test("an object with a newer schema than the code continues to work", async () => {
  const { api, chatId, object, list } = await someChat();
  await send(api, chatId);
  await runInDurableObject(object, (_object, { storage }) => {
    storage.sql.exec("alter table messages add column of_tomorrow text");
    storage.sql.exec("create table also_of_tomorrow (id text primary key)");
    storage.kv.put("schema", 99);
  });
  await evictDurableObject(object);
  expect((await send(api, chatId)).seq).toBe(2);
  expect((await list()).pagination.total).toBe(2);
  await runInDurableObject(object, (_object, { storage }) => expect(storage.kv.get("schema")).toBe(99));
});

test("an adopted chat ignores further identities", async () => {
  const { api, chatId, organizationId, object } = await someChat();
  await send(api, chatId);
  const thief = await newOrganization();
  const stolen = identity({ chatId, organizationId: thief.organizationId, channelId: thief.channelId });
  expect(await object.state(asOwner(thief.organizationId, stolen))).toEqual({ outcome: "unknown" });
  await evictDurableObject(object);
  expect(await object.state(asOwner(thief.organizationId, stolen))).toEqual({ outcome: "unknown" });
  expect(await object.state(asOwner(organizationId))).toMatchObject({ outcome: "ok" });
});

const FIRST = "create table notes (id integer primary key, body text not null)";
const SECOND = "alter table notes add column author text";
const WHOLE = "create table notes (id integer primary key, body text not null, author text)";

test("an object runs each missing schema step once, and keeps its data", async () => {
  await runInDurableObject(env.CHATS.getByName("cht_gschemasteps000"), (_object, { storage }) => {
    prepareSchema(storage, [FIRST]);
    storage.sql.exec("insert into notes (body) values ('kept')");
    prepareSchema(storage, [WHOLE, SECOND]);
    prepareSchema(storage, [WHOLE, SECOND]);
    expect(storage.sql.exec("select * from notes").toArray()).toEqual([{ id: 1, body: "kept", author: null }]);
  });
});

test("a new object runs the whole schema alone, and from then on what it lacks", async () => {
  await runInDurableObject(env.CHATS.getByName("cht_gschemasteps002"), (_object, { storage }) => {
    prepareSchema(storage, [WHOLE, SECOND]);
    prepareSchema(storage, [WHOLE, SECOND]);
    expect(storage.sql.exec("select * from notes").columnNames).toEqual(["id", "body", "author"]);
    prepareSchema(storage, [WHOLE, SECOND, "alter table notes add column color text"]);
    expect(storage.sql.exec("select * from notes").columnNames).toEqual(["id", "body", "author", "color"]);
  });
});

test("a failed schema step changes nothing", async () => {
  await runInDurableObject(env.CHATS.getByName("cht_gschemasteps001"), (_object, { storage }) => {
    prepareSchema(storage, [FIRST]);
    const failing = [WHOLE, SECOND, "alter table nothing add column x text"];
    expect(() => prepareSchema(storage, failing)).toThrow("nothing");
    prepareSchema(storage, [WHOLE, SECOND]);
    expect(storage.sql.exec("select * from notes").columnNames).toEqual(["id", "body", "author"]);
  });
});

/** A chat with five messages, damaged by the SQL `statement`. */
async function damagedBy(statement: string): Promise<(query?: string) => Promise<Answer>> {
  const { api, channelId } = await newOrganization();
  const { id } = await newChat(api, channelId);
  await sendMany(api, id, 5);
  const object = env.CHATS.getByName(id);
  await runAlarm(object);
  await runInDurableObject(object, (_object, { storage }) => {
    storage.sql.exec(statement);
  });
  await evictDurableObject(object);
  return (query = "") => api("GET", `/chats/${id}/messages${query}`);
}

test.each([
  ["a message in the middle", "delete from messages where seq = 3"],
  ["the first message", "delete from messages where seq = 1"],
  ["the newest message, which was reported to the organization", "delete from messages where seq = 5"],
  ["all messages", "delete from messages"],
])("a list that lacks %s is a 503, not a shorter list", async (_name, statement) => {
  const list = await damagedBy(statement);
  expectError(await list(), 503, "unavailable");
});

test("an intact page is listed even if other messages of the chat are lost", async () => {
  const list = await damagedBy("delete from messages where seq = 1");
  const { status, body } = await list("?limit=3");
  expect([status, body.messages.map(({ seq }: { seq: number }) => seq)]).toEqual([200, [5, 4, 3]]);
  expectError(await list("?limit=3&page=2"), 503, "unavailable");
});
