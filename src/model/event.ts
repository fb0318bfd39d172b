import type { ChannelKind } from "./channel-kind.ts";
import { fromBase62, toDigits } from "./id.ts";

/** The types of events. Receivers must ignore types that they don't know. */
export const EVENT_TYPES = [
  "chat.created",
  "chat.updated",
  "chat.assigned",
  "chat.consent",
  "chat.state",
  "chat.handover",
  "chat.deleted",
  "message.received",
  "message.created",
  "message.status",
  "message.scheduled",
  "message.edited",
  "message.reaction",
  "message.redacted",
  "note.created",
  "note.deleted",
  "channel.health",
  "webhook.failing",
  "webhook.disabled",
  "ping",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Lists and streams have one type more. It stands for events of a chat that can't be read now. */
export const LISTED_TYPES = [...EVENT_TYPES, "chat.unreadable"] as const;
export type ListedType = (typeof LISTED_TYPES)[number];

/** Somebody writes. It comes on streams alone: it is in no log, and has no id, number or cursor. */
export const TYPING = "chat.typing";

/** What never changes of an event. A log stores it, without any text of a message. */
export interface EventFact {
  /** 1, 2, 3 … in its log, without a gap. */
  number: number;
  type: EventType;
  /** The message that it is about; null if it is about none, or about one without a place: then `note` has its id. */
  seq: number | null;
  /** More facts, for example a message's status; null if there are none. */
  note: Record<string, unknown> | null;
  /** Unix milliseconds. */
  at: number;
}

/** Where an event happened. */
export interface EventOrigin {
  organizationId: string;
  /** Null for an event of the organization. */
  chat: { id: string; life: number; channelId: string; channelKind: ChannelKind; contactAddress: string } | null;
}

/** An event as clients see it, in this order of fields. */
export interface Event<Type extends ListedType = EventType> {
  id: string;
  type: Type;
  timestamp: string;
  organizationId: string;
  chatId: string | null;
  channelId: string | null;
  channelKind: ChannelKind | null;
  contactAddress?: string | null;
  /** Null for an event of the organization. */
  number: number | null;
  /** Only in a webhook's calls: the number of the chat's event before this one for this webhook; null for the first. */
  previous?: number | null;
  data: Record<string, unknown>;
}

const TAIL_LENGTH = 16;
const LIFE_LENGTH = 8;
const EVENT_ID = /^evt_([geu][0-9A-Za-z]{15})([0-9A-Za-z]{8})([1-9A-Za-z][0-9A-Za-z]{0,7})$/;

/** The life of a chat as in the ids of its events: eight base62 digits. */
export function lifeDigits(life: number): string {
  return toDigits(life).padStart(LIFE_LENGTH, "0");
}

/**
 * The id of an event: `evt_`, the characters of its chat's or organization's id after the prefix, the life, and the
 * number in base62. So an event is found without a lookup, and a chat that was deleted and created again repeats none.
 * @param life see `lifeDigits`; for an event of the organization, the life of its feed
 */
export function eventId(ownerId: string, life: string, number: number): string {
  return `evt_${ownerId.slice(-TAIL_LENGTH)}${life}${toDigits(number)}`;
}

/** The channel of an event of the organization; null if it is about none. @param note see `EventFact` */
export function ownChannelId(note: EventFact["note"]): string | null {
  return typeof note?.channelId === "string" ? note.channelId : null;
}

/** The parts of an event's id; null if the text is not the id of an event. */
export function parseEventId(id: string): { tail: string; life: string; number: number } | null {
  const [, tail, life, digits] = EVENT_ID.exec(id) ?? [];
  return tail && life && digits ? { tail, life, number: fromBase62(digits) } : null;
}
