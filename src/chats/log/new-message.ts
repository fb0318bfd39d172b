import type { ChatIdentity } from "../identity.ts";
import type { Message } from "../message.ts";
import type { Draft, InboundDraft, Prepared } from "../rpc.ts";

/** The number and time of a new message. */
interface NewPlace {
  chatId: string;
  seq: number;
  /** RFC 3339; never before the message before. */
  at: string;
}

/** The next number, at `now`. Times never run backwards, even if the clock does. */
export function nextPlace(
  newest: { seq: number; at: number },
  { chatId, createdAt }: ChatIdentity,
  now: number,
): NewPlace {
  return { chatId, seq: newest.seq + 1, at: new Date(Math.max(now, newest.at, createdAt)).toISOString() };
}

/** A message to the contact, as it is stored. `waits`: it is QUEUED for a network; else it is SENT at once. */
export function outboundMessage(
  { id, type, content, mediaUrl, templateId, variables, metadata }: Draft,
  { senderId, text }: Prepared,
  { chatId, seq, at }: NewPlace,
  waits: boolean,
): Message {
  return {
    id,
    chatId,
    seq,
    direction: "OUTBOUND",
    type,
    content,
    mediaUrl,
    senderId,
    templateId,
    variables,
    text,
    status: waits ? "QUEUED" : "SENT",
    error: null,
    metadata,
    createdAt: at,
    updatedAt: at,
  };
}

/** A message that the contact wrote, as it is stored. */
export function inboundMessage({ id, type, content, mediaUrl }: InboundDraft, { chatId, seq, at }: NewPlace): Message {
  return {
    id,
    chatId,
    seq,
    direction: "INBOUND",
    type,
    content,
    mediaUrl,
    senderId: null,
    templateId: null,
    variables: null,
    text: content,
    status: "RECEIVED",
    error: null,
    metadata: {},
    createdAt: at,
    updatedAt: at,
  };
}
