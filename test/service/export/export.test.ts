import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { Chat } from "../../../src/chats/chat.ts";
import type { Message } from "../../../src/chats/message.ts";
import { exportParts } from "../../../src/export/export.ts";
import { messageId, newId } from "../../../src/ids.ts";
import {
  admin,
  client,
  expectError,
  expectFaults,
  newChat,
  newKey,
  newOrganization,
  newTemplate,
  send,
  sendMany,
} from "../../support/harness.ts";
import { BOT_TOKEN, newNetworkChannel } from "../delivery/conversation.ts";

interface Line {
  type: "member" | "channel" | "template" | "chat" | "scheduled" | "message" | "chat_deleted" | "checkpoint" | "end";
  member?: { id: string };
  channel?: { id: string };
  template?: { id: string };
  chat?: Chat;
  message?: Message;
  chatId?: string;
  next?: string | null;
  lastSeq?: number;
}

async function place(chats: number[] = []) {
  const organization = await newOrganization();
  const { secret } = await newKey(organization.organizationId, { permissions: ["data:export"] });
  const ids: string[] = [];
  for (const messages of chats) {
    const { id } = await newChat(organization.api, organization.channelId);
    await fill(id, messages, organization.api);
    ids.push(id);
  }
  return { ...organization, secret, ids, exporter: client(secret) };
}

/** Stores messages in a chat, most of them without requests. */
async function fill(chatId: string, count: number, api: ReturnType<typeof client>): Promise<void> {
  if (count === 0) return;
  const sent = await send(api, chatId, { content: "Number 1" });
  const object = env.CHATS.getByName(chatId);
  await runInDurableObject(object, (_object, { storage }) => {
    for (let seq = 2; seq <= count; seq++) {
      const doc = JSON.stringify({ ...sent, id: messageId(sent.id.slice(0, 20), seq), seq, text: `Number ${seq} 👍` });
      storage.sql.exec("insert into messages (seq, doc) values (?, ?)", seq, doc);
    }
  });
  await evictDurableObject(object);
}

/** Opens an export as a client that reads it bit by bit. */
async function open(secret: string, path: string): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const headers = { Authorization: `Bearer ${secret}` };
  const response = await exports.default.fetch(new Request(`https://parley.test/api/v1${path}`, { headers }));
  expect(response.status).toBe(200);
  expect(response.headers.get("Content-Type")).toBe("application/x-ndjson");
  return (response.body as ReadableStream<Uint8Array>).getReader();
}

/** Reads whole lines until the stream ends, or for about `bytes` bytes. */
async function read(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  bytes = Number.POSITIVE_INFINITY,
): Promise<Line[]> {
  const parts: Uint8Array[] = [];
  let size = 0;
  while (size < bytes) {
    const { value, done } = await reader.read();
    if (done) break;
    parts.push(value);
    size += value.length;
  }
  await reader.cancel();
  const whole = Buffer.concat(parts).subarray(0, bytes);
  return new TextDecoder()
    .decode(whole)
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
}

/** Reads the lines of an open export one by one. */
async function* eachLine(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<Line, void, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line) as Line;
  }
}

/** Reads up to the first checkpoint. */
async function firstPart(lines: AsyncGenerator<Line, void, undefined>): Promise<Line[]> {
  const part: Line[] = [];
  while (part.at(-1)?.type !== "checkpoint") part.push((await lines.next()).value as Line);
  return part;
}

const linesOf = async (secret: string, path: string) => read(await open(secret, path));

/** What a client keeps of an organization's lists. */
function listsOf(lines: Line[]): string[] {
  return lines.flatMap(({ member, channel, template }) => (member ?? channel ?? template)?.id ?? []);
}

/** What a client keeps of chats: the chats and the messages of each. */
function contentOf(lines: Line[]): string[] {
  return lines.flatMap(({ type, chat, message }) => {
    if (type === "chat") return [`chat ${chat?.id}`];
    if (type === "scheduled") return [`scheduled ${message?.id}`];
    return type === "message" ? [`message ${message?.chatId} ${message?.seq}`] : [];
  });
}

