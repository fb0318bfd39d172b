import type { Chat } from "./chat.ts";
import type { ChatLabel } from "./label.ts";
import type { Message } from "./message.ts";
import type { Note } from "./note.ts";

/** When the examples happened. */
export const AT = "2026-11-20T10:00:17.062Z";

/** A label of the chat. */
export const LABEL: ChatLabel = { id: "lbl_gK2yRb74NsTq9WfE", name: "Refund" };

/** A chat, as documents and sample events show it. */
export const CHAT: Chat = {
  id: "cht_gT2sYbQ0aLw9XcRk",
  channel: { id: "chn_gQ4vLm81ZsT0xWcE", kind: "whatsapp", name: "Support" },
  contact: {
    address: "15550783881",
    name: "Maya",
    username: null,
    personId: "customer-2044",
    addresses: ["15550783881"],
  },
  metadata: { order: "4711" },
  createdAt: "2026-11-20T09:58:40.310Z",
  lastMessageAt: AT,
  lastMessage: {
    id: "msg_gk3Xw0aYb81LmQzT",
    seq: 1,
    direction: "OUTBOUND",
    type: "TEXT",
    text: "Your order has shipped.",
    status: "QUEUED",
    createdAt: AT,
  },
  unansweredSince: null,
  nextScheduledAt: null,
  readUpTo: null,
  assigneeId: null,
  replyUntil: "2026-11-20T09:58:40.310Z",
  marketing: null,
  state: "open",
  snoozedUntil: null,
  handler: "people",
  labels: [LABEL],
};

/** Its message. */
export const MESSAGE: Message = {
  id: "msg_gk3Xw0aYb81LmQzT",
  chatId: CHAT.id,
  seq: 1,
  direction: "OUTBOUND",
  type: "TEXT",
  content: "Your order has shipped.",
  mediaUrl: null,
  senderId: "mbr_gWq6pR2nVt70HsdE",
  templateId: null,
  variables: null,
  text: "Your order has shipped.",
  status: "QUEUED",
  error: null,
  metadata: {},
  createdAt: AT,
  updatedAt: AT,
};

/** A note about it. */
export const NOTE: Note = {
  id: "note_gR8vXk20LsTq5WbY",
  chatId: CHAT.id,
  author: { type: "member", id: "mbr_gWq6pR2nVt70HsdE", name: "Ada" },
  content: "She has called twice. Please answer today.",
  mentions: ["mbr_gHk2Zt91QmXw4LcV"],
  afterSeq: 1,
  createdAt: AT,
};
