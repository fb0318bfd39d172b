import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { Note } from "../../../src/model/note.ts";
import { runAlarm } from "../../support/alarms.ts";
import { replaceMethod } from "../../support/faults.ts";
import {
  type Answer,
  admin,
  type Client,
  client,
  created,
  expectError,
  expectFaults,
  newChat,
  newKey,
  newOrganization,
  send,
} from "../../support/harness.ts";
import { rowsRead } from "../../support/rows-read.ts";
import { storedBy } from "../../support/stored.ts";
import { untilLength } from "../../support/until.ts";
import { addWebhook, fakeReceiver } from "../webhooks/receiver.ts";
import { pass, stopTheClock } from "./object/delivery/conversation.ts";
import { retainedPlace } from "./object/retention/fixtures.ts";
import { DAY } from "./object/scheduled/fixtures.ts";

stopTheClock();

const LONGEST = "x".repeat(4_096);

/** A client that reads and writes notes, by a key of its own. */
async function writer(organizationId: string, permissions: string[] = []) {
  const given = { permissions: ["notes:read", "notes:write", ...permissions] };
  const { secret, key } = await newKey(organizationId, given);
  return { api: client(secret), keyId: key.id, secret };
}

async function place() {
  const organization = await newOrganization();
  const { api, organizationId, channelId } = organization;
  const chat = await newChat(api, channelId);
  const { api: writes, keyId } = await writer(organizationId, ["events:read", "data:export"]);
  const member = async (name: string, permissions: string[]): Promise<string> =>
    created(await admin("POST", `/organizations/${organizationId}/members`, { name, permissions })).member.id;
  return {
    ...organization,
    ...{ chat, writes, keyId },
    ann: await member("Ann", ["notes:read", "chats:write"]),
    bob: await member("Bob", ["chats:read"]),
    add: (body: object, headers = {}) => writes("POST", `/chats/${chat.id}/notes`, body, headers),
    list: async (query = ""): Promise<Note[]> => (await writes("GET", `/chats/${chat.id}/notes${query}`)).body.notes,
    remove: (id: string, by: Client = writes) => by("DELETE", `/chats/${chat.id}/notes/${id}`),
    events: async () =>
      (await writes("GET", `/chats/${chat.id}/events`)).body.events
        .filter(({ type }: { type: string }) => type.startsWith("note."))
        .map(({ type, data }: { type: string; data: object }) => [type, data]),
  };
}

/** The first answer of a method of chats is lost after the object has given it. */
function loseAnswer(method: string): void {
  let calls = 0;
  replaceMethod("CHATS", method, (original) => async (...given) => {
    const answer = await original(...given);
    if (calls++ > 0) return answer;
    throw Object.assign(new Error("Network connection lost."), { retryable: true });
  });
}

const noteOf = (answer: Answer): Note => created(answer).note;

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

test("a chat has 1,000 notes, and remembers 1,000 deleted ones for 30 days", async () => {
  const { chat, add, list, remove } = await place();
  const last = noteOf(await add({ content: "The last one" }));
  const object = env.CHATS.getByName(chat.id);
  const rows = () =>
    runInDurableObject(object, (_object, { storage }) =>
      storage.sql
        .exec<{ all: number; deleted: number }>("select count(*) as 'all', count(deleted_at) as deleted from notes")
        .one(),
    );
  await runInDurableObject(object, (_object, { storage }) => {
    for (let n = 0; n < 2_200; n++) {
      const id = `note_g${String(n).padStart(15, "0")}`;
      const doc = JSON.stringify({ ...last, id });
      const deletedAt = n < 999 ? null : Date.now() - n;
      storage.sql.exec(
        "insert into notes (id, doc, created_at, deleted_at) values (?, ?, ?, ?)",
        ...[id, doc, Date.now(), deletedAt],
      );
    }
  });
  // The object counts what it stores itself.
  await evictDurableObject(object);
  expectError(await add({ content: "One more" }), 409, "note_limit");
  await remove(last.id);
  expect(await rows()).toEqual({ all: 1_999, deleted: 1_000 });
  expect((await add({ content: "One more" })).status).toBe(201);
  pass(31 * DAY);
  await remove((await list("?limit=1"))[0]?.id ?? "");
  expect(await rows()).toEqual({ all: 1_000, deleted: 1 });
});

test("a note reads no more rows the more notes a chat has", async () => {
  const { chat, add, remove } = await place();
  const first = noteOf(await add({ content: LONGEST }));
  const object = env.CHATS.getByName(chat.id);
  await runInDurableObject(object, (_object, { storage }) => {
    for (let n = 0; n < 500; n++) {
      const id = `note_g${String(n).padStart(15, "0")}`;
      const doc = JSON.stringify({ ...first, id });
      storage.sql.exec("insert into notes (id, doc, created_at) values (?, ?, ?)", id, doc, Date.now());
    }
  });
  const cost = async (content: string) => {
    const rows = await rowsRead(object, () => add({ content }));
    return rows.reduce((sum, each) => sum + each, 0);
  };
  await remove(noteOf(await add({ content: "One" })).id);
  expect(await cost("Two")).toBeLessThan(20);
  expect(await cost("Three")).toBeLessThan(20);
});

