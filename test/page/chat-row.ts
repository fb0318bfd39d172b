import type { Chat } from "../../src/web/console/api.ts";

/** A chat of the inbox in which nothing was written. */
export function chatRow(id: string, changes: Partial<Chat> = {}): Chat {
  return {
    id,
    channel: { id: "chn_1", kind: "web", name: "Site" },
    contact: { address: id, name: null, username: null, personId: null, addresses: [id] },
    metadata: {},
    createdAt: "2026-11-20T10:00:00.000Z",
    lastMessageAt: null,
    lastMessage: null,
    unansweredSince: null,
    nextScheduledAt: null,
    readUpTo: null,
    assigneeId: null,
    replyUntil: null,
    marketing: null,
    state: "open",
    snoozedUntil: null,
    handler: "people",
    labels: [],
    ...changes,
  };
}
