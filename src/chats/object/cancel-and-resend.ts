import type {
  AttemptsAnswer,
  CancelAnswer,
  ChatIdentity,
  Media,
  MoveAnswer,
  MoveBody,
  Prepared,
  RefusedDraft,
  ResendRequest,
  SendAnswer,
  Unknown,
  UsedTemplate,
} from "../../model/chat-answers.ts";
import { extraOf, type Message, type ShownMessage } from "../../model/message.ts";
import type { DeliveryQueue } from "./delivery/queue.ts";
import { isFileMedia } from "./files/chat-files.ts";
import type { MessageLog } from "./log/message-log.ts";
import type { ScheduledMessages } from "./scheduled/scheduled-messages.ts";
import type { MessageStore } from "./store-messages.ts";

interface Parts {
  log: MessageLog;
  queue: DeliveryQueue;
  scheduled: ScheduledMessages;
  store: MessageStore;
}

/** A stored message, as a resend needs it. */
interface Original {
  message: ShownMessage;
  template: UsedTemplate | null;
  media: Media | null;
  isRedacted: boolean;
}

/** What clients do with a message that is stored: move it, cancel it, send it again after it failed, and read its attempts. */
export class CancelAndResend {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Changes a scheduled message's times; see `ScheduledMessages.move`.
   * @param isRepeat an earlier call failed, and may have changed them; the message may have its place since
   */
  move(id: string, change: MoveBody, isRepeat: boolean): Exclude<MoveAnswer, Unknown> {
    const { log, scheduled } = this.#parts;
    const answer = scheduled.move(id, change);
    if (answer.outcome !== "not_scheduled") return answer;
    const placed = log.byId(id);
    if (!placed && !scheduled.find(id)) return { outcome: "no_message" };
    const isDone = placed !== null && isRepeat && hasTimes(JSON.parse(placed.doc) as Message, change);
    return isDone ? { outcome: "ok", doc: placed.doc } : answer;
  }

  /** Cancels a scheduled or queued message. Repeating the call changes nothing. */
  cancel(id: string): Exclude<CancelAnswer, Unknown> {
    const { log, queue, scheduled } = this.#parts;
    const row = log.byId(id);
    if (!row) {
      const doc = scheduled.cancel(id);
      if (doc !== null) return { outcome: "ok", doc };
      return { outcome: scheduled.find(id) ? "not_cancelable" : "no_message" };
    }
    const { status } = JSON.parse(row.doc) as Message;
    if (status !== "CANCELED" && !queue.cancel(row.seq)) return { outcome: "not_cancelable" };
    return { outcome: "ok", doc: log.byId(id)?.doc ?? row.doc };
  }

  /**
   * Sends a failed message again, as a new message. Each message is sent again at most once: a repeat gets the message
   * of the first call.
   */
  resend(identity: ChatIdentity, request: ResendRequest, isRepeat: boolean): SendAnswer {
    const { messageId, sender, ...call } = request;
    const original = this.#find(messageId);
    if (!original) return sender.outcome === "refused" ? sender : { outcome: "refused", code: "message_not_found" };
    const { message } = original;
    const { type, content, mediaUrl, templateId, variables, metadata } = message;
    const extra = extraOf(message);
    const same = { type, content, mediaUrl, templateId, variables, metadata, resendOf: message.id, extra };
    const prepared = preparedAgain(original, sender);
    const file = isFileMedia(original.media) ? original.media : null;
    return this.#parts.store.outbound(
      identity,
      {
        ...call,
        ...same,
        idempotencyHash: null,
        fingerprint: null,
        prepared,
        ...(file && { origin: originOf(message) }),
      },
      isRepeat,
      file,
    );
  }

  /** The attempts of a message. A message that no network delivers has none. */
  attempts(id: string): Exclude<AttemptsAnswer, Unknown> {
    const { log, queue, scheduled } = this.#parts;
    const none = { attempts: [], dropped: 0, nextAttemptAt: null };
    const placed = log.byId(id);
    if (placed) {
      const row = log.delivered(placed.seq);
      return { outcome: "ok", history: row ? queue.attemptsOf(row) : none };
    }
    const withoutSeq = scheduled.find(id);
    if (!withoutSeq) return { outcome: "no_message" };
    const nextAt = scheduled.nextTryAt(id);
    return {
      outcome: "ok",
      history: { ...none, nextAttemptAt: nextAt === null ? null : new Date(nextAt).toISOString() },
    };
  }

  #find(id: string): Original | null {
    const { log, scheduled } = this.#parts;
    const row = log.byId(id);
    if (row) {
      const template = log.templateOf(row.seq);
      const media = log.mediaOf(row.seq);
      return { message: JSON.parse(row.doc) as Message, template, media, isRedacted: row.redactedAt !== null };
    }
    const withoutSeq = scheduled.find(id);
    return withoutSeq && { ...withoutSeq, isRedacted: withoutSeq.redactedBy !== null };
  }
}

/** The sender and the text of a message that is sent again, or the first reason to refuse. */
function preparedAgain(
  { message, template, isRedacted }: Original,
  sender: ResendRequest["sender"],
): Prepared | RefusedDraft {
  if (sender.outcome === "refused") return sender;
  if (message.status !== "FAILED") return { outcome: "refused", code: "not_failed" };
  if (isRedacted) return { outcome: "refused", code: "redacted" };
  const senderName = sender.senderId === null ? message.sender?.name : sender.senderName;
  const senderId = sender.senderId ?? message.senderId ?? "";
  return { outcome: "prepared", senderId, senderName, text: message.text, template };
}

/** The service's address in the URL of a message's media. */
function originOf({ mediaUrl }: ShownMessage): string {
  return mediaUrl?.slice(0, Math.max(0, mediaUrl.indexOf("/api/v1/"))) ?? "";
}

/** Whether a message has the times that a change gives it. */
function hasTimes(message: Message, change: MoveBody): boolean {
  const isSame = (changed: number | null | undefined, time: string | undefined) =>
    changed === undefined || changed === (time === undefined ? null : Date.parse(time));
  return isSame(change.scheduledAt, message.scheduledAt) && isSame(change.expiresAt, message.expiresAt);
}
