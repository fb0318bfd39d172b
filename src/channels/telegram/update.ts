import * as z from "zod/mini";
import type {
  AddressChange,
  InboundItem,
  InboundMessage,
  MessageEdit,
  MessageReaction,
  ParsedWebhook,
  UnknownName,
} from "../../model/network.ts";
import { cutField } from "../../model/received.ts";
import { isLoggable, loggable } from "../network/known-fields.ts";
import { lenient, textField } from "../network/lenient.ts";
import { lineOf, receivedAt, receivedEmoji, receivedTap, receivedTime } from "../network/received.ts";
import { fields, integerField } from "./fields.ts";
import { newFieldsIn } from "./known-fields.ts";
import { contentOf, contentShape, hasWords, isService } from "./message-content.ts";
import { networkIdOf } from "./network-id.ts";

const MAX_NAME = 200;
const MAX_QUERY_ID = 64;

const names = { title: textField, first_name: textField, last_name: textField, username: textField };
/** The id of a forum's topic that has no id of its own: a message to it is sent without one. */
const GENERAL = 1;

const place = { message_thread_id: integerField, is_topic_message: lenient(z.boolean()) };
const numbers = { message_id: z.int(), ephemeral_message_id: integerField, date: integerField };
const chat = z.object({ id: z.int(), type: textField, ...names });
const person = lenient(z.object({ id: integerField, ...names }));

const message = z.object({
  ...numbers,
  ...place,
  chat,
  from: person,
  sender_chat: person,
  author_signature: textField,
  sender_tag: textField,
  ...contentShape,
  reply_to_message: lenient(z.object(numbers)),
  edit_date: integerField,
  migrate_to_chat_id: integerField,
  migrate_from_chat_id: integerField,
});
type Message = z.output<typeof message>;

/** Its message is absent if it was sent in another bot's name, and has nothing but its ids if it is old. */
const tap = z.object({
  id: z.string().check(z.minLength(1), z.maxLength(MAX_QUERY_ID)),
  from: z.object({ id: z.int(), ...names }),
  message: lenient(z.object({ ...numbers, ...place, chat, reply_markup: z.optional(z.unknown()) })),
  data: z.string(),
});

const reaction = z.object({
  chat,
  message_id: z.int(),
  date: integerField,
  old_reaction: z.catch(z.array(z.unknown()), []),
  new_reaction: z.array(z.unknown()),
});

/** The updates that the service knows and does not store. They are only noted. */
const QUIET =
  /^(?:(?:edited_)?(?:channel_post|business_message)|(?:inline|shipping|pre_checkout)_query|chosen_inline_result|(?:my_)?chat_member|(?:removed_)?chat_boost|poll(?:_answer)?|business_connection|deleted_business_messages|guest_message|stopped_message_generation|message_reaction_count|purchased_paid_media|chat_join_request|managed_bot|subscription)$/;

/** Reads an update: at most one item. Other updates only leave a note with their kind. */
export function readUpdate(update: unknown, token: string): Omit<ParsedWebhook & { genuine: true }, "genuine"> {
  const { update_id: _, ...kinds } = fields(update);
  const found = READERS.map(([kind, read]) => kinds[kind] !== undefined && read(kinds[kind], token)).find(Boolean);
  if (found && !("item" in found)) return { items: [], notes: found.notes };
  if (found) {
    const { notes = [], unknown = [], ...item } = found;
    return { items: [{ account: null, ...item }], notes, ...(unknown.length > 0 && { unknown: unknownOf(unknown) }) };
  }
  const names = Object.keys(kinds)
    .filter((name) => /^[a-z_]{1,40}$/.test(name))
    .slice(0, 3);
  const isKnown = (name: string) => QUIET.test(name) || READERS.some(([kind]) => kind === name);
  const unknown = unknownOf(names.filter((name) => !isKnown(name)).map((name) => `update.${name}`));
  return {
    items: [],
    notes: [`update not stored: ${names.join(", ") || "empty"}`],
    ...(unknown.length > 0 && { unknown }),
  };
}

function unknownOf(names: string[]): UnknownName[] {
  return names.map((name) => ({ account: null, name }));
}

/** What an update holds; null if it is not understood. */
type Read = (Omit<InboundItem, "account"> & { notes?: string[]; unknown?: string[] }) | { notes: string[] } | null;

/** The kinds of updates that the service asks Telegram for, and how each is read. */
const READERS: [string, (raw: unknown, token: string) => Read][] = [
  ["message", readMessage],
  ["edited_message", readEdit],
  ["callback_query", readTap],
  ["message_reaction", readReaction],
];

function readMessage(raw: unknown, token: string): Read {
  const read = message.safeParse(raw).data;
  if (!read) return null;
  const change = changeIn(read);
  if (change) return { item: change };
  const all = fields(raw);
  if (isService(read, all)) return { notes: ["service message"] };
  const { chat, from, reply_to_message: quoted } = read;
  const address = String(chat.id);
  const added = newFieldsIn(all);
  return {
    item: {
      kind: "message",
      networkId: idOf(token, address, read),
      address,
      addresses: ownNumber(read, all),
      username: usernameOf(chat),
      // A group's name takes precedence over the name of the member who wrote.
      name: nameOf(chat) ?? (from ? nameOf(from) : null),
      ...contentOf(read, all),
      ...topicIn(read),
      ...authorIn(chat, read.sender_chat ?? from, read.author_signature ?? read.sender_tag),
      ...((all.forward_origin !== undefined || all.is_automatic_forward === true) && { forwarded: "once" }),
      ...receivedTime(read.date),
      ...(quoted && { quote: idOf(token, address, quoted) }),
    },
    notes: added.map((name) => `message field ${loggable(name)} is new`),
    unknown: added.map((name) => (isLoggable(name) ? `message.${name}` : "message")),
  };
}

