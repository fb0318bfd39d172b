import type { Message } from "../message.ts";

/** What delivery needs of a template. Stored with the message, because the template may change while the message waits. */
export interface UsedTemplate {
  name: string;
  language: string;
  parameters: { name: string; value: string }[];
}

/** The media of an inbound message, as the network identifies it. */
export interface Media {
  id: string;
  contentType: string | null;
  fileName: string | null;
}

/** A row to insert. */
export interface NewMessage {
  message: Message;
  /** Unique in the chat: the hash of an idempotency key, or the network's own id. */
  dedupe: string | null;
  /** What a repeat of `dedupe` must match; null matches anything. */
  fingerprint: string | null;
  template: UsedTemplate | null;
  /** The state of the delivery, as `delivery/row.ts` prints it; null if no network delivers the message. */
  delivery: string | null;
  media: Media | null;
}

/** A row of a message that a network delivers. */
export interface OutboundRow {
  seq: number;
  message: Message;
  /** Text that `delivery/row.ts` parses. */
  delivery: string;
  template: UsedTemplate | null;
}

/** A range of a chat's messages, both ends included; empty if `low` is above `high`. */
export interface SeqRange {
  low: number;
  high: number;
}
