import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { Note } from "../../../src/model/note.ts";
import { replaceMethod } from "../../support/faults.ts";
import { admin, client, created, expectError, expectFaults, newKey, send } from "../../support/harness.ts";
import { storedBy } from "../../support/stored.ts";
import { untilLength } from "../../support/until.ts";
import { addWebhook, fakeReceiver } from "../webhooks/receiver.ts";
import { LONGEST, noteOf, place, writer } from "./note-fixtures.ts";
import { stopTheClock } from "./object/delivery/conversation.ts";

stopTheClock();

/** The first answer of a method of chats is lost after the object has given it. */
function loseAnswer(method: string): void {
  let calls = 0;
  replaceMethod("CHATS", method, (original) => async (...given) => {
    const answer = await original(...given);
    if (calls++ > 0) return answer;
    throw Object.assign(new Error("Network connection lost."), { retryable: true });
  });
}

test("a note has its author, whom it is for and its place between the messages, and is no message", async () => {
  const { api, chat, ann, keyId, add, list, events } = await place();
  const first = noteOf(await add({ content: "Before everything" }));
  await send(api, chat.id);
  const before = [await api("GET", `/chats/${chat.id}`), await api("GET", `/chats/${chat.id}/messages`)];
  const second = noteOf(await add({ content: "<b>Call</b> her\n\u202e!", mentions: [ann, ann] }));
  expect(first).toEqual({
    id: expect.stringMatching(/^note_g\w{15}$/),
    chatId: chat.id,
    author: { type: "key", id: keyId, name: "Test" },
    content: "Before everything",
    mentions: [],
    afterSeq: 0,
    createdAt: new Date().toISOString(),
  });
  expect(second).toMatchObject({ content: "<b>Call</b> her\n\u202e!", mentions: [ann], afterSeq: 1 });
  expect(await list()).toEqual([second, first]);
  const after = [await api("GET", `/chats/${chat.id}`), await api("GET", `/chats/${chat.id}/messages`)];
  expect(after.map(({ body }) => body)).toEqual(before.map(({ body }) => body));
  const facts = (note: Note) => Object.fromEntries(Object.entries(note).filter(([name]) => name !== "content"));
  expect(await events()).toEqual([
    ["note.created", { note: facts(first) }],
    ["note.created", { note: facts(second) }],
  ]);
});

test.each([
  ["content", { content: `${LONGEST}x` }],
  ["content", { content: "\ud800" }],
  ["content", { content: 5 }],
  ["mentions", { content: "Hi", mentions: Array.from({ length: 11 }, (_, n) => `mbr_${n}`) }],
  ["mentions", { content: "Hi", mentions: "mbr_1" }],
  ["mentions.0", { content: "Hi", mentions: [""] }],
])("a fault in %s is named", async (path, body) => {
  const { add, list } = await place();
  expectFaults(await add(body), path);
  expect(await list()).toEqual([]);
});

test("a note of 4,096 characters fits, and a blank one is refused", async () => {
  const { add, list } = await place();
  expect(noteOf(await add({ content: LONGEST })).content).toBe(LONGEST);
  for (const body of [{}, { content: " \n" }]) expectError(await add(body), 400, "missing_field");
  expect(await list()).toHaveLength(1);
});

test("only members who may read notes can be mentioned: not one without the permission, a removed, a foreign or an invented one", async () => {
  const { ann, bob, add, list } = await place();
  const other = await place();
  await admin("DELETE", `/members/${ann}`);
  const answer = await add({ content: "Hi", mentions: [bob, ann, other.ann, "mbr_g0000000000000000"] });
  expectFaults(answer, "mentions.0", "mentions.1", "mentions.2", "mentions.3");
  expect(await list()).toEqual([]);
});

test("a repeated request with an idempotency key stores one note, another body is refused, and messages' keys are apart", async () => {
  const { api, chat, ann, add, list, remove } = await place();
  const key = { "Idempotency-Key": "k1" };
  const message = created(await api("POST", `/chats/${chat.id}/messages`, { content: "Hello" }, key)).message;
  const [one, two] = await Promise.all([add({ content: "Once" }, key), add({ content: "Once" }, key)]);
  expect(noteOf(one)).toEqual(noteOf(two));
  expect(new Set([one, two].map(({ headers }) => headers.get("Idempotent-Replayed")))).toEqual(new Set(["true", null]));
  expect(noteOf(one).id).not.toBe(message.id);
  for (const body of [{ content: "Other" }, { content: "Once", mentions: [ann] }]) {
    expectError(await add(body, key), 422, "idempotency_mismatch");
  }
  expect(await list()).toHaveLength(1);
  await remove(noteOf(one).id);
  const again = await add({ content: "Whatever it is" }, key);
  expect(again.headers.get("Idempotent-Replayed")).toBe("true");
  expect(noteOf(again)).toMatchObject({ id: noteOf(one).id, content: "", deletedAt: expect.any(String) });
  expect(await list()).toEqual([]);
});

