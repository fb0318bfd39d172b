import { expect, test } from "vitest";
import { TELEGRAM_LEAVES } from "../../../src/channels/telegram/arrivals.ts";
import { MESSAGE_LEAVES } from "../../../src/channels/whatsapp/arrivals.ts";
import type { Chat } from "../../../src/model/chat.ts";
import type { Message } from "../../../src/model/message.ts";
import { client, newKey } from "../../support/harness.ts";
import { stopTheClock } from "../chats/object/delivery/conversation.ts";
import { AGENT } from "./agent-corpus.ts";
import { fromApp, fromStandby } from "./echo-calls.ts";
import { newContact, type Place, place } from "./fixtures.ts";
import { TELEGRAM } from "./telegram-corpus.ts";
import { fromMeta, fromTelegram, taken } from "./webhook-calls.ts";
import { type Case, WHATSAPP } from "./whatsapp-corpus.ts";

stopTheClock();

const SECONDS = 1_790_000_000;
const networkTime = new Date(SECONDS * 1_000).toISOString();

/** The fields of a message beside those that every message has. */
function kept(message: Message | undefined): object | null {
  if (!message) return null;
  const { direction, status, text, content, mediaUrl, media, origin } = message;
  expect([direction, status, text]).toEqual(
    origin === undefined ? ["INBOUND", "RECEIVED", content] : ["OUTBOUND", "SENT", content],
  );
  expect(mediaUrl !== null).toBe(media !== undefined);
  return Object.fromEntries(Object.entries(message).filter(([name]) => !COMMON_FIELDS.has(name)));
}

const COMMON_FIELDS = new Set(
  "id chatId seq direction senderId templateId variables status error metadata createdAt updatedAt sentAt text mediaUrl".split(
    " ",
  ),
);

/** What the chats of a channel keep of each case, by its name. Each case has a contact of its own. */
async function storedOf(
  at: Place,
  cases: Case[],
  tell: (from: string, message: object, index: number) => Promise<void>,
) {
  const contacts = cases.map(() => newContact());
  for (const [index, [, message]] of cases.entries()) await tell(contacts[index] ?? "", message, index);
  const rateLimit = { limit: 10_000, windowSeconds: 60 };
  const read = client((await newKey(at.organizationId, { rateLimit })).secret);
  const stored: Record<string, object | null> = {};
  for (const [index, [what, message]] of cases.entries()) {
    const chat = (message as { chat?: { id: number } }).chat?.id ?? contacts[index];
    const chats: Chat[] = (await read("GET", `/chats?contact=${chat}&channel=${at.channel.id}`)).body.chats;
    const path = `/chats/${chats[0]?.id}/messages?limit=100`;
    const messages: Message[] = chats[0] ? (await read("GET", path)).body.messages : [];
    // Those of the group are in one chat, newest first.
    const ofCase = messages.length > 1 ? messages.toReversed()[groupCases(cases).indexOf(what)] : messages[0];
    stored[what] = kept(ofCase);
  }
  return stored;
}

const groupCases = (cases: Case[]) => cases.filter(([, message]) => "chat" in message).map(([what]) => what);

/** @param more what each of them has besides */
function expected(cases: Case[], more: object = {}): Record<string, object | null> {
  const shown = cases.map(
    ([what, , fields]) => [what, fields && withoutUndefined({ networkTime, ...fields, ...more })] as const,
  );
  return Object.fromEntries(shown);
}

function withoutUndefined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

test("there are at least 120 payloads, each with a name of its own", () => {
  const networks = Object.entries({ WHATSAPP, AGENT, TELEGRAM });
  const names = networks.flatMap(([network, cases]) => cases.map(([what]) => `${network} ${what}`));
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThanOrEqual(120);
});

