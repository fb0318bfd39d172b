import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { runAlarm } from "../../support/alarms.ts";
import { replaceMethod } from "../../support/faults.ts";
import { admin, expectError, send } from "../../support/harness.ts";
import { rowsRead } from "../../support/rows-read.ts";
import { storedBy } from "../../support/stored.ts";
import { LONGEST, noteOf, place, writer } from "./note-fixtures.ts";
import { pass, stopTheClock } from "./object/delivery/conversation.ts";
import { retainedPlace } from "./object/retention/fixtures.ts";
import { DAY } from "./object/scheduled/fixtures.ts";

stopTheClock();

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