test("a repeated request gets its note also once a member whom it mentions may read none, or is gone", async () => {
  const { ann, add, list } = await place();
  const key = { "Idempotency-Key": "k1" };
  const body = { content: "Once", mentions: [ann] };
  const note = noteOf(await add(body, key));
  const changes: [string, object?][] = [["PATCH", { permissions: [] }], ["DELETE"]];
  for (const [method, patch] of changes) {
    expect((await admin(method, `/members/${ann}`, patch)).status).toBe(200);
    const again = await add(body, key);
    expect([noteOf(again), again.headers.get("Idempotent-Replayed")]).toEqual([note, "true"]);
  }
  expectFaults(await add(body, { "Idempotency-Key": "k2" }), "mentions.0");
  expect(await list()).toHaveLength(1);
});

test("a call that is repeated after a lost answer stores one note, and deletes it once", async () => {
  const { add, list, remove, events } = await place();
  loseAnswer("addNote");
  const note = noteOf(await add({ content: "Once" }));
  vi.restoreAllMocks();
  expect(await list()).toEqual([note]);
  loseAnswer("deleteNote");
  expect((await remove(note.id)).status).toBe(200);
  vi.restoreAllMocks();
  expect(await events()).toHaveLength(2);
});

test("the author deletes a note, and who may erase chats too; for others it is a 403, and nothing of the text stays", async () => {
  const { organizationId, chat, keyId, add, list, remove, events } = await place();
  const object = env.CHATS.getByName(chat.id);
  const [mine, theirs] = [noteOf(await add({ content: "canary-1" })), noteOf(await add({ content: "canary-2" }))];
  const stranger = await writer(organizationId);
  const { secret, key } = await newKey(organizationId, { permissions: ["chats:erase"] });
  const eraser = { api: client(secret), keyId: key.id };
  expectError(await remove(mine.id, stranger.api), 403, "permission_denied");
  const answer = await remove(mine.id);
  expect(answer.body).toEqual({ note: { ...mine, content: "", deletedAt: expect.any(String) } });
  expect((await remove(theirs.id, eraser.api)).status).toBe(200);
  expect(await list()).toEqual([]);
  expect(await storedBy(object)).not.toContain("canary");
  for (const id of [mine.id, "note_g0000000000000000", "x"]) expectError(await remove(id), 404, "note_not_found");
  expect((await events()).slice(2)).toMatchObject([
    ["note.deleted", { note: { id: mine.id }, by: { type: "key", id: keyId } }],
    ["note.deleted", { note: { id: theirs.id }, by: { id: eraser.keyId } }],
  ]);
});

test("a list is read page by page, also from a note that is gone", async () => {
  const { chat, writes, add, list, remove } = await place();
  const ids: string[] = [];
  for (let n = 1; n <= 5; n++) ids.unshift(noteOf(await add({ content: String(n) })).id);
  const { body } = await writes("GET", `/chats/${chat.id}/notes?limit=2`);
  const { cursor } = body.pagination;
  expect(body.pagination).toEqual({ limit: 2, hasMore: true, cursor: expect.any(String) });
  await remove(ids[1] ?? "");
  const next = () => list(`?limit=2&before=${cursor}`);
  expect((await next()).map(({ id }) => id)).toEqual(ids.slice(2, 4));
  expect((await list(`?limit=2&before=${ids[1]}`)).map(({ id }) => id)).toEqual(ids.slice(2, 4));
  expect((await list(`?limit=2&before=${ids[3]}`)).map(({ id }) => id)).toEqual(ids.slice(4));
  const other = await place();
  for (const before of ["note_g0000000000000000", "x"]) {
    expectFaults(await writes("GET", `/chats/${chat.id}/notes?before=${before}`), "before");
  }
  expectFaults(await other.writes("GET", `/chats/${other.chat.id}/notes?before=${cursor}`), "before");
  await runInDurableObject(env.CHATS.getByName(chat.id), (_object, { storage }) => {
    storage.sql.exec("delete from notes where id = ?", ids[1]);
  });
  expect((await next()).map(({ id }) => id)).toEqual(ids.slice(2, 4));
});

test("a thin webhook gets ids of those who assign a chat and write notes, and no names", async () => {
  const { organizationId, chat, api, keyId, ann, add, remove } = await place();
  const calls = fakeReceiver();
  await addWebhook(organizationId, { payload: "thin", types: ["note.*", "chat.assigned"] });
  const note = noteOf(await add({ content: "a", mentions: [ann] }));
  expect((await remove(note.id)).status).toBe(200);
  for (const assigneeId of [ann, null]) await api("PATCH", `/chats/${chat.id}`, { assigneeId });
  await untilLength(calls, 4);
  const [made, deleted, given] = calls.map(({ event }) => event.data);
  const who = { type: "key", id: keyId };
  const facts = { id: note.id, chatId: chat.id, author: who, mentions: [ann], afterSeq: 0, createdAt: note.createdAt };
  expect(made).toEqual({ note: facts });
  expect(deleted).toEqual({ note: { ...facts, deletedAt: expect.any(String) }, by: who });
  expect(given).toEqual({ assigneeId: ann, by: { type: "key", id: expect.stringMatching(/^key_/) } });
});
