import type { ChatMessage, ReadyFrame } from "../../src/web/visitor/frames.ts";

/** A message from the company. */
export function outbound(seq: number, content: string): ChatMessage {
  const createdAt = new Date(Date.UTC(2026, 10, 20, 8) + seq * 1_000).toISOString();
  return {
    id: `msg_${seq}`,
    seq,
    direction: "OUTBOUND",
    type: "TEXT",
    content,
    text: content,
    mediaUrl: null,
    status: "SENT",
    createdAt,
  };
}

/** A message from the visitor. */
export function inbound(seq: number, content: string): ChatMessage {
  return { ...outbound(seq, content), direction: "INBOUND", status: "RECEIVED" };
}

/** The acknowledgment of a visitor's message. */
export function stored(id: string, seq: number) {
  return { type: "stored", id, messageId: `msg_${seq}`, seq } as const;
}

/** The company's messages in an inclusive range. */
export function messages(from: number, to: number): ChatMessage[] {
  return Array.from({ length: to - from + 1 }, (_, index) => outbound(from + index, `text ${from + index}`));
}

/** The first frame of a connection, with the chat's newest message unless `lastSeq` says otherwise. */
export function ready(page: ChatMessage[], lastSeq = page.at(-1)?.seq ?? 0): ReadyFrame {
  return { type: "ready", chatId: "cht_g0", messages: page, lastSeq, events: null, features: [] };
}
