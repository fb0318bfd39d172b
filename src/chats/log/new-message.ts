import { messageId } from "../../ids.ts";
import type { ChatIdentity } from "../identity.ts";
import type { Message } from "../message.ts";
import type { Draft, InboundDraft, Prepared } from "../rpc.ts";

/** The chat, number and time of a new message. */
interface MessagePosition {
  chatId: string;
  seq: number;
  /** RFC 3339; never earlier than the previous message. */
  at: string;
}

const NO_TIMES = {
  sentAt: null,
  deliveredAt: null,
  readAt: null,
  failedAt: null,
  scheduledAt: null,
  expiresAt: null,
  resendOf: null,
};

/** The position of the next message. Times never run backwards, even if the clock does. @param now Unix milliseconds */
export function nextPosition(
  newest: { seq: number; at: number },
  { chatId, createdAt }: ChatIdentity,
  now: number,
): MessagePosition {
  return { chatId, seq: newest.seq + 1, at: new Date(Math.max(now, newest.at, createdAt)).toISOString() };
}

/** A new message to the contact. @param isQueued whether a network delivers it; if not, it is SENT at once */
export function outboundMessage(
  { id, type, content, mediaUrl, templateId, variables, metadata, scheduledAt, expiresAt, resendOf = null }: Draft,
  { senderId, text }: Prepared,
  { chatId, seq, at }: MessagePosition,
  isQueued: boolean,
): Message {
  return {
    id: messageId(id, seq),
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
    status: isQueued ? "QUEUED" : "SENT",
    error: null,
    metadata,
    createdAt: at,
    updatedAt: at,
    ...NO_TIMES,
    sentAt: isQueued ? null : at,
    scheduledAt: timeOf(scheduledAt),
    expiresAt: timeOf(expiresAt),
    resendOf,
  };
}

/** A new message from the contact. */
export function inboundMessage(
  { id: callId, type, content, media, origin }: InboundDraft,
  { chatId, seq, at }: MessagePosition,
): Message {
  const id = messageId(callId, seq);
  return {
    id,
    chatId,
    seq,
    direction: "INBOUND",
    type,
    content,
    mediaUrl: media && `${origin}/api/v1/chats/${chatId}/messages/${id}/media`,
    senderId: null,
    templateId: null,
    variables: null,
    text: content,
    status: "RECEIVED",
    error: null,
    metadata: {},
    createdAt: at,
    updatedAt: at,
    ...NO_TIMES,
  };
}

/** RFC 3339. @param at Unix milliseconds */
function timeOf(at: number | null | undefined): string | null {
  return at == null ? null : new Date(at).toISOString();
}
