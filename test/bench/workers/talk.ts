import { inboundMessage, outboundMessage } from "../../../src/chats/object/log/new-message.ts";
import type { NewMessage } from "../../../src/chats/object/log/rows.ts";
import type { FileMedia } from "../../../src/model/chat-answers.ts";
import { newId } from "../../../src/model/id.ts";
import { type Messages, TALK_STEP_MS, type Talk } from "../filling.ts";

/** Messages that a side writes one after the other. */
const RUN = 3;
const RUN_STEP_MS = 40_000;
const SENTENCE = "Your order has left our warehouse and will be with you in two to three days, as we promised. ";
const LONGEST = 400;

/** The rows of a conversation, with the bytes of their pictures. */
export function talkRows(
  { every, pictures }: Talk,
  { chatId, senderId, startsAt, from, count }: Messages,
): { row: NewMessage; bytes: Uint8Array | null }[] {
  const files = pictures.map(({ base64, ...sides }) => ({
    sides,
    bytes: Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)),
  }));
  return Array.from({ length: count }, (_, n) => {
    const seq = from + n;
    const run = Math.floor(seq / RUN);
    const at = startsAt + run * RUN * TALK_STEP_MS + (seq % RUN) * RUN_STEP_MS;
    const place = { chatId, seq, at: new Date(at).toISOString() };
    // Most messages are short, and some have many lines.
    const length = 10 + ((seq * 7_919) % LONGEST) ** 2 / LONGEST;
    const text = `${seq}. ${SENTENCE.repeat(5).slice(0, length)}`;
    const file = seq % every === 0 ? files[(seq / every) % files.length] : undefined;
    const media: FileMedia | null = file
      ? {
          fileId: newId("med", null),
          contentType: "image/jpeg",
          size: file.bytes.length,
          fileName: `${seq}.jpg`,
          ...file.sides,
        }
      : null;
    const type = file ? ("IMAGE" as const) : ("TEXT" as const);
    const shared = { id: newId("msg", null), type, content: text, media, origin: "" };
    const prepared = { outcome: "prepared", senderId, text, template: null } as const;
    const outbound = { calledAt: at, mediaUrl: null, templateId: null, variables: null, metadata: {}, prepared };
    const hashes = { idempotencyHash: null, fingerprint: null };
    const message =
      run % 2 === 0
        ? inboundMessage({ ...shared, dedupe: String(seq), addresses: [] }, {}, place)
        : // The visitor's page would acknowledge each message that was not read.
          {
            ...outboundMessage({ ...shared, ...outbound, ...hashes }, prepared, place, false),
            status: "READ" as const,
          };
    const row = { message, dedupe: null, fingerprint: null, template: null, delivery: null, media };
    return { row, bytes: file?.bytes ?? null };
  });
}