function expected(chats: Record<string, number>): string[] {
  return Object.keys(chats)
    .toSorted()
    .flatMap((id) => [
      `chat ${id}`,
      ...Array.from({ length: chats[id] as number }, (_, at) => `message ${id} ${at + 1}`),
    ]);
}

test("a chat is exported with its messages, oldest first, and ends with a line that says so", async () => {
  const { api, ids, secret } = await place([0]);
  const chatId = ids[0] as string;
  const sent = await sendMany(api, chatId, 3);
  const lines = await linesOf(secret, `/chats/${chatId}/export`);
  expect(lines.map(({ type }) => type)).toEqual(["chat", "message", "message", "message", "checkpoint", "end"]);
  expect(lines[0]?.chat).toMatchObject({
    id: chatId,
    contact: (await api("GET", `/chats/${chatId}`)).body.chat.contact,
  });
  expect(lines.slice(1, 4).map(({ message }) => message)).toEqual(sent);
  expect(lines.at(-1)).toEqual({ type: "end", lastSeq: 3, next: null });
});

test("an organization without chats and a chat without messages are exported", async () => {
  const nothing = await place();
  const ofNothing = await linesOf(nothing.secret, "/export");
  expect(ofNothing.map(({ type }) => type)).toEqual(["member", "checkpoint", "channel", "checkpoint", "end"]);
  expect(ofNothing.at(-1)).toEqual({ type: "end", lastSeq: 0, next: null });
  const { ids, secret } = await place([0]);
  const lines = await linesOf(secret, `/chats/${ids[0]}/export`);
  expect(lines.map(({ type }) => type)).toEqual(["chat", "checkpoint", "end"]);
  expect(lines.at(-1)).toEqual({ type: "end", lastSeq: 0, next: null });
});

test("all chats are exported, each with all of its messages, and the operator gets the same", async () => {
  const { ids, secret, organizationId } = await place([3, 0, 1_100]);
  const [one, two, three] = ids as [string, string, string];
  const lines = await linesOf(secret, "/export");
  expect(contentOf(lines)).toEqual(expected({ [one]: 3, [two]: 0, [three]: 1_100 }));
  expect(lines.at(-1)).toMatchObject({ type: "end", next: null });
  const answer = await admin("GET", `/organizations/${organizationId}/export`);
  expect(
    answer.text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line)),
  ).toEqual(lines);
  const ofChat = await admin("GET", `/chats/${one}/export`);
  expect(ofChat.text).toContain('{"type":"end","lastSeq":3,"next":null}');
});

test("an organization's members, channels and templates come first, without secrets, oldest first", async () => {
  const { organizationId, channelId, secret, ownerId } = await place([1]);
  const { member } = (await admin("POST", `/organizations/${organizationId}/members`, { name: "Bea" })).body;
  const telegram = await newNetworkChannel(organizationId, "telegram");
  const template = await newTemplate(organizationId, "Hi {{name}}");
  const lines = await linesOf(secret, "/export");
  expect(listsOf(lines)).toEqual([ownerId, member.id, channelId, telegram.id, template]);
  expect(lines.findIndex(({ type }) => type === "chat")).toBeGreaterThan(
    lines.findIndex((line) => line.template?.id === template),
  );
  const { credentials, webhook, health, ...settings } = (await admin("GET", `/channels/${telegram.id}`)).body.channel;
  expect(lines.find(({ channel }) => channel?.id === telegram.id)?.channel).toEqual(settings);
  expect(lines.find((line) => line.member?.id === member.id)?.member).toEqual(member);
  const shown = JSON.stringify(lines);
  for (const hidden of [credentials.botToken, webhook.verifyToken, BOT_TOKEN]) expect(shown).not.toContain(hidden);
  expect(health.state).toBe("ok");
});