/** The paths of all fields of a value, such as `context.id`. Lists count as their items. */
function* pathsIn(value: unknown, path = ""): Generator<string> {
  if (!(value instanceof Object)) return;
  for (const [name, each] of Object.entries(value)) {
    yield path + name;
    for (const item of [each].flat()) yield* pathsIn(item, `${path}${name}.`);
  }
}

/** The leaves of tables that no payload has. */
function missingIn(cases: Case[], leaves: Record<string, readonly string[]>): string[] {
  const paths = new Set(cases.flatMap(([, message]) => [...pathsIn(message)]));
  return Object.values(leaves)
    .flat()
    .filter((leaf) => !paths.has(leaf));
}

test("the payloads have every leaf of the tables, but those whose effect is on a chat", () => {
  // The ids and addresses are in each call of these tests. `addresses.test.ts` has the rest.
  const addresses = ["id", "from", "from_user_id", "from_parent_user_id"];
  const moves = ["new_wa_id", "customer", "parent_user_id", "previous_parent_user_id"].map((name) => `system.${name}`);
  expect(missingIn(WHATSAPP, MESSAGE_LEAVES).sort()).toEqual([...addresses, ...moves, "request_welcome"].sort());
  const chats = ["migrate_to_chat_id", "migrate_from_chat_id", "reply_to_message", "edit_date"];
  expect(missingIn(TELEGRAM, TELEGRAM_LEAVES).sort()).toEqual([...chats, "message_id", "ephemeral_message_id"].sort());
});

test("each message of WhatsApp is stored as the table says", async () => {
  const at = await place("whatsapp");
  const stored = await storedOf(at, WHATSAPP, async (from, message, index) => {
    const base = { from, id: `wamid.corpus.${index}`, timestamp: String(SECONDS) };
    const contacts = [{ wa_id: from, profile: { name: "Ada" } }];
    taken(await fromMeta(at.channel, [{ contacts, messages: [{ ...base, ...message }] }]));
  });
  expect(stored).toEqual(expected(WHATSAPP));
});

test("each message to Meta's own agent is stored in the same way, with a mark", async () => {
  const at = await place("whatsapp");
  const stored = await storedOf(at, WHATSAPP, async (from, message, index) => {
    const base = { from, id: `wamid.standby.${index}`, timestamp: String(SECONDS) };
    const contacts = [{ wa_id: from, profile: { name: "Ada" } }];
    taken(await fromStandby(at.channel, { contacts, messages: [{ ...base, ...message }] }));
  });
  expect(stored).toEqual(expected(WHATSAPP, { standby: true }));
});

test("each message that the app sends is stored in the same way, as the company's", async () => {
  const at = await place("whatsapp");
  const stored = await storedOf(at, WHATSAPP, async (to, message, index) => {
    const base = { from: "15550001111", to, id: `wamid.app.${index}`, timestamp: String(SECONDS) };
    taken(await fromApp(at.channel, { ...base, ...message }));
  });
  expect(stored).toEqual(expected(WHATSAPP, { origin: "app" }));
});

test("each message of Meta's own agent is stored as the table says", async () => {
  const at = await place("whatsapp");
  const stored = await storedOf(at, AGENT, async (to, message, index) => {
    const base = { id: `wamid.agent.${index}`, timestamp: String(SECONDS) };
    const body = { messaging_product: "whatsapp", recipient_type: "individual", to, ...message };
    taken(await fromStandby(at.channel, { message_echoes: [{ ...base, message: body }] }));
  });
  expect(stored).toEqual(expected(AGENT, { origin: "network" }));
});

test("each message of Telegram is stored as the table says", async () => {
  const at = await place("telegram");
  const stored = await storedOf(at, TELEGRAM, async (from, message, index) => {
    const chat = { id: Number(from), type: "private", first_name: "Ada" };
    const base = { message_id: 100 + index, date: SECONDS, chat, from: chat };
    taken(await fromTelegram(at.channel, { update_id: index, message: { ...base, ...message } }));
  });
  expect(stored).toEqual(expected(TELEGRAM));
});
