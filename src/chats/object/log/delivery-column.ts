import type { UsedTemplate } from "../../../model/chat-answers.ts";
import type { Message } from "../../../model/message.ts";
import { withoutPastWords } from "../delivery/attempt-history.ts";
import type { StoredParts } from "../delivery/parts.ts";
import { partsWithoutWords } from "../delivery/redaction.ts";
import type { Delivery, DeliveryError } from "../delivery/retry.ts";

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

/** Prints the state of a redacted message's delivery, without error texts. */
export function printRedacted({ delivery, parts }: QueuedMessage): string {
  return printDelivery({ delivery: withoutPastWords(delivery), parts: partsWithoutWords(parts), lastError: null });
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
