import { ADAPTERS } from "../../channels/registry.ts";
import { webSpec } from "../../channels/web/spec.ts";
import type {
  ChatIdentity,
  Draft,
  FileMedia,
  InboundDraft,
  ReceiveAnswer,
  RefusedDraft,
  SendAnswer,
  Unknown,
  UsedTemplate,
} from "../../model/chat-answers.ts";
import { isMediaType } from "../../model/content.ts";
import { NOT_A_VOICE } from "../../model/content-schema.ts";
import { typeOfFile } from "../../model/file.ts";
import { jurisdictionOf, newId } from "../../model/id.ts";
import type { Message } from "../../model/message.ts";
import { pick } from "../../model/pick.ts";
import { wroteAt } from "../../model/reply-window.ts";
import { OPEN } from "../../model/work-state.ts";
import type { AwayAnswers } from "./away.ts";
import type { ChatReporter } from "./chat-report.ts";
import type { ChatWork } from "./chat-work.ts";
import type { Consent } from "./consent.ts";
import type { ContactAddresses } from "./contact-addresses.ts";
import type { DeliveryQueue } from "./delivery/queue.ts";
import type { Echoes } from "./echoes.ts";
import type { ChatFiles } from "./files/chat-files.ts";
import { forChannel, headerFault } from "./for-channel.ts";
import type { Handover } from "./handover.ts";
import { replay } from "./idempotent-replay.ts";
import type { ChatTables } from "./log/chat-tables.ts";
import { printNewDelivery } from "./log/delivery-column.ts";
import { inboundFields } from "./log/inbound-fields.ts";
import { isFull, limitReached } from "./log/limits.ts";
import type { MessageLog } from "./log/message-log.ts";
import { receivedDedupe } from "./log/network-ids.ts";
import {
  type AcceptedDraft,
  awayMessage,
  inboundMessage,
  nextPosition,
  outboundMessage,
  placedMessage,
} from "./log/new-message.ts";
import type { NewMessage } from "./log/rows.ts";
import type { Notes } from "./notes.ts";
import { RepeatedCalls } from "./repeated-calls.ts";
import type { ScheduledMessages } from "./scheduled/scheduled-messages.ts";
import type { RowWithoutSeq } from "./scheduled/scheduled-rows.ts";
import { crossingText, type SendConditions } from "./send-conditions.ts";
import type { VisitorSockets } from "./visitors/visitor-sockets.ts";

interface Parts {
  tables: Pick<ChatTables, "onceWritten">;
  log: MessageLog;
  queue: DeliveryQueue;
  scheduled: ScheduledMessages;
  echoes: Pick<Echoes, "hasSoon">;
  visitors: VisitorSockets;
  files: ChatFiles;
  report: ChatReporter;
  conditions: SendConditions;
  consent: Consent;
  away: AwayAnswers;
  handover: Pick<Handover, "isHandedOver" | "takenOver">;
  work: Pick<ChatWork, "changeTo">;
  contact: Pick<ContactAddresses, "enterTopic">;
  notes: Pick<Notes, "takeDraft">;
  /** How many messages wait for their network. */
  depth(): number;
}

/** What a draft says by its file. `text`: the message's text, if its content says nothing. */
interface DraftFile extends Pick<AcceptedDraft, "takeFile" | "type"> {
  media: FileMedia | null;
  text?: string | undefined;
}

/** What a contact's message says by its media. `text`: the message's text, if its content says nothing. */
type InboundFile = Pick<InboundDraft, "media" | "type"> & Pick<DraftFile, "takeFile" | "text">;