/** The topic of a message. A reply that is in none has the id of a thread too. */
function topicIn({ message_thread_id: id, is_topic_message }: Partial<Message>): Pick<InboundMessage, "topic"> {
  return is_topic_message && id !== undefined && id > GENERAL ? { topic: String(id) } : {};
}

/** Who wrote in a group. @param title that of an administrator or a member in the group */
function authorIn({ type }: Message["chat"], who: Message["from"], title?: string): Pick<InboundMessage, "author"> {
  if (!/^(?:super)?group$/.test(type ?? "") || who?.id === undefined) return {};
  const name = nameOf(who);
  return {
    author: cutField({ id: String(who.id), name: name && title ? `${name} (${lineOf(title, MAX_NAME)})` : name }),
  };
}

/** Telegram leaves the name out if there is none. */
function usernameOf({ username }: Message["chat"]): string | null {
  return username || null;
}

/** The contact's own phone number, if the message is its card. Telegram sends nothing to numbers. */
function ownNumber({ chat }: Message, raw: Record<string, unknown>): string[] {
  const { user_id, phone_number } = fields(raw.contact);
  const [, digits] = typeof phone_number === "string" ? (/^\+?([1-9]\d{6,14})$/.exec(phone_number) ?? []) : [];
  // In a private chat, the chat's id is the contact's.
  return digits !== undefined && user_id === chat.id && fields(raw.from).id === chat.id ? [`+${digits}`] : [];
}

/** The change of a group's id when it becomes a supergroup. Telegram reports it in both the old and the new group. */
function changeIn({ chat, date, migrate_to_chat_id: to, migrate_from_chat_id: from }: Message): AddressChange | null {
  const at = receivedAt(date);
  if (to !== undefined) return { kind: "address", from: [String(chat.id)], to: [String(to)], at };
  return from === undefined ? null : { kind: "address", from: [String(from)], to: [String(chat.id)], at };
}

/** A live location is edited each time that it moves. Only words count. */
function readEdit(raw: unknown, token: string): { item: MessageEdit } | null {
  const read = message.safeParse(raw).data;
  const all = fields(raw);
  if (!read || !hasWords(read, all)) return null;
  const address = String(read.chat.id);
  const { content } = contentOf(read, all);
  return {
    item: { kind: "edit", networkId: idOf(token, address, read), address, content, at: receivedAt(read.edit_date) },
  };
}

function readTap(raw: unknown, token: string): { item: InboundMessage; receipt: string } | null {
  const read = tap.safeParse(raw).data;
  const tapped = read && receivedTap(read.data, titleIn(read.message?.reply_markup, read.data));
  if (!tapped) return null;
  const { id, from, message } = read;
  const address = String(message?.chat.id ?? from.id);
  return {
    item: {
      kind: "message",
      networkId: networkIdOf(token, address, `tap.${id}`),
      address,
      addresses: [],
      ...(message && { username: usernameOf(message.chat) }),
      name: (message && nameOf(message.chat)) ?? nameOf(from),
      type: "TEXT",
      content: tapped.title || "[button]",
      media: null,
      tap: tapped,
      // Of a message that is no longer shown, Telegram tells nothing but its id.
      ...(message?.date ? topicIn(message) : { topic: null }),
      ...(message && authorIn(message.chat, from)),
      ...(message && { quote: idOf(token, address, message) }),
    },
    receipt: id,
  };
}

/** The text of the button with this data. Telegram sends the message's buttons with a tap, and not which it was. */
function titleIn(markup: unknown, data: string): unknown {
  const { inline_keyboard: rows } = fields(markup);
  const buttons = Array.isArray(rows) ? rows.flat().map(fields) : [];
  return buttons.find(({ callback_data }) => callback_data === data)?.text;
}

/** A custom emoji has no text, so it counts as none. Of several reactions, the one counts that was not there before. */
function readReaction(raw: unknown, token: string): { item: MessageReaction } | null {
  const read = reaction.safeParse(raw).data;
  if (!read) return null;
  const address = String(read.chat.id);
  const [before, after] = [new Set(emojisIn(read.old_reaction)), emojisIn(read.new_reaction)];
  const emoji = after.find((each) => !before.has(each)) ?? after.at(-1) ?? null;
  const networkId = idOf(token, address, read);
  return { item: { kind: "reaction", networkId, address, emoji, at: receivedAt(read.date) } };
}

function emojisIn(reactions: unknown[]): string[] {
  return reactions
    .map(fields)
    .map(({ type, emoji }) => (type === "emoji" ? receivedEmoji(emoji) : null))
    .filter((emoji) => emoji !== null);
}

/** Ephemeral messages have the number 0 and a second one that Telegram reuses. The date makes them unique. */
function idOf(
  token: string,
  address: string,
  { message_id, ephemeral_message_id, date }: Partial<z.output<typeof reaction> & Message>,
): string {
  return networkIdOf(token, address, message_id || `0.${ephemeral_message_id}.${date}`);
}

function nameOf({ title, first_name, last_name, username }: NonNullable<Message["from"]>): string | null {
  return lineOf(title || [first_name, last_name].filter(Boolean).join(" ") || username, MAX_NAME) ?? null;
}
