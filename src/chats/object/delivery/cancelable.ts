import type { Message } from "../../../model/message.ts";
import type { QueuedMessage } from "../log/delivery-column.ts";

/**
 * Whether a message can be canceled: it is certain that no part of it was sent, and no attempt of it is open. An attempt
 * is stored before the network is called, so this is exact.
 * @param isMarked whether the open attempt was stored with the message and this instance has not made it yet
 */
export function mayCancel(
  { message, delivery, parts }: { message: Pick<Message, "status"> } & Pick<QueuedMessage, "delivery" | "parts">,
  isMarked: boolean,
): boolean {
  const isOpen = delivery.startedAt !== null && !isMarked;
  const isUnknown = parts.lost?.some((count) => count > 0) ?? false;
  return message.status === "QUEUED" && !isOpen && !isUnknown && parts.ids.length === 0;
}