test("lists longer than one query are exported whole, and go on where they were cut", async () => {
  const { organizationId, secret } = await place();
  const rows = Array.from({ length: 250 }, (_, n) => newId("tpl", null) + n);
  await env.DB.batch(
    rows.map((id) =>
      env.DB.prepare(
        "insert into templates (id, organization_id, name, language, body, created_at, updated_at) values (?, ?, 'a', 'en', 'Hi', ?, ?)",
      ).bind(id, organizationId, 1_795_000_000_000 + (rows.indexOf(id) >> 3), 0),
    ),
  );
  const whole = await linesOf(secret, "/export");
  const expectedIds = listsOf(whole);
  expect(expectedIds.slice(2).toSorted()).toEqual(rows.toSorted());
  for (const [at, { next }] of whole.entries()) {
    if (!next) continue;
    const rest = await linesOf(secret, `/export?after=${next}`);
    expect([...listsOf(whole.slice(0, at)), ...listsOf(rest)]).toEqual(expectedIds);
    expect(rest.at(-1)).toEqual({ type: "end", lastSeq: 0, next: null });
  }
});

test("messages without a place come before the others: scheduled ones, and those that were canceled", async () => {
  const { api, ids, secret } = await place([2]);
  const chatId = ids[0] as string;
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
  const one = await send(api, chatId, { scheduledAt });
  const other = await send(api, chatId, { scheduledAt });
  await api("POST", `/chats/${chatId}/messages/${other.id}/cancel`);
  const lines = await linesOf(secret, `/chats/${chatId}/export`);
  expect(contentOf(lines)).toEqual([
    `chat ${chatId}`,
    ...[one.id, other.id].toSorted().map((id) => `scheduled ${id}`),
    `message ${chatId} 1`,
    `message ${chatId} 2`,
  ]);
  expect(lines.find(({ message }) => message?.id === one.id)?.message).toEqual(one);
  expect(lines.find(({ message }) => message?.id === other.id)?.message).toMatchObject({
    status: "CANCELED",
    seq: null,
  });
});

test("a message that takes its place between two parts of the scheduled ones is exported", async () => {
  const { api, ids, secret } = await place([3]);
  const chatId = ids[0] as string;
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
  const first = await send(api, chatId, { scheduledAt });
  const object = env.CHATS.getByName(chatId);
  // More than one part, with ids behind the first one.
  const planted = Array.from({ length: 900 }, (_, n) => `msg_zz${String(n).padStart(14, "0")}`);
  await runInDurableObject(object, (_object, { storage }) => {
    for (const id of planted) {
      storage.sql.exec(
        "insert into scheduled (id, doc, due_at, turn) values (?, ?, ?, 9)",
        id,
        JSON.stringify({ ...first, id }),
        Date.parse(scheduledAt),
      );
    }
  });
  await evictDurableObject(object);
  const part = await firstPart(eachLine(await open(secret, `/chats/${chatId}/export`)));
  expect(contentOf(part)).toHaveLength(1 + 500);
  const late = planted.at(-1) as string;
  expect((await api("PATCH", `/chats/${chatId}/messages/${late}`, { scheduledAt: null })).status).toBe(200);
  await runDurableObjectAlarm(object);
  const rest = await linesOf(secret, `/chats/${chatId}/export?after=${part.at(-1)?.next}`);
  const content = [...contentOf(part), ...contentOf(rest)];
  expect(content).toContain(`message ${chatId} 4`);
  expect(content).not.toContain(`scheduled ${late}`);
  expect(content).toHaveLength(1 + 900 + 4);
  expect(new Set(content).size).toBe(content.length);
});

test("messages after the beginning are not in the export, nor in its continuation", async () => {
  const { api, ids, secret } = await place([1_200]);
  const chatId = ids[0] as string;
  const whole = await linesOf(secret, `/chats/${chatId}/export`);
  await send(api, chatId);
  const checkpoint = whole.find(({ type }) => type === "checkpoint");
  const rest = await linesOf(secret, `/chats/${chatId}/export?after=${checkpoint?.next}`);
  expect(rest.at(-1)).toEqual({ type: "end", lastSeq: 1_200, next: null });
  expect(contentOf(rest)).toHaveLength(700);
});