test("a note that is not stored does not count", async () => {
  const { chat, add } = await place();
  await add({ content: "One" });
  const object = env.CHATS.getByName(chat.id);
  const trigger = (statement: string) =>
    runInDurableObject(object, (_object, { storage }) => void storage.sql.exec(statement));
  const fill = `with recursive c(x) as (select 1 union all select x + 1 from c where x < 998)
    insert into notes (id, doc, created_at) select x, doc, created_at from c, notes where n = 1`;
  await trigger(fill);
  await evictDurableObject(object);
  await trigger("create trigger no_note before insert on notes begin select raise(abort, 'full'); end");
  vi.spyOn(console, "error").mockReturnValue();
  expect((await add({ content: "Two" })).status).toBe(500);
  await trigger("drop trigger no_note");
  expect((await add({ content: "Two" })).status).toBe(201);
  expectError(await add({ content: "Three" }), 409, "note_limit");
});

test("notes are in the export, before the messages", async () => {
  const { api, chat, writes, add, remove } = await place();
  const [one, two, gone] = [
    noteOf(await add({ content: "1" })),
    noteOf(await add({ content: "2 👍" })),
    noteOf(await add({ content: "3" })),
  ];
  await remove(gone.id);
  await send(api, chat.id);
  const lines = (await writes("GET", `/chats/${chat.id}/export`)).text.trimEnd().split("\n");
  const parsed = lines.map((line) => JSON.parse(line));
  expect(parsed.map(({ type }) => type)).toEqual(["chat", "note", "note", "message", "checkpoint", "end"]);
  expect(parsed.slice(1, 3).map(({ note }) => note)).toEqual([one, two]);
  const { next } = parsed.at(-2);
  const rest = (await writes("GET", `/chats/${chat.id}/export?after=${next}`)).text;
  expect(rest).not.toContain('"note"');
});

test("the longest notes are exported in pages, each once and in order", async () => {
  const { chat, writes, add } = await place();
  const first = noteOf(await add({ content: `x${"\u0001".repeat(4_095)}` }));
  const ids = [first.id];
  await runInDurableObject(env.CHATS.getByName(chat.id), (_object, { storage }) => {
    for (let n = 0; n < 199; n++) {
      const id = `note_g${String(n).padStart(15, "0")}`;
      const doc = JSON.stringify({ ...first, id });
      storage.sql.exec("insert into notes (id, doc, created_at) values (?, ?, ?)", id, doc, Date.now());
      ids.push(id);
    }
  });
  const sizes: number[] = [];
  replaceMethod("CHATS", "exportPage", (original) => async (...given) => {
    const answer = (await original(...given)) as { lines: Uint8Array };
    sizes.push(answer.lines.byteLength);
    return answer;
  });
  const { text } = await writes("GET", `/chats/${chat.id}/export`);
  const lines = text.trimEnd().split("\n");
  const notes = lines.map((line) => JSON.parse(line)).filter(({ type }) => type === "note");
  expect(notes.map(({ note }) => note.id)).toEqual(ids);
  expect(sizes.length).toBeGreaterThan(2);
  expect(Math.max(...sizes)).toBeLessThan(3_000_000);
});

test("retention deletes a note once the note is that old, and a chat with a younger note stays", async () => {
  const retained = await retainedPlace();
  const { organizationId, chatId, api } = retained;
  const { api: writes } = await writer(organizationId);
  const add = async (content: string) => noteOf(await writes("POST", `/chats/${chatId}/notes`, { content }));
  await retained.sendSome("Hello");
  await add("old");
  await retained.passDays(20);
  const young = await add("young");
  await retained.passDays(12);
  expect((await writes("GET", `/chats/${chatId}/notes`)).body.notes).toEqual([young]);
  expect(await storedBy(retained.object())).not.toContain('"old"');
  expect((await api("GET", `/chats/${chatId}`)).status).toBe(200);
  await retained.passDays(33);
  expectError(await api("GET", `/chats/${chatId}`), 404, "chat_not_found");
});

test("a redaction leaves the notes, and the deletion of the chat takes them", async () => {
  const { api, chat, organizationId, add, list } = await place();
  const { id } = await send(api, chat.id);
  await add({ content: "stays" });
  await admin("POST", `/chats/${chat.id}/messages/${id}/redact`);
  expect(await list()).toHaveLength(1);
  await admin("DELETE", `/chats/${chat.id}`);
  await runAlarm(env.ORGANIZATIONS.getByName(organizationId));
  expect(await storedBy(env.CHATS.getByName(chat.id))).not.toContain("stays");
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
