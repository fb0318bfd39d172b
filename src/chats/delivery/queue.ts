import type { ChatIdentity, MessageLog } from "../log/message-log.ts";
import type { StateAnswer } from "../rpc.ts";
import { wakeAt } from "./schedule.ts";

/** The state of a chat: the time of its last message and its queue. `last.at` and `now` are in Unix milliseconds. */
export function stateOf(
  log: MessageLog,
  { channelKind }: ChatIdentity,
  last: { seq: number; at: number },
  now: number,
): StateAnswer {
  // A web message is never queued. Looking for the first queued one would read the whole chat.
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
