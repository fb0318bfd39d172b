import type { Media, UsedTemplate } from "../../../model/chat-answers.ts";
import { isMessageId, seqOf } from "../../../model/id.ts";
import { expiryOf, type Message } from "../../../model/message.ts";
import { type StatusChange, updated, withStatus } from "../status-change.ts";
import type { ChatTables, LateTable } from "./chat-tables.ts";
import {
  type DeliveryKnown,
  type DeliveryRow,
  printDelivery,
  type QueuedMessage,
  queuedMessage,
} from "./delivery-column.ts";
import { MessageDocuments } from "./documents.ts";
import { EventLog, type NewEvent, statusEvent } from "./event-log.ts";
import { Exchange } from "./exchange.ts";
import { type EndMedia, type Floor, LogFloor, redactionKey } from "./floor.ts";
import { HeardChanges } from "./heard-changes.ts";
import { checkComplete } from "./integrity.ts";
import { NetworkIds, RECENT_MESSAGES } from "./network-ids.ts";
import { QueueIndex } from "./queue-index.ts";
import type { SeqBounds } from "./ranges.ts";
import { redacted } from "./redaction.ts";
import { insertRow, type NewMessage } from "./rows.ts";
import { newestFirst } from "./walk.ts";

/**
 * The messages of one chat, in its object's SQLite. Above the floor the sequence has no gaps, so a page is a range of the
 * primary key; `documents` reads it.
 */
export class MessageLog {
  readonly #storage: DurableObjectStorage;
  readonly #endMedia: EndMedia;
  readonly #onText: (seq: number) => void;
  readonly #tables: ChatTables;
  readonly #messages: LateTable;
  readonly documents: MessageDocuments;
  readonly events: EventLog;
  readonly queue: QueueIndex;
  readonly floor: LogFloor;
  readonly heard: HeardChanges;
  readonly networkIds: NetworkIds;
  readonly exchange: Exchange;
  /** Counts the documents that this instance added or changed. Reads at the same count return the same. */
  changes = 0;
  /** Counts how often this instance redacted or deleted messages. */
  redactions = 0;
  /** A copy of the newest row's columns. */
  #newest: { seq: number; at: number; queued: number } | undefined;
  #measured: { changes: number; bytes: number } | undefined;

  /**
   * @param begunAt when the chat was created, Unix milliseconds
   * @param onEvent called after an event was stored
   * @param endMedia called in the commit in which a message loses its media
   * @param onText called in the commit in which a message gets another text, or loses it
   */
  constructor(
    storage: DurableObjectStorage,
    tables: ChatTables,
    begunAt: () => number,
    onEvent: () => void,
    endMedia: EndMedia,
    onText: (seq: number) => void,
  ) {
    this.#storage = storage;
    this.#endMedia = endMedia;
    this.#onText = onText;
    this.#tables = tables;
    this.#messages = tables.messages;
    this.documents = new MessageDocuments(tables);
    this.events = new EventLog(tables, begunAt, onEvent);
    this.queue = new QueueIndex(storage, tables, () => this.newest());
    this.floor = new LogFloor(storage, tables, endMedia);
    this.heard = new HeardChanges(tables);
    this.networkIds = new NetworkIds(tables, () => this.newest());
    this.exchange = new Exchange(tables, () => this.newest());
  }

  forget(): void {
    this.changes++;
    this.redactions++;
    this.events.forget();
    this.#newest = undefined;
    this.documents.forget();
    this.#measured = undefined;
    this.queue.forget();
    this.floor.forget();
  }

