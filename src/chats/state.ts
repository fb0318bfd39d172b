import type { StateAnswer } from "./answers.ts";
import { wakeAt } from "./delivery.ts";
import type { ChatIdentity, MessageLog } from "./message-log.ts";

/** When a chat had its last message, `last`, and what waits in it at `now`, Unix milliseconds. */
export function stateOf(
  log: MessageLog,
  { channelKind }: ChatIdentity,
  last: { seq: number; at: number },
  now: number,
): StateAnswer {
  // A web message is never queued, and looking for one would read the whole chat.
  const waits = channelKind !== "web";
  const head = waits ? log.head() : null;
  return {
    outcome: "ok",
    lastMessageAt: last.seq > 0 ? new Date(last.at).toISOString() : null,
    queue: {
      depth: waits ? log.depth() : 0,
      oldest: head?.message.createdAt ?? null,
      nextAttemptAt: head && new Date(wakeAt(head.delivery, now)).toISOString(),
      lastError: head?.lastError ?? null,
    },
  };
}
