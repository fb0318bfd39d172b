import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, expect, test } from "vitest";
import type { Chat } from "../../../../src/model/chat.ts";
import { stopTheClock } from "../../../service/chats/object/delivery/conversation.ts";
import { AGENT } from "../../../service/inbound/agent-corpus.ts";
import { newContact, place } from "../../../service/inbound/fixtures.ts";
import { mutate } from "../../../service/inbound/mutate-payload.ts";
import { TELEGRAM } from "../../../service/inbound/telegram-corpus.ts";
import { fromMeta, fromTelegram, taken } from "../../../service/inbound/webhook-calls.ts";
import { WHATSAPP } from "../../../service/inbound/whatsapp-corpus.ts";
import { client, newKey } from "../../../support/harness.ts";
import { Random } from "../../../support/random.ts";
import { neverRing } from "../../../support/timers.ts";

stopTheClock();
// A message waits two seconds for its contact's addresses, and is then answered without them.
beforeEach(() => neverRing(2_000));

const SECONDS = 1_790_000_000;
/** Payloads of one channel. */
const BATCH = 40;

const SEED = Number(env.TEST_SEED || 1);
const KINDS = ["whatsapp", "app", "agent", "telegram"] as const;
const BATCHES = Math.ceil(Number(env.TEST_MUTATIONS || 320) / BATCH / KINDS.length);

/** A payload: what a channel is sent, whose it is, and how many messages must come of it. */
interface Sent {
  from: string;
  payload: object;
  must: number;
}

/** Doubled often enough, a huge text makes a call that is longer than the service takes, less what is around it. */
const MAX_CALL = 4 * 1_024 * 1_024 - 1_024;

const isId = (id: unknown): id is string => typeof id === "string" && id.length > 0 && id.length <= 512;

/** What is no message, or not always one. */
const OTHERS = ["system", "request_welcome", "edit", "revoke", "reaction"];

function whatsapp(random: Random, index: number): Sent {
  const from = newContact();
  const base = { from, id: `wamid.mutated.${from}.${index}`, timestamp: String(SECONDS) };
  const message = { ...base, ...ownCard(random.pick(WHATSAPP)[1]) };
  const contacts = [{ wa_id: from, profile: { name: "Ada" } }];
  const payload = mutate({ contacts, messages: [message] }, random);
  return { from, payload, must: messagesIn(payload.messages, from) };
}

/** How many messages of a list of Meta's must be stored in a contact's chat. */
function messagesIn(list: unknown, contact: string, side: "from" | "to" = "from"): number {
  const ids = itemsIn(list).flatMap(({ id, type, group_id, recipient_type, ...item }) => {
    const isMessage = typeof type === "string" && !OTHERS.includes(type) && !group_id && recipient_type === undefined;
    return isMessage && isId(id) && item[side] === contact ? [id] : [];
  });
  return new Set(ids).size;
}

function itemsIn(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.map(Object) : [];
}

/** The fields with a number that no other contact has: who verifies another's number is that contact. */
function ownCard(fields: object): object {
  return JSON.parse(JSON.stringify(fields).replaceAll('"491701"', JSON.stringify(newContact()))) as object;
}

/** The contact of a stored message, by its network's id; null if the id does not say it. */
function writerOf(dedupe: string): string | null {
  return /^in:(?:wamid\.(?:mutated|app|agent)\.(\d+)\.|\d+:(\d+):)/.exec(dedupe)?.slice(1).find(Boolean) ?? null;
}

/** What the company writes in the app. */
function app(random: Random, index: number): Sent {
  const to = newContact();
  const base = { from: "15550001111", to, id: `wamid.app.${to}.${index}`, timestamp: String(SECONDS) };
  const payload = mutate({ message_echoes: [{ ...base, ...ownCard(random.pick(WHATSAPP)[1]) }] }, random);
  return { from: to, payload, must: messagesIn(payload.message_echoes, to, "to") };
}

