import type { UsedTemplate } from "../../../model/chat-answers.ts";
import type { Message } from "../../../model/message.ts";
import type { Outcome } from "../../../model/network.ts";

/** What the log keeps of a message's way to its network. Times are Unix milliseconds. */

/** The state of a delivery. An attempt is a lease: it is stored before the network is called. */
export interface Delivery {
  /** The number of attempts started. */
  attempts: number;
  /** When the open attempt started; null if no attempt is open. */
  startedAt: number | null;
  /** When the first attempt started. The deadline counts from here. */
  firstAt: number | null;
  /** The earliest time of the next attempt; null if it may start now. */
  nextAt: number | null;
  /** Whether the channel has reserved `nextAt` for this message. */
  reserved: boolean;
  /** Since when the message has waited for a broken channel; null if it does not. */
  heldSince: number | null;
  /** How long it waited for broken channels before that, in milliseconds. */
  heldMs: number;
  /** The channel's epoch when the last attempt started; set when that attempt has ended. */
  epoch?: number;
  /** The channel's epoch when this message last met it broken; absent if it never did. */
  brokenEpoch?: number;
  /** How often in a row the channel's object did not answer; absent if it answered. */
  noAnswers?: number;
  /** The first attempt and the last 20, in order; absent before the first has ended. */
  past?: PastAttempt[];
}

export interface DeliveryError {
  code: string;
  message: string;
}

/** An attempt that has ended. */
export interface PastAttempt {
  /** 1, 2, 3 … of the message. */
  number: number;
  at: number;
  /** How long it took; null if it was lost with its object. */
  ms: number | null;
  outcome: Outcome["outcome"];
  /** Null if the network accepted the message. */
  error: { code: string; message: string } | null;
}

export type NetworkStatus = "SENT" | "DELIVERED" | "READ" | "FAILED";

export interface PartState {
  status: NetworkStatus;
  error: DeliveryError | null;
}

/** A status from the network for one of its ids. */
export interface PartNews {
  networkId: string;
  status: NetworkStatus;
  /** `broken` is the network's reason if it refuses the whole channel. */
  error: (DeliveryError & { broken?: string }) | null;
  /** Whether the status names our message. If not, another program may have sent the message. */
  isOurs: boolean;
}

export interface Parts {
  /** The number of parts. */
  of: number;
  /** The network's ids of the parts sent, in order. */
  ids: string[];
  /** The state of each part, if there are several. Null means at most SENT. */
  states?: (PartState | null)[];
  /** For each part, how many attempts got no answer. Each may have sent a copy with an unknown id. */
  lost?: number[];
  /** Early statuses: their ids are not known yet, because the answer to the send may still come. */
  early?: PartNews[];
  /** The upload of the message's file; absent if its network has none. */
  upload?: Upload;
}

/** A file's id at the network, which has it until then (Unix milliseconds). */
export interface Upload {
  file: string;
  id: string;
  until: number;
}

/** The parts as stored. `of` is absent before the first attempt and if there is one part. */
export type StoredParts = Omit<Parts, "of"> & { of?: number };

/** The state of a message's delivery. */
export interface DeliveryKnown {
  delivery: Delivery;
  parts: StoredParts;
  lastError: DeliveryError | null;
}

/** A message with the state of its delivery. */
export interface QueuedMessage extends DeliveryKnown {
  seq: number;
  message: Message;
  template: UsedTemplate | null;
}

/** A row of the message log whose message a network delivers. */
export type DeliveryRow = { seq: number; doc: string; delivery: string; template: string | null };

/** The stored JSON. `parts` are the network's ids, which queries match. `calls` is the rest of the parts' state. */
interface DeliveryColumn extends Delivery {
  parts: string[];
  calls?: Omit<StoredParts, "ids">;
  lastError: DeliveryError | null;
}

/** Prints the state of a delivery for the column `delivery` of the message log. */
export function printDelivery({ delivery, parts, lastError }: DeliveryKnown): string {
  const { ids, of, ...rest } = parts;
  const calls = { ...(of !== undefined && of > 1 && { of }), ...rest };
  const more = Object.keys(calls).length > 0 && { calls };
  return JSON.stringify({ ...delivery, parts: ids, ...more, lastError } satisfies DeliveryColumn);
}

export function printNewDelivery(delivery: Delivery): string {
  return printDelivery({ delivery, parts: { ids: [] }, lastError: null });
}

export function queuedMessage({ seq, doc, template, delivery: column }: DeliveryRow): QueuedMessage {
  const { parts: ids, calls, lastError, ...delivery } = JSON.parse(column) as DeliveryColumn;
  return {
    seq,
    message: JSON.parse(doc) as Message,
    template: template ? (JSON.parse(template) as UsedTemplate) : null,
    delivery,
    parts: { ids, ...calls },
    lastError,
  };
}