  /**
   * The newest message's seq, its time in Unix milliseconds, and the count of messages ever queued; zeros if there never
   * was one. It may be deleted.
   */
  newest(): { seq: number; at: number; queued: number } {
    if (!this.#newest) {
      const query = "select seq, doc ->> '$.createdAt' as createdAt, queued from messages order by seq desc limit 1";
      const [row] = this.#messages.run<{ seq: number; createdAt: string; queued: number }>(query);
      // The log has at least the messages that the chat has reported to its organization.
      this.#newest = row
        ? { seq: row.seq, at: Date.parse(row.createdAt), queued: row.queued }
        : { ...this.floor.get() };
      checkComplete(this.#newest.seq, this.#storage.kv.get<{ seq: number }>("reported")?.seq ?? 0);
    }
    return this.#newest;
  }

  bounds(): SeqBounds {
    return { floor: this.floor.seq, newest: this.newest().seq };
  }

  /** Whether all messages were deleted, or there never was one. */
  get isEmpty(): boolean {
    return this.newest().seq === this.floor.seq;
  }

  /** The seq of a cursor, the id of a message; null if there is none. For all deleted messages, it is the floor. */
  cursor(id: string): number | null {
    const found = this.byId(id);
    if (found) return found.seq;
    // The id of a message that was scheduled has no seq, so any may have been one.
    const mayBeDeleted = this.floor.seq > 0 && isMessageId(id) && (seqOf(id) ?? 0) <= this.floor.seq;
    return mayBeDeleted ? this.floor.seq : null;
  }

  /** Deletes the messages up to one, or none. */
  deleteUpTo(last: Floor): void {
    this.floor.raise(last);
    this.changes++;
    this.redactions++;
    this.#measured = undefined;
  }

  /** Stores a message. @returns its JSON */
  append(row: NewMessage): string {
    this.changes++;
    const { message } = row;
    const doc = JSON.stringify(message);
    const queued = this.newest().queued + Number(message.status === "QUEUED");
    const at = Date.parse(message.createdAt);
    const type = message.direction === "INBOUND" ? "message.received" : "message.created";
    const { changes, sentDraft } = row;
    const events = [...(changes?.events ?? []), ...(sentDraft ? [sentDraft.event] : [])];
    this.commit([{ type, seq: message.seq, note: null, at }, ...events], () => {
      row.scheduled?.remove();
      row.takeFile?.();
      row.unhold?.();
      sentDraft?.write();
      insertRow(this.#messages, row, doc, queued);
      changes?.write(message.seq);
    });
    this.#newest = { seq: message.seq, at, queued };
    this.documents.stored(message.seq);
    if (message.status === "QUEUED") this.queue.expiry.joined(expiryOf(message));
    return doc;
  }

  /** Writes rows and their events, or nothing: an object whose write failed can continue. */
  commit(events: NewEvent[], write: () => void): void {
    try {
      this.#tables.transaction(() => {
        write();
        for (const event of events) this.events.append(event);
      });
    } catch (error) {
      this.events.forget();
      throw error;
    }
  }

  /** A message by its id, which ends with its seq unless the message was scheduled. */
  byId(id: string): { seq: number; doc: string; redactedAt: number | null } | null {
    const seq = seqOf(id);
    const key = seq === null ? "scheduled_id" : "seq";
    const query = `select seq, doc, redacted_at as redactedAt from messages where ${key} = ?`;
    const [row] = this.#messages.run<{ seq: number; doc: string; redactedAt: number | null }>(query, seq ?? id);
    return row?.doc.startsWith(`{"id":"${id}"`) ? row : null;
  }

  /** The JSON of a message by its seq; null if there is none. */
  docAt(seq: number): string | null {
    const [row] = this.#messages.run<{ doc: string }>("select doc from messages where seq = ?", seq);
    return row?.doc ?? null;
  }

