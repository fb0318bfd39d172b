import type { MessageLog } from "./message-log.ts";

export const MAX_QUEUED = 10_000;
/** An object holds 10 GB; the last 256 MB are left for the statuses of what is stored. */
const MAX_BYTES = 10_000_000_000 - 256_000_000;

/** Which limit of a chat, in which `depth` messages wait for their network, keeps it from taking one more; null: none. */
export function limitReached(log: MessageLog, depth: number): "chat_backlog" | "chat_full" | null {
  if (depth >= MAX_QUEUED) return "chat_backlog";
  return isFull(log) ? "chat_full" : null;
}

/** Whether a chat's storage takes no further message. */
export function isFull(log: MessageLog): boolean {
  return log.bytes > MAX_BYTES;
}