test("exports that are cut at random places and continued have every line once", async () => {
  const { ids, secret, ownerId, channelId } = await place([700, 0, 1_300, 2, 999]);
  const counts = Object.fromEntries(ids.map((id, at) => [id, [700, 0, 1_300, 2, 999][at] as number]));
  let seed = 7;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  for (let round = 0; round < 8; round++) {
    const kept: Line[] = [];
    let after = "";
    for (let tries = 0; ; tries++) {
      const bytes = tries < 20 ? Math.floor(random() * 600_000) : Number.POSITIVE_INFINITY;
      const lines = await read(await open(secret, `/export${after}`), bytes);
      const end = lines.findLastIndex(({ type }) => type === "checkpoint" || type === "end");
      kept.push(...lines.slice(0, end + 1));
      const { type, next } = lines[end] ?? {};
      if (type === "end" && next === null) break;
      if (next) after = `?after=${next}`;
    }
    expect(contentOf(kept)).toEqual(expected(counts));
    expect(listsOf(kept)).toEqual([ownerId, channelId]);
  }
});

test("one response makes at most 40 calls of objects, and next continues behind them", async () => {
  const { ids, secret } = await place(Array.from({ length: 50 }, () => 1));
  const pages: Line[][] = [];
  for (let after = ""; pages.length < 5; ) {
    const lines = await linesOf(secret, `/export${after}`);
    pages.push(lines);
    const next = lines.at(-1)?.next;
    if (!next) break;
    after = `?after=${next}`;
  }
  expect(pages).toHaveLength(2);
  expect(pages[0]?.filter(({ type }) => type === "chat").length).toBeLessThan(40);
  expect(contentOf(pages.flat())).toEqual(expected(Object.fromEntries(ids.map((id) => [id, 1]))));
});

test("a chat that is deleted during its export ends with a line that says so, and continuing is a 404", async () => {
  const { exporter, ids, secret } = await place([4_000]);
  const chatId = ids[0] as string;
  const lines = eachLine(await open(secret, `/chats/${chatId}/export`));
  const next = (await firstPart(lines)).at(-1)?.next;
  expect((await admin("DELETE", `/chats/${chatId}`)).status).toBe(200);
  const rest = await Array.fromAsync(lines);
  expect(rest.slice(-3).map(({ type }) => type)).toEqual(["chat_deleted", "checkpoint", "end"]);
  expect(rest.at(-3)).toEqual({ type: "chat_deleted", chatId });
  expect(rest.at(-1)).toMatchObject({ type: "end", next: null });
  expect(contentOf(rest).length).toBeLessThan(3_500);
  expectError(await exporter("GET", `/chats/${chatId}/export?after=${next}`), 404, "chat_not_found");
  expectError(await exporter("GET", `/chats/${chatId}/export`), 404, "chat_not_found");
});

test("an export of all chats goes on behind a chat that is deleted meanwhile", async () => {
  const { ids, secret } = await place([4_000, 4_000]);
  const [one, two] = ids.toSorted() as [string, string];
  const lines = eachLine(await open(secret, "/export"));
  // The members, the channel and the beginning of the first chat.
  for (let parts = 0; parts < 3; parts++) await firstPart(lines);
  expect((await admin("DELETE", `/chats/${one}`)).status).toBe(200);
  const rest = await Array.fromAsync(lines);
  const deleted = rest.findIndex(({ type }) => type === "chat_deleted");
  expect(rest[deleted]?.chatId).toBe(one);
  expect(contentOf(rest.slice(deleted))).toEqual(expected({ [two]: 4_000 }));
  expect(rest.at(-1)).toMatchObject({ type: "end", next: null });
});

