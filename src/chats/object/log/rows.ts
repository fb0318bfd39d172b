import type { Media, UsedTemplate } from "../../../model/chat-answers.ts";
import { expiryOf, type Message } from "../../../model/message.ts";
import type { LateTable } from "./chat-tables.ts";
import type { NewEvent } from "./event-log.ts";

/** What else is stored in a commit, with its event. */
export interface Addition {
  event: NewEvent;
  write: () => void;
}

export interface NewMessage {
  message: Message;
  /** Unique in the chat: the hash of the idempotency key, or the id from the network or the visitor's page. */
  dedupe: string | null;
  /** A request with the same `dedupe` must have the same fingerprint. Null matches any request. */
  fingerprint: string | null;
  template: UsedTemplate | null;
  /** JSON of `delivery-column.ts`; null if no network delivers the message. */
  delivery: string | null;
  media: Media | null;
  /** A member's session sent it, or the request named its sender. */
  isNamed?: boolean | undefined;
  /** The key of the channel's bot sent it. */
  isBot?: boolean | undefined;
  /** It leaves the contact waiting, although it is sent to it. */
  answersNothing?: boolean | undefined;
  /** Takes the file that the message names, in the same commit. */
  takeFile?: (() => void) | undefined;
  /** Removes an echo from those that are held, in the same commit. */
  unhold?: (() => void) | undefined;
  /** What else it changes in the chat: the contact's message opens it, and a person's takes it over. */
  changes?: { events: NewEvent[]; write: (seq: number) => void } | null;
  /** Deletes the draft that the message sends; null or absent if it sends none. */
  sentDraft?: Addition | null | undefined;
  /** Set for a message that was scheduled: its id does not end with its seq. */
  scheduled?: {
    /** Removes it from the scheduled messages, in the same commit. */
    remove(): void;
  };
}

/** A range of seqs, including both ends; empty if `low` is above `high`. */
export interface SeqRange {
  low: number;
  high: number;
}

/** Inserts a row. @param queued how many messages up to this one were queued when stored */
export function insertRow(
  messages: LateTable,
  { message, dedupe, fingerprint, template, delivery, media, isNamed, isBot, answersNothing, scheduled }: NewMessage,
  doc: string,
  queued: number,
): void {
  messages.insert(
    `insert into messages (seq, doc, dedupe, fingerprint, template, delivery, media, named, queued, expires_at,
       scheduled_id, by_bot, answers_nothing) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[message.seq, doc, dedupe, fingerprint, template && JSON.stringify(template), delivery],
    ...[media && JSON.stringify(media), isNamed ? 1 : null, queued, expiryOf(message), scheduled ? message.id : null],
    ...[isBot ? 1 : null, answersNothing ? 1 : null],
  );
}
