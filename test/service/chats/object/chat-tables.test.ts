import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { TABLES_VERSION } from "../../../../src/chats/object/log/chat-tables.ts";
import { CHAT_TABLES } from "../../../../src/chats/object/log/schema.ts";
import type { ChatIdentity } from "../../../../src/model/chat-answers.ts";
import { messageId, newId } from "../../../../src/model/id.ts";
import { runAlarm } from "../../../support/alarms.ts";
import { admin, type Client, client, newChat, newKey, newOrganization, send } from "../../../support/harness.ts";
import { heldBy, NOTHING } from "../../../support/stored.ts";
import { meter } from "../../budget/meter.ts";
import { linesOf } from "../../export/fixtures.ts";
import { stopTheClock } from "./delivery/conversation.ts";
import { chatPlace, DAY } from "./scheduled/fixtures.ts";

stopTheClock();

const PERMISSIONS = [
  ...["chats:read", "messages:read", "messages:send", "events:read", "notes:read", "notes:write", "data:export"],
];

async function newPlace() {
  const { organizationId, channelId, api: creator } = await newOrganization();
  const { secret } = await newKey(organizationId, { permissions: PERMISSIONS });
  const api = client(secret);
  const { id } = await newChat(creator, channelId);
  return { api, secret, id, ...chatPlace(api, id) };
}

async function tablesOf(object: DurableObjectStub): Promise<string[]> {
  const { tables } = await heldBy(object);
  return tables.map(({ name }) => name as string).filter((name) => name in CHAT_TABLES);
}

const eventsOf = async (api: Client, id: string) =>
  (await api("GET", `/chats/${id}/events`)).body.events.map(({ number, type }: { number: number; type: string }) => [
    number,
    type,
  ]);

test("each read of a chat in which nothing happened answers, and writes nothing", async () => {
  const { api, secret, id, object, evict } = await newPlace();
  await evict();
  const { read } = await meter([object()]);
  const at = `/chats/${id}`;
  const missing = `${at}/messages/${messageId(newId("msg", null), 1)}`;
  const empty: [path: string, field: string][] = [
    [`${at}/messages`, "messages"],
    [`${at}/messages?search=word&status=SENT`, "messages"],
    [`${at}/scheduled`, "messages"],
    [`${at}/notes`, "notes"],
  ];
  for (const [path, field] of empty)
    expect(await api("GET", path)).toMatchObject({ status: 200, body: { [field]: [] } });
  for (const path of [missing, `${missing}/attempts`, `${missing}/media`])
    expect((await api("GET", path)).status).toBe(404);
  expect((await admin("POST", `${missing}/redact`)).status).toBe(404);
  expect((await api("DELETE", `${at}/notes/note_1`)).status).toBe(404);
  expect(await eventsOf(api, id)).toEqual([[1, "chat.created"]]);
  expect((await linesOf(secret, "/export")).filter(({ type }) => type === "message" || type === "scheduled")).toEqual(
    [],
  );
  expect(read().rows).toBe(0);
  expect(await tablesOf(object())).toEqual([]);
});

test("a table is there from its first row on, also for the next instance, and goes with the chat", async () => {
  const { api, id, object, evict, schedule, waiting } = await newPlace();
  const later = await schedule(DAY);
  expect(await tablesOf(object())).toEqual(["scheduled", "events"]);
  const sent = await send(api, id);
  await evict();
  expect((await waiting()).map((message) => message.id)).toEqual([later.id]);
  const { messages } = (await api("GET", `/chats/${id}/messages`)).body;
  expect(messages.map((message: { id: string }) => message.id)).toEqual([sent.id]);
  expect(await eventsOf(api, id)).toEqual([
    [1, "chat.created"],
    [2, "message.scheduled"],
    [3, "message.created"],
  ]);
  expect((await admin("DELETE", `/chats/${id}`)).status).toBe(200);
  expect(await tablesOf(object())).toEqual([]);
});

test("a table whose first row could not be written is not taken for one that is there", async () => {
  const { api, id, object, schedule, waiting, post } = await newPlace();
  await runInDurableObject(object(), (_object, { storage }) => {
    const exec = storage.sql.exec.bind(storage.sql);
    vi.spyOn(storage.sql, "exec").mockImplementation(((query: string, ...given: unknown[]) => {
      if (query.startsWith("insert into events")) throw new Error("disk I/O error: SQLITE_IOERR");
      return exec(query, ...given);
    }) as never);
  });
  expect((await post()).status).toBe(503);
  expect((await post({ scheduledAt: new Date(Date.now() + DAY).toISOString() })).status).toBe(503);
  expect(await waiting()).toEqual([]);
  expect((await api("GET", `/chats/${id}/messages`)).body.messages).toEqual([]);
  await runInDurableObject(object(), () => vi.restoreAllMocks());
  expect(await tablesOf(object())).toEqual([]);
  const { id: later } = await schedule(DAY);
  expect((await waiting()).map((message) => message.id)).toEqual([later]);
  expect(await send(api, id)).toMatchObject({ seq: 1 });
});

