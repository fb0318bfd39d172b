import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { expect } from "vitest";
import type { Chat } from "../../../src/model/chat.ts";
import { messageId } from "../../../src/model/id.ts";
import type { Message } from "../../../src/model/message.ts";
import { client, newChat, newKey, newOrganization, send } from "../../support/harness.ts";

/** A line of an export. */
export interface Line {
  type:
    | "member"
    | "channel"
    | "template"
    | "reply"
    | "label"
    | "chat"
    | "scheduled"
    | "message"
    | "chat_deleted"
    | "chat_unreadable"
    | "checkpoint"
    | "end";
  member?: { id: string };
  channel?: { id: string };
  template?: { id: string };
  reply?: { id: string };
  label?: { id: string };
  chat?: Chat;
  message?: Message;
  chatId?: string;
  next?: string | null;
  lastSeq?: number;
  unreadable?: number;
}

/** An organization with chats of this many messages, and a key that may export. */
export async function place(chats: number[] = []) {
  const organization = await newOrganization();
  const { secret } = await newKey(organization.organizationId, { permissions: ["data:export"] });
  const rateLimit = { limit: 10_000, windowSeconds: 60 };
  const writer = client((await newKey(organization.organizationId, { rateLimit })).secret);
  const ids: string[] = [];
  for (const messages of chats) {
    const { id } = await newChat(writer, organization.channelId);
    await fill(id, messages, writer);
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
export async function open(secret: string, path: string): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const headers = { Authorization: `Bearer ${secret}` };
  const response = await exports.default.fetch(new Request(`https://parley.test/api/v1${path}`, { headers }));
  expect(response.status).toBe(200);
  expect(response.headers.get("Content-Type")).toBe("application/x-ndjson");
  return (response.body as ReadableStream<Uint8Array>).getReader();
}

/** Reads whole lines until the stream ends, or for about `bytes` bytes. */
export async function read(
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
export async function* eachLine(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): AsyncGenerator<Line, void, undefined> {
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
export async function firstPart(lines: AsyncGenerator<Line, void, undefined>): Promise<Line[]> {
  const part: Line[] = [];
  while (part.at(-1)?.type !== "checkpoint") part.push((await lines.next()).value as Line);
  return part;
}

/** All lines of an export. */
export const linesOf = async (secret: string, path: string) => read(await open(secret, path));

/** What a client keeps of an organization's lists. */
export function listsOf(lines: Line[]): string[] {
  return lines.flatMap(
    ({ member, channel, template, reply, label }) => (member ?? channel ?? template ?? reply ?? label)?.id ?? [],
  );
}

/** What a client keeps of chats: the chats and the messages of each. */
export function contentOf(lines: Line[]): string[] {
  return lines.flatMap(({ type, chat, message }) => {
    if (type === "chat") return [`chat ${chat?.id}`];
    if (type === "scheduled") return [`scheduled ${message?.id}`];
    return type === "message" ? [`message ${message?.chatId} ${message?.seq}`] : [];
  });
}

/** What a client keeps of whole chats, by the number of messages of each. */
export function expected(chats: Record<string, number>): string[] {
  return Object.keys(chats)
    .toSorted()
    .flatMap((id) => [
      `chat ${id}`,
      ...Array.from({ length: chats[id] as number }, (_, at) => `message ${id} ${at + 1}`),
    ]);
}
