import type { MessageLog } from "./message-log.ts";

export const MAX_QUEUED = 10_000;
/** An object can store 10 GB. The last 256 MB are reserved for status updates of stored messages. */
export const MAX_BYTES = 10_000_000_000 - 256_000_000;

/** The limit that a new outbound message would exceed, or null. @param depth the number of queued messages */
export function limitReached(log: MessageLog, depth: number): "chat_backlog" | "chat_full" | null {
  if (depth >= MAX_QUEUED) return "chat_backlog";
  return isFull(log) ? "chat_full" : null;
}

export function isFull(log: MessageLog): boolean {
  return log.bytes > MAX_BYTES;
}
