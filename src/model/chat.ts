import * as z from "zod/mini";
import type { ChannelKind } from "./channel-kind.ts";
import type { MessageType, Metadata } from "./content.ts";
import { oneLine } from "./content-schema.ts";
import { atMost, notBlankIfGiven, wellFormed } from "./field.ts";
import type { Handler } from "./handover.ts";
import type { ChatLabel } from "./label.ts";
import type { Message } from "./message.ts";
import { replyUntil } from "./reply-window.ts";
import { isoTimeOrNull } from "./time.ts";
import type { WorkState, WorkStatus } from "./work-state.ts";

/** A contact's name, if it is given. */
export const contactNameField = z.string().check(notBlankIfGiven, wellFormed, ...atMost(256));

/** The maximum number of characters in a person's key. */
export const MAX_PERSON_ID = 128;

/** The company's own key of the person that a contact is, if it is given. Only the company says it. */
export const personIdField = z.string().check(notBlankIfGiven, wellFormed, oneLine, ...atMost(MAX_PERSON_ID));

/** A contact's email, as a visitor writes it. */
export const contactEmailField = z.email().check(...atMost(320));

/** A chat's last message, shortened. */
export interface LastMessage {
  id: string;
  seq: number;
  direction: "OUTBOUND" | "INBOUND";
  type: MessageType;
  /** At most 160 characters. Empty after a redaction. */
  text: string;
  status: Message["status"];
  createdAt: string;
}

/** Whether a contact takes marketing: what was said last, when, and by whom. */
export interface Marketing {
  optedOut: boolean;
  /** RFC 3339. */
  at: string;
  by: "contact" | "network" | "key" | "member";
}

/** A chat as the API shows it. */
export interface Chat {
  id: string;
  channel: { id: string; kind: ChannelKind; name: string };
  contact: {
    address: string;
    name: string | null;
    /** The contact's public name on the network, without an @. */
    username: string | null;
    /** The company's own key of the person, which the person's other chats have too; null if it has given none. */
    personId: string | null;
    /** All addresses that lead to this chat, the first one first. */
    addresses: string[];
    /** Other chats of the same contact on this channel; absent if none is known. */
    sameAs?: string[] | undefined;
  };
  metadata: Metadata;
  createdAt: string;
  lastMessageAt: string | null;
  /** Null if there is none, or if the reader may not read messages. */
  lastMessage: LastMessage | null;
  /** When the contact wrote the first message that nobody has answered; null if nothing is unanswered. */
  unansweredSince: string | null;
  /** When the next scheduled message is due; null if none is scheduled. */
  nextScheduledAt: string | null;
  /** The seq up to which a client has marked the contact's messages as read; null if none has. */
  readUpTo: number | null;
  /** The chat's assignee; null for nobody. A removed member's id stays for a moment. */
  assigneeId: string | null;
  /**
   * Until when its network takes free text: 24 hours after the contact last wrote, or when the chat was created if it
   * never did. Null on channels that always take it.
   */
  replyUntil: string | null;
  /** Null if nobody has said anything. */
  marketing: Marketing | null;
  state: WorkState;
  /** Until when the chat is snoozed; null unless it is. */
  snoozedUntil: string | null;
  /** Who answers it: the channel's bot, or people. */
  handler: Handler;
  /** In the order in which the chat got them. */
  labels: ChatLabel[];
  /** The newest note that mentions a member. Only in the list of the chats in which this member is mentioned. */
  mention?: { noteId: string; afterSeq: number; createdAt: string } | undefined;
}

/** What only the chat's own object knows exactly. Times are Unix milliseconds. */
export interface ChatActivity {
  /** The time of the last message; null if there is none. */
  lastMessageAt: number | null;
  lastMessage: LastMessage | null;
  unansweredSince: number | null;
  nextScheduledAt: number | null;
  readUpTo: number | null;
  assigneeId: string | null;
  /** When the contact last wrote; null if it never did. Absent in what an object of an earlier version says. */
  contactWroteAt?: number | null;
  /** Null if nobody has said anything. Absent as above. */
  marketing?: Marketing | null;
  /** Absent as above. */
  work?: WorkStatus;
  /** The version of the bot that has it; null for people. Absent if it never had a bot, and as above. */
  bot?: number | null;
  /** The ids of its labels, also of deleted ones. Absent as above. */
  labels?: string[];
  /** What clients change of a chat; null unless one has. */
  details: ChatDetails | null;
}

/** What a client can change of a chat. */
export interface ChatDetails {
  name: string | null;
  metadata: Metadata;
  /** Absent in what an object of an earlier version stored. */
  personId?: string | null;
}

/**
 * A chat, with what its own object knows in place of what its organization's object knows. A label that the organization
 * has not heard of is left out: its name is not known here.
 */
export function withActivity(chat: Chat, activity: ChatActivity): Chat {
  const { bot, contactWroteAt, details, labels, lastMessage, marketing, work } = activity;
  // An organization's object of an earlier version knows none.
  const { labels: listed = [], handler = "people" } = chat as Partial<Chat>;
  const openUntil = (at: number | null) => replyUntil(chat.channel.kind, Date.parse(chat.createdAt), at);
  return {
    ...chat,
    ...(details && { contact: withDetails(chat.contact, details), metadata: details.metadata }),
    lastMessageAt: isoTimeOrNull(activity.lastMessageAt),
    lastMessage,
    unansweredSince: isoTimeOrNull(activity.unansweredSince),
    nextScheduledAt: isoTimeOrNull(activity.nextScheduledAt),
    readUpTo: activity.readUpTo,
    assigneeId: activity.assigneeId,
    ...(contactWroteAt !== undefined && { replyUntil: isoTimeOrNull(openUntil(contactWroteAt)) }),
    ...(marketing !== undefined && { marketing }),
    ...(work && { state: work.state, snoozedUntil: isoTimeOrNull(work.snoozedUntil) }),
    // Which bot is the channel's, only the organization's object knows.
    handler: bot == null ? "people" : handler,
    labels: labels ? listed.filter(({ id }) => labels.includes(id)) : listed,
  };
}

function withDetails(contact: Chat["contact"], { name, personId }: ChatDetails): Chat["contact"] {
  return { ...contact, name, ...(personId !== undefined && { personId }) };
}
