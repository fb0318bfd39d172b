import type { QueuedMessage, StoredParts, UsedTemplate } from "../log/message-log.ts";
import type { Message } from "../message.ts";
import type { Delivery, DeliveryError } from "./schedule.ts";

export type DeliveryRow = { seq: number; doc: string; delivery: string; template: string | null };

/** `parts` are the network's ids, by which a status finds its message; `calls` is what else is known of them. */
interface DeliveryJson extends Delivery {
  parts: string[];
  calls?: Omit<StoredParts, "ids">;
  lastError: DeliveryError | null;
}

/** What delivery knows of a message, as its row has it. */
export function deliveryJson(
  delivery: Delivery,
  { ids, of, ...rest }: StoredParts,
  lastError: DeliveryError | null,
): string {
  const calls = { ...(of !== undefined && of > 1 && { of }), ...rest };
  const more = Object.keys(calls).length > 0 && { calls };
  return JSON.stringify({ ...delivery, parts: ids, ...more, lastError } satisfies DeliveryJson);
}

/** A row as delivery sees it. */
export function queuedMessage({ seq, doc, delivery, template }: DeliveryRow): QueuedMessage {
  const { parts: ids, calls, lastError, ...own } = JSON.parse(delivery) as DeliveryJson;
  return {
    seq,
    message: JSON.parse(doc) as Message,
    delivery: own,
    parts: { ids, ...calls },
    lastError,
    template: template ? (JSON.parse(template) as UsedTemplate) : null,
  };
}