/** What the contact and Meta's own agent write to each other. */
function agent(random: Random, index: number): Sent {
  const from = newContact();
  const base = { id: `wamid.agent.${from}.${index}`, timestamp: String(SECONDS) };
  const messages = [{ ...base, id: `${base.id}.in`, from, ...ownCard(random.pick(WHATSAPP)[1]) }];
  const body = { messaging_product: "whatsapp", to: from, ...random.pick(AGENT)[1] };
  const payload = mutate({ standby: { messages, message_echoes: [{ ...base, message: body }] } }, random);
  const lists = Object(payload.standby) as Record<string, unknown>;
  // An echo has its recipient in what was sent.
  const echoes = itemsIn(lists.message_echoes).map(({ id, message }) => ({ type: "text", ...Object(message), id }));
  // The contact has another number then, and the chat with it.
  const hasMoved = itemsIn(lists.messages).some(({ type }) => type === "system");
  const must = messagesIn(lists.messages, from) + messagesIn(echoes, from, "to");
  return { from, payload, must: hasMoved ? 0 : must };
}

function telegram(random: Random, index: number): Sent {
  const from = newContact();
  const chat = { id: Number(from), type: "private", first_name: "Ada" };
  const [, fields] = random.pick(TELEGRAM.filter(([, each]) => !("chat" in each)));
  const message = { message_id: 100 + index, date: SECONDS, chat, from: chat, ...fields };
  const payload = mutate({ update_id: index, message }, random);
  const { message_id, chat: own, text, migrate_to_chat_id } = Object(payload.message) as Record<string, unknown>;
  const isOurs = Object(own).id === Number(from) && Number.isSafeInteger(message_id) && Number(message_id) > 0;
  const isText = typeof text === "string" && text !== "";
  return { from, payload, must: Number(isOurs && isText && migrate_to_chat_id === undefined) };
}

async function writersIn(chatId: string): Promise<string[]> {
  const rows = await runInDurableObject(env.CHATS.getByName(chatId), (_object, { storage }) =>
    storage.sql.exec<{ dedupe: string | null }>("select dedupe from messages").toArray(),
  );
  return rows.map(({ dedupe }) => dedupe && writerOf(dedupe)).filter((writer) => writer !== null);
}

const MAKES = { whatsapp, app, agent, telegram };
const FIELDS = { whatsapp: "messages", app: "smb_message_echoes", agent: "standby" };

async function batch(kind: (typeof KINDS)[number], seed: number): Promise<void> {
  const random = new Random(seed);
  const at = await place(kind === "telegram" ? kind : "whatsapp");
  const sent: Sent[] = [];
  for (let index = 0; index < BATCH; index++) {
    const one = MAKES[kind](random, index);
    sent.push(one);
    const tell = () =>
      kind === "telegram"
        ? fromTelegram(at.channel, one.payload)
        : fromMeta(at.channel, [one.payload], { field: FIELDS[kind] });
    const isTooLong = JSON.stringify(one.payload).length > MAX_CALL;
    if (isTooLong) one.must = 0;
    for (let times = random.next() < 0.2 ? 2 : 1; times > 0; times--) {
      const answer = await tell();
      if (isTooLong) expect(answer.status).toBe(413);
      else taken(answer);
    }
  }
  const read = client((await newKey(at.organizationId, { rateLimit: { limit: 10_000, windowSeconds: 60 } })).secret);
  const chats: Chat[] = (await read("GET", `/chats?channel=${at.channel.id}&limit=100`)).body.chats;
  const stored = new Map<string, number>();
  let known = 0;
  for (const { id, contact } of chats) {
    // The address of no other payload, and of none that was made up.
    const owner = sent.find(({ payload }) => JSON.stringify(payload).includes(contact.address));
    expect(owner, `seed ${seed}: a chat of ${contact.address}`).toBeDefined();
    const { messages } = (await read("GET", `/chats/${id}/messages?limit=100`)).body;
    stored.set(contact.address, messages.length);
    const writers = await writersIn(id);
    known += writers.length;
    for (const writer of writers) {
      expect(contact.addresses, `seed ${seed}: a message of ${writer}`).toContain(writer);
    }
  }
  expect(known, `seed ${seed}: messages whose writer is known`).toBeGreaterThan(0);
  for (const { from, payload, must } of sent) {
    const what = `seed ${seed}: ${JSON.stringify(payload).slice(0, 2_000)}`;
    expect(stored.get(from) ?? 0, what).toBeGreaterThanOrEqual(must);
    expect(stored.get(from) ?? 0, what).toBeLessThanOrEqual(Math.max(2, must));
  }
}

test.each(KINDS)(
  "whatever a payload of %s becomes, it is accepted, and each message with an id is in its own chat",
  async (kind) => {
    for (let seed = SEED; seed < SEED + BATCHES; seed++) await batch(kind, seed);
  },
  3_600_000,
);
