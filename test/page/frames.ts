import type { ChatMessage, ReadyFrame } from "../../src/web/visitor/frames.ts";

/** A message that the company wrote. */
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

/** A message that the visitor wrote. */
export function inbound(seq: number, content: string): ChatMessage {
  return { ...outbound(seq, content), direction: "INBOUND", status: "RECEIVED" };
}

/** The answer to a message of the visitor's. */
export function stored(id: string, seq: number) {
  return { type: "stored", id, messageId: `msg_${seq}`, seq } as const;
}

/** The company's messages of a range, both ends included. */
export function messages(from: number, to: number): ChatMessage[] {
  return Array.from({ length: to - from + 1 }, (_, index) => outbound(from + index, `text ${from + index}`));
}

/** The first frame of a connection; all is said with it unless `lastSeq` says otherwise. */
export function ready(page: ChatMessage[], lastSeq = page.at(-1)?.seq ?? 0): ReadyFrame {
  return { type: "ready", chatId: "cht_g0", messages: page, lastSeq };
}
