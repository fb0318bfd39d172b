import { runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { expect } from "vitest";
import { PERMISSIONS } from "../../../src/model/permission.ts";
import { runAlarm } from "../../support/alarms.ts";
import { lookInto } from "../../support/canaries.ts";
import { type Client, client, newChat, newKey, newOrganization } from "../../support/harness.ts";
import { neverRing } from "../../support/timers.ts";
import { until } from "../../support/until.ts";
import { pass } from "../chats/object/delivery/conversation.ts";

// biome-ignore lint/suspicious/noExplicitAny: a test knows the type of its event
export type AnyEvent = any;

/** A new organization with a key that has all permissions. */
export async function newListener(settings: Record<string, unknown> = {}) {
  const organization = await newOrganization();
  const { key, secret } = await newKey(organization.organizationId, { permissions: [...PERMISSIONS], ...settings });
  return { ...organization, keyId: key.id, secret, api: client(secret) };
}

/** A listener with a chat whose creation is in the feed. */
export async function newListenerWithChat() {
  const listener = await newListener();
  const chat = await newChat(listener.api, listener.channelId);
  await report(chat.id);
  return { ...listener, chat };
}

/** The chat reports its events to its organization. */
export async function report(chatId: string): Promise<void> {
  expect(await runAlarm(env.CHATS.getByName(chatId))).toBe(true);
}

/** An organization with chats that know that a client listens, in a calm second. */
export async function listenedChats(count: number) {
  // The stream is not read, and one that stands still for four seconds is closed.
  neverRing(4_000);
  const listener = await newListener({ rateLimit: { limit: 1_000, windowSeconds: 1 } });
  const chatIds: string[] = [];
  while (chatIds.length < count) chatIds.push((await newChat(listener.api, listener.channelId)).id);
  const stream = await openStream(listener.secret, "types=message.created");
  for (const chatId of chatIds) {
    await report(chatId);
    pass(200);
  }
  pass(2_000);
  return { ...listener, stream, chatIds };
}

/** Reads a page, which must be a 200. `query` is without the question mark. */
export async function pageOf(
  api: Client,
  query = "",
): Promise<{ events: AnyEvent[]; cursor: string; hasMore: boolean }> {
  const answer = await api("GET", `/events?${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

/** What identifies an event in a test: its chat and number. */
export function nameOf({ chatId, number, type }: AnyEvent): string {
  return `${chatId} ${number} ${type}`;
}

/** How many doorbells of an organization are open. */
export function openDoorbells(organizationId: string): Promise<number> {
  return runInDurableObject(
    env.ORGANIZATIONS.getByName(organizationId),
    (_object, state) => state.getWebSockets().filter(({ readyState }) => readyState === WebSocket.OPEN).length,
  );
}

/** Returns when exactly `count` doorbells of an organization are open. */
export async function untilDoorbells(organizationId: string, count = 1): Promise<void> {
  await until(
    `${count} doorbells are open`,
    () => openDoorbells(organizationId),
    (open) => open === count,
  );
}

/** One frame of a stream: its fields by name. `data` is parsed. A comment has the field ``. */
export type Frame = Record<string, string> & { data?: AnyEvent };

/** A live stream, as its client sees it. */
export class Stream {
  readonly response: Response;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = "";

  constructor(response: Response) {
    this.response = response;
    this.#reader = (response.body as ReadableStream<Uint8Array>).getReader();
  }

  /** The next frame; null after the last one. */
  async next(): Promise<Frame | null> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end >= 0) {
        const lines = this.#text.slice(0, end).split("\n");
        this.#text = this.#text.slice(end + 2);
        return frameOf(lines);
      }
      const { done, value } = await this.#reader.read();
      if (done) return null;
      this.#text += this.#decoder.decode(value, { stream: true });
      lookInto("stream", this.#text);
    }
  }

  /** The next events, in order. */
  async events(count: number): Promise<AnyEvent[]> {
    const events: AnyEvent[] = [];
    while (events.length < count) {
      const frame = await this.next();
      if (!frame) throw new Error(`The stream ended after ${events.length} of ${count} events`);
      if (frame.data) events.push(frame.data);
    }
    return events;
  }

  /** The events until the service ends the stream. */
  async rest(): Promise<AnyEvent[]> {
    const events: AnyEvent[] = [];
    for (let frame = await this.next(); frame; frame = await this.next()) if (frame.data) events.push(frame.data);
    return events;
  }

  async close(): Promise<void> {
    await this.#reader.cancel();
  }
}

function frameOf(lines: string[]): Frame {
  const fields = lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trimStart()]);
  const frame = Object.fromEntries(fields) as Frame;
  return frame.data === undefined ? frame : { ...frame, data: JSON.parse(frame.data as unknown as string) };
}

/** Asks for a stream. `query` is without the question mark. */
export function requestStream(secret: string, query = "", headers: Record<string, string> = {}): Promise<Response> {
  return exports.default.fetch(`https://parley.test/api/v1/events/stream?${query}`, {
    headers: { Authorization: `Bearer ${secret}`, ...headers },
  });
}

/** Opens a stream, which must be a 200. */
export async function openStream(secret: string, query = "", headers: Record<string, string> = {}): Promise<Stream> {
  const response = await requestStream(secret, query, headers);
  expect(response.status).toBe(200);
  return new Stream(response);
}