  /** The JSON of the message since `since` (Unix milliseconds) whose id begins with `callId`; null if there is none. */
  ofCall(callId: string, since: number): string | null {
    const columns = "doc, doc ->> '$.createdAt' as at";
    for (const { doc, at } of newestFirst<{ doc: string; at: string }>(this.#messages, columns)) {
      if (Date.parse(at) < since) return null;
      if (doc.startsWith(`{"id":"${callId}`)) return doc;
    }
    return null;
  }

  byDedupe(dedupe: string): { doc: string; fingerprint: string | null } | null {
    const query = "select doc, fingerprint from messages where dedupe = ?";
    const [row] = this.#messages.run<{ doc: string; fingerprint: string | null }>(query, dedupe);
    return row ?? null;
  }

  /** A message and the state of its delivery, queued or not; null if no network delivers it. */
  delivered(seq: number): QueuedMessage | null {
    const query = "select seq, doc, delivery, template from messages where seq = ? and delivery is not null";
    const [row] = this.#messages.run<DeliveryRow>(query, seq);
    return row ? queuedMessage(row) : null;
  }

  writeDelivery(seq: number, known: DeliveryKnown): void {
    this.#messages.run("update messages set delivery = ? where seq = ?", printDelivery(known), seq);
  }

  /** Writes a message's new status or error, and the state of its delivery if that changed too. @returns the message */
  writeStatus(before: Message, change: StatusChange, known?: DeliveryKnown): Message {
    this.changes++;
    const message = withStatus(before, change);
    const { seq, status } = message;
    const doc = JSON.stringify(message);
    const write = () => {
      if (!known) this.#messages.run("update messages set doc = ? where seq = ?", doc, seq);
      else
        this.#messages.run("update messages set doc = ?, delivery = ? where seq = ?", doc, printDelivery(known), seq);
    };
    if (status === before.status) write();
    else this.commit([statusEvent(message)], write);
    return message;
  }

  /** Writes what changed of a message besides its status, and the event that reports it. @returns the message */
  change(changed: Message, { type, note, at }: Pick<NewEvent, "type" | "note" | "at">): Message {
    this.changes++;
    const message = updated(changed, at);
    const { seq } = message;
    this.commit([{ type, seq, note, at }], () => {
      this.#messages.run("update messages set doc = ? where seq = ?", JSON.stringify(message), seq);
      if (type === "message.edited") this.#onText(seq);
    });
    return message;
  }

  /** Fails messages of the queue, all or none. @param at Unix milliseconds */
  failQueued(messages: Message[], error: NonNullable<Message["error"]>, at: number): void {
    if (messages.length === 0) return;
    this.changes++;
    const failed = messages.map((message) => withStatus(message, { status: "FAILED", error, at }));
    this.commit(failed.map(statusEvent), () => {
      for (const message of failed) {
        this.#messages.run("update messages set doc = ? where seq = ?", JSON.stringify(message), message.seq);
      }
      this.queue.left(...failed.map(({ seq }) => seq));
    });
  }

  /** The template of a message; null if it has none. */
  templateOf(seq: number): UsedTemplate | null {
    const query = "select template from messages where seq = ?";
    const [row] = this.#messages.run<{ template: string | null }>(query, seq);
    return row?.template ? (JSON.parse(row.template) as UsedTemplate) : null;
  }

  /** Whether one of the newest 1,000 messages shows an uploaded file. */
  showsFile(fileId: string): boolean {
    const shows = "select 1 from messages where seq > ? and media ->> '$.fileId' = ?";
    return this.#messages.run(shows, this.newest().seq - RECENT_MESSAGES, fileId).length > 0;
  }

  /** The media of a message, as it is stored; null if it has none. */
  mediaOf(seq: number): Media | null {
    const [row] = this.#messages.run<{ media: string | null }>("select media from messages where seq = ?", seq);
    return row?.media ? (JSON.parse(row.media) as Media) : null;
  }

  /** The network of a message no longer has its media. */
  mediaGone(seq: number): void {
    this.#messages.run(
      `update messages set media = json_set(media, '$.gone', json('true'))
       where seq = ? and media ->> '$.id' is not null and media ->> '$.gone' is null`,
      seq,
    );
  }

  /**
   * Blanks a message, and removes everything else that could reveal its text.
   * @param delivery the state of its delivery without texts; it stays because an attempt may be running
   * @param call the name of the request; null if its writer deleted the message
   * @returns the blank message
   */
  redact(message: Message, delivery: string | null, at: number, call: string | null): Message {
    this.changes++;
    this.redactions++;
    const { seq } = message;
    const blank = redacted(message, at, call === null ? "deletedAt" : "redactedAt");
    const failure = blank.status === message.status ? [] : [statusEvent(blank)];
    const writer = message.direction === "INBOUND" ? "contact" : "organization";
    const note = call === null ? { by: writer } : null;
    this.commit([...failure, { type: "message.redacted", seq, note, at }], () => {
      if (call !== null) this.#storage.kv.put(redactionKey(seq), call);
      if (message.status === "QUEUED") this.queue.left(seq);
      this.#onText(seq);
      this.#endMedia(this.mediaOf(seq), message.id, at);
      this.#messages.run(
        `update messages set doc = ?, template = null, fingerprint = null, media = null, redacted_at = ?, delivery = ?
         where seq = ?`,
        ...[JSON.stringify(blank), at, delivery, seq],
      );
    });
    return blank;
  }

  isRedacted(seq: number): boolean {
    const redacted = "select 1 from messages where seq = ? and redacted_at is not null";
    return this.#messages.run(redacted, seq).length > 0;
  }

  /** The name of the request that redacted a message; undefined if none did. */
  redactedBy(seq: number): string | undefined {
    return this.#storage.kv.get<string>(redactionKey(seq));
  }

  /** The chat's size in bytes. Reading it costs as much as storing a message, so it is read every 100 changes. */
  get bytes(): number {
    if (!this.#measured || this.changes - this.#measured.changes > 100) {
      this.#measured = { changes: this.changes, bytes: this.#storage.sql.databaseSize };
    }
    return this.#measured.bytes;
  }
}
