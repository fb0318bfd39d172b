import { DurableObject } from "cloudflare:workers";
import type { ErrorCode, Fault } from "../http/errors.ts";
import type { Place } from "../http/pagination.ts";
import { causeOf } from "../log.ts";
import { callObject } from "../objects.ts";
import { pageRange, rangeAfter, rangeBefore } from "./listing.ts";
import type { Message } from "./message.ts";
import { type ChatIdentity, MessageLog, type UsedTemplate } from "./message-log.ts";

/** A message on its way in, as the Worker made it: with its id, so that a repeated call stores nothing twice. */
export interface Draft {
  id: string;
  content: string;
  type: Message["type"];
  mediaUrl: string | null;
  templateId: string | null;
  variables: Message["variables"];
  metadata: Message["metadata"];
  idempotencyKey: string | null;
  fingerprint: string | null;
  /** What the directory said: who sends and what is delivered, or why this cannot be sent. */
  prepared: Prepared | Refused;
}

export interface Prepared {
  outcome: "prepared";
  senderId: string;
  text: string;
  template: UsedTemplate | null;
}

export interface Refused {
  outcome: "refused";
  code: ErrorCode;
  faults?: Fault[];
}

/** Not adopted yet, or the chat of another organization: who calls can't tell which, and asks the directory. */
export interface Unknown {
  outcome: "unknown";
}

/** `body` and `doc` are JSON as it goes to the client. */
export type ListAnswer = { outcome: "ok"; body: string } | { outcome: "unknown_cursor" } | Unknown;
export type MessageAnswer = { outcome: "ok"; doc: string } | { outcome: "no_message" } | Unknown;
export type SendAnswer = { outcome: "stored"; doc: string; replayed: boolean } | Refused | Unknown;

/** What waits in a chat for its network. Times are RFC 3339. */
export interface Queue {
  depth: number;
  oldest: string | null;
  nextAttemptAt: string | null;
  lastError: { code: string; message: string } | null;
}
export type StateAnswer = { outcome: "ok"; lastMessageAt: string | null; queue: Queue } | Unknown;

const UNKNOWN: Unknown = { outcome: "unknown" };
const MAX_QUEUED = 10_000;
/** An object holds 10 GB; the last 256 MB are left for the statuses of what is stored. */
const MAX_BYTES = 10_000_000_000 - 256_000_000;
/** With the channel object's own wait this keeps the list of chats less than 10 s behind. */
const REPORT_AFTER_MS = 2_000;
const REPORT_AGAIN_AFTER_MS = 30_000;
const TOMBSTONE_MS = 600_000;

/**
 * One chat: its messages, in order. It owns them alone: what it has answered for is on disk, and every message has its
 * place in a sequence without a gap.
 *
 * It knows only its id until a caller adopts it with what the directory says of the chat; until then, and to another
 * organization always, it is unknown, and it writes nothing for strangers.
 */
export class ChatObject extends DurableObject<Env> {
  readonly #log = new MessageLog(this.ctx.storage);
  #identity: ChatIdentity | undefined;
  /** The newest message; a copy of the log's last row. */
  #newest: { seq: number; at: number } | undefined;
  #queued: number | undefined;

