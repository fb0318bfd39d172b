import type { ChannelKind } from "./channel-kind.ts";
import type { Chat } from "./chat.ts";
import type { CallerName } from "./chat-answers.ts";
import { type Event, type EventFact, type EventOrigin, type EventType, eventId, ownChannelId } from "./event.ts";
import type { Message, ShownMessage } from "./message.ts";
import type { FeedPointer } from "./organization.ts";
import type { Payload } from "./webhook.ts";

/** Greater than the number of any organization's own event. */
const FIRST_UNREADABLE = 62 ** 7;

/** What an event's `data` shows besides its facts, as it is now: null if it is gone or was not asked for. */
export interface EventSubject {
  message?: ShownMessage | null;
  chat?: Chat | null;
}

/**
 * An event as it is sent. Its facts never change; `data.message` and `data.chat` are as they are now.
 * @param life see `eventId`
 * @param payload `thin` leaves out the message, the chat, the contact's address and the names of people
 */
export function renderEvent(
  fact: EventFact,
  { organizationId, chat }: EventOrigin,
  life: string,
  subject: EventSubject,
  payload: Payload = "full",
): Event {
  const { type, number, at } = fact;
  const isFull = payload === "full";
  return {
    id: eventId(chat?.id ?? organizationId, life, number),
    type,
    timestamp: new Date(at).toISOString(),
    organizationId,
    chatId: chat?.id ?? textOf(fact, "chatId"),
    channelId: chat?.channelId ?? ownChannelId(fact.note),
    channelKind: chat?.channelKind ?? (textOf(fact, "channelKind") as ChannelKind | null),
    ...(isFull && { contactAddress: chat?.contactAddress ?? null }),
    number: chat ? number : null,
    data: dataOf(fact, subject, isFull),
  };
}

/**
 * The event that a feed shows in place of a chat's events from `first` to `last`, which can't be read. No other event
 * ever has its id, and the id is the same each time.
 * @param life that of the feed
 */
export function unreadableEvent(
  organizationId: string,
  life: string,
  { position, chatId, channelId, at }: FeedPointer,
  range: { first: number; last: number },
): Event<"chat.unreadable"> {
  return {
    id: eventId(organizationId, life, FIRST_UNREADABLE + position),
    type: "chat.unreadable",
    timestamp: new Date(at).toISOString(),
    organizationId,
    chatId,
    channelId,
    channelKind: null,
    contactAddress: null,
    number: null,
    data: range,
  };
}

function dataOf({ type, seq, note }: EventFact, { message = null, chat = null }: EventSubject, isFull: boolean) {
  if (seq !== null) {
    const facts = { ...statusOf(type, note, message), ...(typeof note?.by === "string" && { by: note.by }) };
    return { messageId: message?.id ?? null, seq, ...facts, ...(isFull && { message }) };
  }
  if (idWithoutSeq({ note }) !== null) {
    const { messageId, scheduledAt } = note as { messageId: string; scheduledAt?: string };
    const facts = type === "message.scheduled" ? { scheduledAt } : { seq, ...statusOf(type, note, message) };
    return { messageId, ...facts, ...(isFull && { message }) };
  }
  const { chatId: _chat, channelId: _channel, channelKind: _kind, ...data } = note ?? {};
  if (!isFull) return withoutNames(data);
  return showsChat(type) ? { chat, ...data } : data;
}

/** The people in an event: who did it, and who wrote the note that it is about. */
interface NamedFacts {
  by?: CallerName | null;
  note?: { author: CallerName };
}

/** The facts of an event without the names of people. */
function withoutNames({ by, note, ...facts }: NamedFacts) {
  return {
    ...facts,
    ...(note && { note: { ...note, author: withoutName(note.author) } }),
    ...(by !== undefined && { by: by && withoutName(by) }),
  };
}

function withoutName({ name: _name, ...who }: CallerName) {
  return who;
}

/** Whether the data of such an event shows the chat. */
export function showsChat(type: EventType): boolean {
  return type.startsWith("chat.") && type !== "chat.deleted";
}

/** The id of an event's message that had no place in the chat; null if the event is about none. */
export function idWithoutSeq({ note }: Pick<EventFact, "note">): string | null {
  return typeof note?.messageId === "string" ? note.messageId : null;
}

/** The chat or the kind of channel of an event of the organization, from its note. */
function textOf({ note }: EventFact, name: "chatId" | "channelKind"): string | null {
  const text = note?.[name];
  return typeof text === "string" ? text : null;
}

/** The status of an event and its error. The error's text is the message's, because no log of events has texts. */
function statusOf(type: EventType, note: EventFact["note"], message: ShownMessage | null) {
  if (type !== "message.status") return {};
  const { status, code } = note as { status: Message["status"]; code?: string };
  const error =
    message?.error?.code === code ? (message?.error ?? null) : code === undefined ? null : { code, message: code };
  return { status, error };
}