/** Stores a chat's new messages, each once. The caller sets the alarm in the same commit. */
export class MessageStore {
  readonly #parts: Parts;
  readonly #calls: RepeatedCalls;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#calls = new RepeatedCalls(parts.log);
  }

  /**
   * Stores a message to the contact. A used idempotency key is checked first: it returns its first message even if the
   * sender or the template was deleted or the queue is full by now.
   * @param isRepeat an earlier call with this draft failed, and may have stored it
   * @param repeated the file of the message that this one sends again; null if it has none
   */
  outbound(identity: ChatIdentity, draft: Draft, isRepeat: boolean, repeated: FileMedia | null = null): SendAnswer {
    const { log, scheduled } = this.#parts;
    const replayed = this.repeatOf(draft);
    if (replayed) return replayed;
    if (draft.prepared.outcome === "refused") return draft.prepared;
    const earlier = this.#scheduledBy(draft) ?? this.#calls.find(draft, isRepeat);
    if (earlier) return { outcome: "stored", doc: earlier, replayed: false };
    const isBot = draft.botOf?.includes(identity.channelId) ?? false;
    if (this.#parts.handover.isHandedOver(isBot)) return { outcome: "refused", code: "handed_over" };
    const movedOn = chatMovedOn(draft, this.#parts);
    if (movedOn) return movedOn;
    const given = draft.prepared.template;
    const unmet = this.#parts.conditions.refusalOf(identity, { ifOpen: draft.ifOpen, template: given });
    if (unmet) return { outcome: "refused", code: unmet };
    const noQuote = this.#quoteFault(draft);
    if (noQuote) return noQuote;
    const sentDraft = draft.draft && this.#parts.notes.takeDraft(draft.draft.noteId, draft.draft.by);
    if (sentDraft === null) return { outcome: "refused", code: "note_not_found", text: DRAFT_GONE };
    const file = repeated ? this.#repeatedFile(draft, repeated) : this.#fileOf(identity, draft, given);
    if ("outcome" in file) return file;
    const { fingerprint } = draft;
    const dedupe = dedupeOf(draft);
    // Only visitors see who wrote: a network's app shows the company alone.
    const { senderName } = draft.prepared;
    const text = file.text ?? draft.prepared.text;
    const sender = { ...draft.prepared, text, senderName: isDelivered(identity) ? undefined : senderName };
    const { accepted: shown, prepared } = forChannel(identity, { ...draft, type: file.type }, sender, file.media);
    const isNamed = senderName !== undefined;
    const accepted = { ...shown, ...pick(file, "media", "takeFile"), isNamed, isBot, sentDraft };
    const now = Date.now();
    if (draft.scheduledAt != null && draft.scheduledAt > now) {
      const stored = scheduled.accept(identity, accepted, prepared, dedupe, draft.scheduledAt);
      return typeof stored === "string" ? { outcome: "stored", doc: stored, replayed: false } : stored;
    }
    const depth = this.#parts.depth();
    const limit = limitReached(log, depth);
    if (limit) return { outcome: "refused", code: limit };

    const position = nextPosition(log.newest(), identity, now);
    const message = outboundMessage(accepted, prepared, position, isDelivered(identity));
    const { template } = prepared;
    const { isParting } = draft;
    const person = isNamed && !isBot && !isParting ? { id: draft.prepared.senderId, name: senderName } : null;
    const row = {
      message,
      dedupe,
      fingerprint,
      template,
      isNamed,
      isBot,
      answersNothing: isParting,
      sentDraft,
      ...pick(file, "media", "takeFile"),
    };
    const doc = this.#append(identity, row, depth, person);
    this.#calls.stored(draft, message.seq);
    return { outcome: "stored", doc, replayed: false };
  }

  /** The answer to a used idempotency key; null for a new one. */
  repeatOf(draft: Draft): SendAnswer | null {
    const { log, scheduled } = this.#parts;
    const dedupe = dedupeOf(draft);
    const first = dedupe === null ? null : (log.byDedupe(dedupe) ?? scheduled.byDedupe(dedupe));
    return first && replay(first, draft);
  }

  /**
   * Stores a scheduled message in its place at the end of the chat.
   * @param remove removes it from the scheduled messages, in the same commit
   * @returns its JSON
   */
  place(identity: ChatIdentity, { message, ...columns }: RowWithoutSeq, remove: () => void): string {
    const position = nextPosition(this.#parts.log.newest(), identity, Date.now());
    const placed = placedMessage(message, position, isDelivered(identity));
    const { isNamed, isBot } = columns;
    const { senderId, sender } = placed;
    const person = isNamed && !isBot && senderId !== null ? { id: senderId, name: sender?.name ?? "" } : null;
    return this.#append(identity, { ...columns, message: placed, scheduled: { remove } }, this.#parts.depth(), person);
  }

  /**
   * @param depth the number of messages before it in the queue
   * @param person the member who wrote it; null if a program did
   */
  #append(
    identity: ChatIdentity,
    row: Omit<NewMessage, "delivery">,
    depth: number,
    person: { id: string; name: string } | null,
  ): string {
    const doc = this.#store(identity, row, depth, person);
    if (!isDelivered(identity)) this.#parts.tables.onceWritten(() => this.#parts.visitors.show(row.message));
    return doc;
  }

  /** As `#append`, without showing it to visitors. */
  #store(
    identity: ChatIdentity,
    row: Omit<NewMessage, "delivery">,
    depth: number,
    person: { id: string; name: string } | null,
  ): string {
    const { handover, log, queue } = this.#parts;
    const { message } = row;
    const delivery = isDelivered(identity) ? queue.newDelivery(depth) : null;
    const changes = person && handover.takenOver({ type: "member", ...person });
    const doc = log.append({ ...row, changes, delivery: delivery && printNewDelivery(delivery) });
    if (changes) this.#parts.scheduled.handedOver();
    this.#parts.tables.onceWritten(() => {
      if (delivery) queue.stored(message.seq, delivery);
      else this.#parts.report.counted("sent");
    });
    return doc;
  }

  /** The file that a draft names, and how it is sent; nothing for a draft without one. */
  #fileOf({ channelKind }: ChatIdentity, draft: Draft, template: UsedTemplate | null): DraftFile | RefusedDraft {
    const { mediaId, type: given, content, extra } = draft;
    if (mediaId === undefined) return { media: null, type: given };
    const media = this.#parts.files.find(mediaId);
    if ("outcome" in media) return media;
    const takeFile = () => this.#parts.files.use(media);
    const header = template?.parts?.header;
    if (header?.type === "media") {
      const message = headerFault(media, header.format, channelKind);
      return message === null
        ? { media, type: given, takeFile }
        : { outcome: "refused", code: "validation_failed", faults: [{ path: "template.header.mediaId", message }] };
    }
    const channel = channelKind === "web" ? webSpec : ADAPTERS[channelKind];
    const type = isMediaType(given) ? given : typeOfFile(media, channel);
    if (extra?.voice && type !== "AUDIO") {
      return { outcome: "refused", code: "validation_failed", faults: [{ path: "voice", message: NOT_A_VOICE }] };
    }
    const cantStand = extra?.interactive && type === "AUDIO" ? "is AUDIO, which can't stand above choices" : null;
    const message = cantStand ?? channel.takes(media, type);
    if (message !== null) {
      return { outcome: "refused", code: "validation_failed", faults: [{ path: "mediaId", message }] };
    }
    const text = content === mediaId ? (media.fileName ?? media.contentType) : undefined;
    return { media, type, text, takeFile };
  }

  /** The file of a message that is sent again. */
  #repeatedFile({ type }: Draft, media: FileMedia): DraftFile {
    return { media, type, takeFile: () => this.#parts.files.share(media) };
  }

  /** The refusal of a message that replies to one that it can't; null if it may be stored. A resend may always. */
  #quoteFault({ extra, resendOf }: Draft): RefusedDraft | null {
    const { replyTo } = extra ?? {};
    if (replyTo === undefined || resendOf != null) return null;
    const quoted = this.#parts.log.byId(replyTo);
    const status = quoted && (JSON.parse(quoted.doc) as Message).status;
    if (status !== null && status !== "FAILED" && status !== "CANCELED") return null;
    const message =
      status === null
        ? "must be the id of a message in this chat that is not scheduled"
        : `must be a message that reached the chat, but this one is ${status}`;
    return { outcome: "refused", code: "validation_failed", faults: [{ path: "replyTo", message }] };
  }

  /** The message that an earlier try of the same call scheduled, wherever it is now. */
  #scheduledBy({ id, scheduledAt }: Draft): string | null {
    if (scheduledAt == null) return null;
    const { log, scheduled } = this.#parts;
    const row = scheduled.find(id);
    return row ? JSON.stringify(row.message) : (log.byId(id)?.doc ?? null);
  }

  inbound(identity: ChatIdentity, draft: InboundDraft): Exclude<ReceiveAnswer, Unknown> {
    const { log } = this.#parts;
    const dedupe = receivedDedupe(draft.dedupe);
    const first = log.byDedupe(dedupe);
    if (first) return { outcome: "repeated", doc: first.doc };
    if (isFull(log)) return { outcome: "chat_full" };
    const fields = inboundFields(log, draft.extra);
    const { choice } = fields;
    // The title as the company wrote it: a network may send none, and a page any.
    const content = choice && choice.id !== null ? choice.title : draft.content;
    const file = this.#fileOfVisitor(draft);
    if ("outcome" in file) return file;
    const awayText = this.#parts.away.textFor(draft);
    const position = nextPosition(log.newest(), identity, Date.now());
    const message = inboundMessage({ ...draft, content, ...pick(file, "media", "type") }, fields, position);
    if (file.text !== undefined) message.text = file.text;
    const row = { message, dedupe, fingerprint: null, template: null, delivery: null };
    const opening = this.#parts.work.changeTo(OPEN, null);
    const changes = opening && { events: [opening.event], write: opening.write };
    const doc = log.append({ ...row, ...pick(file, "media", "takeFile"), changes });
    this.#parts.contact.enterTopic(draft.topic);
    if (draft.isStop) this.#parts.consent.hear({ optedOut: true, at: wroteAt(message), by: "contact" });
    const awayDoc = awayText === null ? undefined : this.#answerAway(identity, awayText);
    return { outcome: "stored", doc, ...(awayDoc !== undefined && { awayDoc }) };
  }

  /** Stores what the channel answers outside of its hours. @returns its JSON; undefined if the chat has no room for it */
  #answerAway(identity: ChatIdentity, text: string): string | undefined {
    const { away, log } = this.#parts;
    const ahead = this.#parts.depth();
    if (limitReached(log, ahead)) return undefined;
    const position = nextPosition(log.newest(), identity, Date.now());
    const callId = newId("msg", jurisdictionOf(identity.chatId));
    const message = awayMessage(callId, text, position, isDelivered(identity));
    const nothing = { dedupe: null, fingerprint: null, template: null, media: null };
    away.sent(Date.parse(message.createdAt));
    return this.#store(identity, { message, ...nothing, answersNothing: true }, ahead, null);
  }

  /** The media of a contact's message: what the network reports, or the file that a visitor uploaded. */
  #fileOfVisitor({ mediaId, content, type, media }: InboundDraft): InboundFile | RefusedDraft {
    if (mediaId === undefined) return { media, type };
    const file = this.#parts.files.find(mediaId);
    if ("outcome" in file) return file;
    const text = content === mediaId ? (file.fileName ?? file.contentType) : undefined;
    return { media: file, type: typeOfFile(file, webSpec), text, takeFile: () => this.#parts.files.use(file) };
  }
}

