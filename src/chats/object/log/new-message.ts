import type {
  ChatIdentity,
  Draft,
  EchoDraft,
  FileMedia,
  InboundDraft,
  Media,
  Prepared,
} from "../../../model/chat-answers.ts";
import type { Extra } from "../../../model/content-schema.ts";
import { messageId } from "../../../model/id.ts";
import type { Message, MessageWithoutSeq, ShownMedia } from "../../../model/message.ts";
import type { ReceivedMarks, ReceivedWords } from "../../../model/received.ts";
import type { Addition } from "./rows.ts";

/** The type of media of which nothing is known. */
const UNKNOWN_TYPE = "application/octet-stream";

/** A draft whose choices have their rendering, with the file that it sends. */
export type AcceptedDraft = Omit<Draft, "extra" | "mediaId"> & {
  extra?: Extra | undefined;
  /** Absent, or null, for none. */
  media?: FileMedia | null;
  /** Takes the file, in the commit that stores the message. */
  takeFile?: (() => void) | undefined;
  /** See `NewMessage`. */
  isNamed?: boolean | undefined;
  isBot?: boolean | undefined;
  sentDraft?: Addition | null | undefined;
};

interface MessagePosition {
  chatId: string;
  seq: number;
  /** RFC 3339; never earlier than the previous message. */
  at: string;
}

/** The position of the next message. Times never run backwards, even if the clock does. @param now Unix milliseconds */
export function nextPosition(
  newest: { seq: number; at: number },
  { chatId, createdAt }: ChatIdentity,
  now: number,
): MessagePosition {
  return { chatId, seq: newest.seq + 1, at: new Date(Math.max(now, newest.at, createdAt)).toISOString() };
}

/** A new message to the contact, before it has a place in the chat. @param position `at` is RFC 3339 */
export function scheduledMessage(
  {
    id,
    type,
    content,
    mediaUrl,
    templateId,
    variables,
    metadata,
    scheduledAt,
    expiresAt,
    resendOf,
    extra,
    media,
    origin,
  }: AcceptedDraft,
  { senderId, senderName, text }: Prepared,
  { chatId, at }: Pick<MessagePosition, "chatId" | "at">,
): MessageWithoutSeq {
  return {
    id,
    chatId,
    seq: null,
    direction: "OUTBOUND",
    type,
    content,
    mediaUrl: media ? mediaUrlOf(origin, chatId, id) : mediaUrl,
    senderId,
    templateId,
    variables,
    text,
    status: "SCHEDULED",
    error: null,
    metadata,
    createdAt: at,
    updatedAt: at,
    ...(scheduledAt != null && { scheduledAt: new Date(scheduledAt).toISOString() }),
    ...(expiresAt != null && { expiresAt: new Date(expiresAt).toISOString() }),
    ...(resendOf != null && { resendOf }),
    ...(media && { media: shownMedia(media) }),
    ...(senderName !== undefined && { sender: { name: senderName } }),
    ...extra,
  };
}

/**
 * A message in its place in the chat. It was created then, as far as its chat is concerned.
 * @param isQueued whether a network delivers it; if not, it is SENT at once
 */
export function placedMessage(message: MessageWithoutSeq, { seq, at }: MessagePosition, isQueued: boolean): Message {
  // The clock may have been set back since the message was scheduled.
  const now = at > message.updatedAt ? at : message.updatedAt;
  return {
    ...message,
    seq,
    status: isQueued ? "QUEUED" : "SENT",
    createdAt: now,
    updatedAt: now,
    ...(!isQueued && { sentAt: now }),
  };
}

/** A new message to the contact, which takes its place at once. @param isQueued see `placedMessage` */
export function outboundMessage(
  draft: AcceptedDraft,
  prepared: Prepared,
  position: MessagePosition,
  isQueued: boolean,
): Message {
  const message = placedMessage(scheduledMessage(draft, prepared, position), position, isQueued);
  const id = messageId(draft.id, message.seq);
  return { ...message, id, ...(draft.media && { mediaUrl: mediaUrlOf(draft.origin, position.chatId, id) }) };
}

/** The address of a message's media. @param origin the service's own; null if it is not known */
function mediaUrlOf(origin: string | null | undefined, chatId: string, id: string): string {
  return `${origin ?? ""}/api/v1/chats/${chatId}/messages/${id}/media`;
}

function shownMedia({ contentType, size, fileName, width, height }: Media): ShownMedia {
  return {
    contentType: contentType ?? UNKNOWN_TYPE,
    ...(size !== undefined && { size }),
    ...(fileName !== null && { fileName }),
    ...(width != null && height != null && { width, height }),
  };
}

export function inboundMessage(
  { id: callId, type, content, media, origin }: Pick<InboundDraft, "id" | "type" | "content" | "media" | "origin">,
  extra: InboundFields,
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
    mediaUrl: media && mediaUrlOf(origin, chatId, id),
    senderId: null,
    templateId: null,
    variables: null,
    text: content,
    status: "RECEIVED",
    error: null,
    metadata: {},
    createdAt: at,
    updatedAt: at,
    ...(media && { media: shownMedia(media) }),
    ...extra,
  };
}

/** A message that the company wrote elsewhere. It was sent there. */
export function echoedMessage(draft: EchoDraft, extra: InboundFields, position: MessagePosition): Message {
  const message = inboundMessage(draft, extra, position);
  return { ...message, direction: "OUTBOUND", status: "SENT", sentAt: position.at, origin: draft.writtenIn };
}

/** What the channel answers outside of its hours. @param callId see `messageId` @param isQueued see `placedMessage` */
export function awayMessage(callId: string, text: string, position: MessagePosition, isQueued: boolean): Message {
  const said = inboundMessage({ id: callId, type: "TEXT", content: text, media: null, origin: null }, {}, position);
  return placedMessage({ ...said, seq: null, direction: "OUTBOUND", origin: "away" }, position, isQueued);
}

/** The fields of a contact's message that not every message has. */
export type InboundFields = Pick<Message, "replyTo" | "choice" | "location" | "contacts" | "sticker"> &
  ReceivedWords &
  ReceivedMarks;