  list(organizationId: string, place: Place, adoption: ChatIdentity | null): ListAnswer {
    if (!this.#open(organizationId, adoption)) return UNKNOWN;
    const newest = this.#last().seq;
    if ("page" in place) return this.#page(pageRange(newest, place.page, place.limit));
    const cursor = this.#log.byId("before" in place ? place.before : place.after);
    if (!cursor) return { outcome: "unknown_cursor" };
    const select = "before" in place ? rangeBefore : rangeAfter;
    return this.#page(select(newest, cursor.seq, place.limit));
  }

  get(organizationId: string, messageId: string, adoption: ChatIdentity | null): MessageAnswer {
    if (!this.#open(organizationId, adoption)) return UNKNOWN;
    const row = this.#log.byId(messageId);
    return row ? { outcome: "ok", doc: row.doc } : { outcome: "no_message" };
  }

  /**
   * Stores a message to be delivered. The checks stand in this order because an idempotency key that has been used
   * answers with its first message, whatever has become of the sender, the template or the queue since.
   */
  async send(organizationId: string, draft: Draft, adoption: ChatIdentity | null): Promise<SendAnswer> {
    // Asked first: from here to the last write nothing is awaited, so message and alarm are one commit.
    const alarm = await this.ctx.storage.getAlarm();
    const identity = this.#open(organizationId, adoption);
    if (!identity) return UNKNOWN;
    const dedupe = draft.idempotencyKey === null ? null : `key:${draft.idempotencyKey}`;
    const first = dedupe === null ? null : this.#log.byDedupe(dedupe);
    if (first) return replay(first, draft);
    if (draft.prepared.outcome === "refused") return draft.prepared;
    const waits = identity.channelKind !== "web";
    const limit = this.#limitReached(waits);
    // A call that was made again, because its answer got lost, is not refused for what it stored itself.
    if (limit) return this.#stored(draft.id) ?? { outcome: "refused", code: limit };

    const newest = this.#last();
    // Stamps never run backwards, even where the clock does.
    const at = Math.max(Date.now(), newest.at);
    const time = new Date(at).toISOString();
    const { senderId, text, template } = draft.prepared;
    const message: Message = {
      id: draft.id,
      chatId: identity.chatId,
      seq: newest.seq + 1,
      direction: "OUTBOUND",
      type: draft.type,
      content: draft.content,
      mediaUrl: draft.mediaUrl,
      senderId,
      templateId: draft.templateId,
      variables: draft.variables,
      text,
      status: waits ? "QUEUED" : "SENT",
      error: null,
      metadata: draft.metadata,
      createdAt: time,
      updatedAt: time,
    };
    const isNew = this.#log.append({ message, dedupe, fingerprint: draft.fingerprint, template });
    const stored = isNew ? null : this.#stored(draft.id);
    if (stored) return stored;
    this.#newest = { seq: message.seq, at };
    if (waits && this.#queued !== undefined) this.#queued++;
    // An alarm that stands already is early enough, and costs nothing.
    if (alarm === null) await this.ctx.storage.setAlarm(Date.now() + REPORT_AFTER_MS);
    return { outcome: "stored", doc: JSON.stringify(message), replayed: false };
  }

  /** When the chat had its last message, and what waits in it. */
  state(organizationId: string, adoption: ChatIdentity | null): StateAnswer {
    const identity = this.#open(organizationId, adoption);
    if (!identity) return UNKNOWN;
    const { seq, at } = this.#last();
    // A web message is never queued, and looking for one would read the whole chat.
    const { depth, oldest } = identity.channelKind === "web" ? { depth: 0, oldest: null } : this.#log.queue();
    return {
      outcome: "ok",
      lastMessageAt: seq > 0 ? new Date(at).toISOString() : null,
      queue: { depth, oldest, nextAttemptAt: null, lastError: null },
    };
  }

  /** Blanks what a message said. One that still waited is FAILED, for nothing is left to deliver. */
  redact(organizationId: string, messageId: string, adoption: ChatIdentity | null): MessageAnswer {
    if (!this.#open(organizationId, adoption)) return UNKNOWN;
    const row = this.#log.byId(messageId);
    if (!row || row.redacted) return { outcome: "no_message" };
    const before = JSON.parse(row.doc) as Message;
    const redacted: Message = { ...before, content: "", text: "", variables: null, mediaUrl: null, metadata: {} };
    if (before.status === "QUEUED") {
      redacted.status = "FAILED";
      redacted.error = { code: "redacted", message: "The message was redacted before it was delivered" };
      this.#queued = undefined;
    }
    const doc = JSON.stringify(redacted);
    this.#log.redact(row.seq, doc, Date.now());
    return { outcome: "ok", doc };
  }

  /**
   * Erases the chat with all its messages. A mark stays for ten minutes, so that a caller who read the directory before
   * the chat was deleted there does not adopt it again.
   */
  async erase(): Promise<void> {
    await this.ctx.storage.deleteAll();
    this.#identity = undefined;
    this.#newest = undefined;
    this.#queued = undefined;
    this.ctx.storage.kv.put("erased", true);
    await this.ctx.storage.setAlarm(Date.now() + TOMBSTONE_MS);
  }

  /** Tells the channel when the chat was last active, for the list of chats. Never throws: it is its own retry. */
  override async alarm(): Promise<void> {
    if (this.ctx.storage.kv.get("erased")) return this.ctx.storage.deleteAll();
    const identity = this.#adopted();
    if (!identity) return;
    await this.ctx.storage.setAlarm(Date.now() + REPORT_AGAIN_AFTER_MS);
    const { seq, at } = this.#last();
    try {
      await callObject(this.env.CHANNELS, identity.channelId, (channel) => channel.active(identity.chatId, at));
    } catch (error) {
      console.warn({ event: "activity_not_reported", chatId: identity.chatId, error: causeOf(error) });
      return;
    }
    // Erased in the meantime: the alarm that stands now ends the mark.
    if (!this.#identity) return;
    // A message that came in the meantime found an alarm and set none: it keeps this one.
    if (this.#last().seq === seq) await this.ctx.storage.deleteAlarm();
    else await this.ctx.storage.setAlarm(Date.now() + REPORT_AFTER_MS);
  }

  /** Who this chat is to `organizationId`, adopting it where `adoption` says so; undefined where it is unknown. */
  #open(organizationId: string, adoption: ChatIdentity | null): ChatIdentity | undefined {
    const { kv } = this.ctx.storage;
    if (adoption?.organizationId === organizationId && !this.#adopted() && !kv.get("erased")) {
      kv.put("identity", adoption);
    }
    const identity = this.#adopted();
    return identity?.organizationId === organizationId ? identity : undefined;
  }

  /** Who this chat is, with its log made ready; undefined before it was adopted. */
  #adopted(): ChatIdentity | undefined {
    if (!this.#identity) {
      this.#identity = this.ctx.storage.kv.get<ChatIdentity>("identity");
      if (this.#identity) this.#log.prepare();
    }
    return this.#identity;
  }

  #limitReached(waits: boolean): "chat_backlog" | "chat_full" | null {
    if (waits && this.#depth() >= MAX_QUEUED) return "chat_backlog";
    return this.#log.bytes > MAX_BYTES ? "chat_full" : null;
  }

  #stored(messageId: string): SendAnswer | null {
    const row = this.#log.byId(messageId);
    return row && { outcome: "stored", doc: row.doc, replayed: false };
  }

  #last(): { seq: number; at: number } {
    this.#newest ??= this.#log.newest();
    return this.#newest;
  }

  #depth(): number {
    this.#queued ??= this.#log.queue().depth;
    return this.#queued;
  }

  #page({ range, pagination }: ReturnType<typeof pageRange> | ReturnType<typeof rangeBefore>): ListAnswer {
    const documents = this.#log.documents(range);
    return { outcome: "ok", body: `{"messages":[${documents}],"pagination":${JSON.stringify(pagination)}}` };
  }
}

/** The answer to a used idempotency key. A redacted message has no fingerprint left, and answers to any body. */
function replay(first: { doc: string; fingerprint: string | null }, draft: Draft): SendAnswer {
  if (first.fingerprint !== null && first.fingerprint !== draft.fingerprint) {
    return { outcome: "refused", code: "idempotency_mismatch" };
  }
  return { outcome: "stored", doc: first.doc, replayed: (JSON.parse(first.doc) as Message).id !== draft.id };
}