const DRAFT_GONE = "The draft was sent, changed or deleted meanwhile. Read the chat's messages and notes";

/** Whether a network delivers the messages of a chat. */
function isDelivered({ channelKind }: ChatIdentity): boolean {
  return channelKind !== "web";
}

/** The refusal of a message that would cross another one; null if it may be stored. */
function chatMovedOn({ ifSeq }: Draft, { log, scheduled, echoes }: Parts): RefusedDraft | null {
  if (ifSeq == null) return null;
  const text = crossingText(ifSeq, log) ?? soonText(scheduled, echoes);
  return text === null ? null : { outcome: "refused", code: "chat_moved_on", text };
}

/** What is about to take the next place, and which the client can't have read. */
function soonText(scheduled: Parts["scheduled"], echoes: Parts["echoes"]): string | null {
  if (scheduled.hasSoon())
    return "Another message was scheduled and is about to be sent. Wait for it, or send without ifSeq";
  if (!echoes.hasSoon) return null;
  return "The network reported a message that your organization wrote elsewhere. Wait for it, or send without ifSeq";
}

/** A message is sent again at most once. */
function dedupeOf({ resendOf, idempotencyHash }: Draft): string | null {
  if (resendOf != null) return `resend:${resendOf}`;
  return idempotencyHash === null ? null : `key:${idempotencyHash}`;
}