/** A place whose organization has chats of an earlier version. */
async function olderPlace() {
  const { organizationId, channelId, api: creator } = await newOrganization();
  await newChat(creator, channelId);
  const organization = env.ORGANIZATIONS.getByName(organizationId);
  await runInDurableObject(organization, (_object, { storage }) => void storage.kv.delete("leanFrom"));
  return { organizationId, channelId, creator };
}

test("for a week after an update, an organization that had chats creates what earlier versions can use", async () => {
  const { channelId, creator } = await olderPlace();
  const { id } = await newChat(creator, channelId);
  const object = env.CHATS.getByName(id);
  const { values } = await heldBy(object);
  expect(values).toEqual([
    ["identity", expect.objectContaining({ chatId: id, isLean: false })],
    ["schema", TABLES_VERSION],
  ]);
  // No earlier version holds echoes.
  const { held: _held, reworded: _reworded, ...expected } = CHAT_TABLES;
  expect((await tablesOf(object)).sort()).toEqual(Object.keys(expected).sort());
  const [events, size] = await runInDurableObject(object, (_object, { storage }) => [
    storage.sql.exec("select n, type from events").toArray(),
    storage.sql.databaseSize / 1_024,
  ]);
  expect([events, size]).toEqual([[{ n: 1, type: "chat.created" }], 64]);
  vi.setSystemTime(Date.now() + 7 * DAY);
  const later = await newChat(creator, channelId);
  expect((await heldBy(env.CHATS.getByName(later.id))).values).toEqual([
    ["lean", expect.objectContaining({ chatId: later.id })],
  ]);
});

test("a chat with all tables from its creation on goes on", async () => {
  const { organizationId, channelId, creator } = await olderPlace();
  const { secret } = await newKey(organizationId, { permissions: PERMISSIONS });
  const api = client(secret);
  const { id } = await newChat(creator, channelId);
  const { evict, schedule, waiting } = chatPlace(api, id);
  await evict();
  expect(await waiting()).toEqual([]);
  await schedule(DAY);
  await send(api, id);
  expect(await api("POST", `/chats/${id}/notes`, { content: "A note" })).toMatchObject({ status: 201 });
  expect((await eventsOf(api, id)).map(([, type]: [number, string]) => type)).toEqual([
    ...["chat.created", "message.scheduled", "message.created", "note.created"],
  ]);
});

test("a chat in which nothing happened goes on after an earlier version had adopted it with all tables", async () => {
  const { api, id, object, evict, waiting } = await newPlace();
  await runInDurableObject(object(), (_object, { storage }) => {
    storage.kv.put("identity", storage.kv.get<ChatIdentity>("lean"));
    storage.kv.put("schema", TABLES_VERSION);
    for (const statements of Object.values(CHAT_TABLES)) storage.sql.exec(statements);
    const query = "insert into events (n, type, at) values (1, 'chat.created', 1), (2, 'message.created', 2)";
    storage.sql.exec(query);
  });
  await evict();
  expect(await waiting()).toEqual([]);
  await send(api, id);
  expect((await eventsOf(api, id)).map(([number]: [number]) => number)).toEqual([1, 2, 3]);
});

test("a table that an older Worker created, after a newer one knew the chat, gets the columns that it lacks", async () => {
  const { object, evict, schedule, waiting } = await newPlace();
  await runInDurableObject(object(), (_object, { storage }) => {
    storage.sql.exec(CHAT_TABLES.scheduled.replace(/,\s+moved integer,\s+if_open integer/, ""));
    expect(storage.sql.exec("select * from scheduled").columnNames).not.toContain("moved");
  });
  await evict();
  const later = await schedule(DAY, { ifOpen: true });
  expect((await waiting()).map((message) => message.id)).toEqual([later.id]);
  await evict();
  expect((await waiting()).map((message) => message.id)).toEqual([later.id]);
});

test("a chat in which nothing happened is deleted", async () => {
  const { id, object } = await newPlace();
  expect((await admin("DELETE", `/chats/${id}`)).status).toBe(200);
  vi.setSystemTime(Date.now() + DAY);
  await runAlarm(object());
  expect(await heldBy(object())).toEqual(NOTHING);
});