test.each([0, 1])("an export of %i chats has no end if the organization is deleted meanwhile", async (chats) => {
  const { organizationId, secret } = await place(Array(chats).fill(1));
  const lines = eachLine(await open(secret, "/export"));
  await firstPart(lines);
  await env.DB.prepare("update organizations set erasing_at = 1 where id = ?").bind(organizationId).run();
  await env.ORGANIZATIONS.getByName(organizationId).close();
  await expect(Array.fromAsync(lines)).rejects.toThrow();
});

test("a redacted message is exported without its text", async () => {
  const { api, ids, secret } = await place([0]);
  const sent = await send(api, ids[0] as string, { content: "secret words" });
  await admin("POST", `/chats/${ids[0]}/messages/${sent.id}/redact`);
  const lines = await linesOf(secret, `/chats/${ids[0]}/export`);
  expect(JSON.stringify(lines)).not.toContain("secret words");
  expect(lines[1]?.message).toMatchObject({ seq: 1, text: "" });
});

test("an export needs data:export, and a chat of another organization does not exist", async () => {
  const { api, ids } = await place([1]);
  const other = await place([1]);
  for (const path of ["/export", `/chats/${ids[0]}/export`]) {
    expectError(await api("GET", path), 403, "permission_denied", /data:export/);
  }
  expectError(await other.exporter("GET", `/chats/${ids[0]}/export`), 404, "chat_not_found");
  expect(contentOf(await linesOf(other.secret, "/export"))).toEqual(expected({ [other.ids[0] as string]: 1 }));
});

test("a cursor of another organization, another chat or another export is a 400", async () => {
  const { exporter, ids, secret } = await place([600, 600]);
  const other = await place([600]);
  const cursorOf = async (key: string, path: string) =>
    (await linesOf(key, path)).find(({ type }) => type === "checkpoint")?.next as string;
  const whole = await cursorOf(secret, "/export");
  const ofChat = await cursorOf(secret, `/chats/${ids[0]}/export`);
  const wrong = [
    ["/export", await cursorOf(other.secret, "/export")],
    [`/chats/${ids[0]}/export`, await cursorOf(other.secret, `/chats/${other.ids[0]}/export`)],
    [`/chats/${ids[1]}/export`, ofChat],
    ["/export", ofChat],
    [`/chats/${ids[0]}/export`, whole],
    ["/export", `${whole}A`],
    ["/export", "nonsense"],
    ["/export", ""],
    ["/export", "x".repeat(257)],
  ] as const;
  for (const [path, cursor] of wrong) expectFaults(await exporter("GET", `${path}?after=${cursor}`), "after");
  expectFaults(await exporter("GET", `/export?limit=5`), "limit");
});

test("an export rests between the parts of a long chat, so that sends in other chats are not delayed", async () => {
  const { ids, organizationId } = await place([1_100]);
  const waits = vi.spyOn(scheduler, "wait");
  const scope = { organizationId, chatId: ids[0] as string, missing: "chat_not_found" as const };
  await Array.fromAsync(exportParts(env, scope, null));
  const pauses = waits.mock.calls.map(([ms]) => ms);
  vi.restoreAllMocks();
  // After 500 and after 1,000 messages.
  expect(pauses).toHaveLength(2);
  expect(Math.min(...pauses)).toBeGreaterThan(50);
});

test("the next part is read only when the client has taken the one before", async () => {
  const { ids, secret } = await place([3_000]);
  const object = env.CHATS.getByName(ids[0] as string);
  let pages = 0;
  await runInDurableObject(object, (_object, { storage }) => {
    const exec = storage.sql.exec.bind(storage.sql);
    storage.sql.exec = ((query: string, ...given: unknown[]) => {
      if (query.includes("json_valid(doc) order by seq")) pages++;
      return exec(query, ...given);
    }) as typeof storage.sql.exec;
  });
  const lines = eachLine(await open(secret, `/chats/${ids[0]}/export`));
  await firstPart(lines);
  expect(pages).toBeLessThanOrEqual(30);
  expect(contentOf(await Array.fromAsync(lines))).toHaveLength(2_500);
  expect(pages).toBe(60);
});
