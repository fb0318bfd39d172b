import type { ChannelKind } from "../../channels/kinds.ts";
import type { Parts } from "../delivery/parts.ts";
import { type DeliveryRow, deliveryJson, queuedMessage } from "../delivery/row.ts";
import type { Delivery, DeliveryError } from "../delivery/schedule.ts";
import type { Message } from "../message.ts";
import { CheckedRows, checkWhole } from "./integrity.ts";
import { partsWithoutWords } from "./redaction.ts";
import { prepareSchema } from "./schema.ts";

/** Which chat an object is. Set once, by its first caller who shows that the directory knows it. */
export interface ChatIdentity {
  chatId: string;
  organizationId: string;
  channelId: string;
  channelKind: ChannelKind;
  /** The contact's address on the channel, as the chat was made with it. */
  contactAddress: string;
  /** When the chat was made, Unix milliseconds: what was erased is adopted again only if it was made anew. */
  createdAt: number;
  /** Addresses of the contact that the directory has: told by who opened the chat. */
  addresses?: string[];
}

/** What delivery needs of a template, kept with the message: the template may change or go while the message waits. */
export interface UsedTemplate {
  name: string;
  language: string;
  parameters: { name: string; value: string }[];
}

/** A message's row, without what the log itself gives it. */
export interface NewMessage {
  message: Message;
  /** At most one message of the chat has this text: the hash of an idempotency key, or the network's own id. */
  dedupe: string | null;
  /** What a repeated `dedupe` must agree with; null agrees with anything. */
  fingerprint: string | null;
  template: UsedTemplate | null;
  /** Where it stands on its way out; null where nothing is to be delivered. */
  delivery: Delivery | null;
  /** How the network calls its media, for `/media`; null where there is none. */
  media: Media | null;
}

/** As a row has them: of a message that takes one call, or was not tried yet, their number is left out. */
export type StoredParts = Omit<Parts, "of"> & { of?: number };

/** What a message's delivery knows. */
export interface DeliveryKnown {
  delivery: Delivery;
  /** What is known of the calls that it takes. */
  parts: StoredParts;
  lastError: DeliveryError | null;
}

/** A message in line, with what its delivery knows. */
export interface QueuedMessage extends DeliveryKnown {
  seq: number;
  message: Message;
  template: UsedTemplate | null;
}

/** The media of an inbound message, as the network calls it. */
export interface Media {
  id: string;
  contentType: string | null;
  fileName: string | null;
}

/** A range of a chat's messages, both ends included; empty when `low` is above `high`. */
export interface SeqRange {
  low: number;
  high: number;
}

const RECENT_MESSAGES = 1_000;
const KEEP_PLACE_EVERY = 100;

/** The messages of one chat in its object's SQLite: a dense sequence, so that a page is a range of the primary key. */
export class MessageLog {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  /** How often a document was added or changed here: what was read at the same count is the same. */
  changes = 0;
  /** A copy of the last row's number and time, and of its count of queued messages. */
  #newest: { seq: number; at: number; queued: number } | undefined;
  readonly #checked = new CheckedRows();
  #sized: { changes: number; bytes: number } | undefined;
  /** No message up to this one waits. A message never waits again, so this may lag and is never wrong. */
  #settledUpTo: number | undefined;
  /** A copy of the numbers of messages that left the queue before their turn. */
  #leftEarly: number[] | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#sql = storage.sql;
  }

  /** Makes or upgrades the schema. */
  prepare(): void {
    prepareSchema(this.#storage);
  }

  /** Everything was erased. */
  forget(): void {
    this.changes++;
    this.#newest = undefined;
    this.#checked.forget();
    this.#sized = undefined;
    this.#settledUpTo = undefined;
    this.#leftEarly = undefined;
  }

  /** The number and time of the newest message, and how many were ever queued; zeros in an empty chat. */
  newest(): { seq: number; at: number; queued: number } {
    if (!this.#newest) {
      const [row] = this.#sql.exec<{ seq: number; createdAt: string; queued: number }>(
        "select seq, doc ->> '$.createdAt' as createdAt, queued from messages order by seq desc limit 1",
      );
      // What was told of the chat's activity says how far the log goes at least.
      checkWhole(row?.seq ?? 0, this.#storage.kv.get<number>("reported") ?? 0);
      this.#newest = { seq: row?.seq ?? 0, at: row ? Date.parse(row.createdAt) : 0, queued: row?.queued ?? 0 };
    }
    return this.#newest;
  }

  /** Stores a message, unless the chat has one of its id. @returns the document of the one that it has now */
  append({ message, dedupe, fingerprint, template, delivery, media }: NewMessage): { doc: string; isNew: boolean } {
    this.changes++;
    const doc = JSON.stringify(message);
    const queued = this.newest().queued + Number(message.status === "QUEUED");
    const cursor = this.#sql.exec(
      `insert into messages (seq, id, doc, dedupe, fingerprint, template, delivery, media, queued)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do nothing`,
      message.seq,
      message.id,
      doc,
      dedupe,
      fingerprint,
      template && JSON.stringify(template),
      delivery && deliveryJson(delivery, { ids: [] }, null),
      media && JSON.stringify(media),
      queued,
    );
    if (cursor.rowsWritten === 0) return { doc: this.byId(message.id)?.doc ?? doc, isNew: false };
    this.#newest = { seq: message.seq, at: Date.parse(message.createdAt), queued };
    this.#checked.add({ low: message.seq, high: message.seq });
    return { doc, isNew: true };
  }

  /**
   * A page as it goes to the client: the documents of a range, newest first, put together by SQLite and never
   * rows here. `pagination` is JSON.
   */
  page(range: SeqRange, pagination: string): Uint8Array {
    const { low, high } = range;
    try {
      const { page, found } = this.#sql
        .exec<{ page: ArrayBuffer; found: number }>(
          `select cast('{"messages":[' || coalesce(group_concat(doc, ',' order by seq desc), '') || '],"pagination":'
             || ? || '}' as blob) as page, ${this.#countOf(range)} as found from messages where seq between ? and ?`,
          pagination,
          low,
          high,
        )
        .one();
      this.#check(range, found);
      return new Uint8Array(page);
    } catch (error) {
      // SQLite makes no text above 2 MB, and a hundred long messages are more.
      if (!String(error).includes("SQLITE_TOOBIG")) throw error;
    }
    return new TextEncoder().encode(`{"messages":[${this.documents(range)}],"pagination":${pagination}}`);
  }

  /** The JSON documents of a range, newest first, joined by commas. */
  documents(range: SeqRange): string {
    const { low, high } = range;
    try {
      const { docs, found } = this.#sql
        .exec<{ docs: string | null; found: number }>(
          `select group_concat(doc, ',' order by seq desc) as docs, ${this.#countOf(range)} as found
           from messages where seq between ? and ?`,
          low,
          high,
        )
        .one();
      this.#check(range, found);
      return docs ?? "";
    } catch (error) {
      // SQLite makes no text above 2 MB, and a hundred long messages are more: then each half by itself.
      if (low >= high || !String(error).includes("SQLITE_TOOBIG")) throw error;
      const middle = Math.floor((low + high) / 2);
      return `${this.documents({ low: middle + 1, high })},${this.documents({ low, high: middle })}`;
    }
  }

  byId(id: string): { seq: number; doc: string; redactedAt: number | null } | null {
    const [row] = this.#sql.exec<{ seq: number; doc: string; redactedAt: number | null }>(
      "select seq, doc, redacted_at as redactedAt from messages where id = ?",
      id,
    );
    return row ?? null;
  }

  byDedupe(dedupe: string): { doc: string; fingerprint: string | null } | null {
    const [row] = this.#sql.exec<{ doc: string; fingerprint: string | null }>(
      "select doc, fingerprint from messages where dedupe = ?",
      dedupe,
    );
    return row ?? null;
  }

  /** How many messages wait for delivery. It costs the same however many messages lie behind the first. */
  depth(): number {
    const [first] = this.#sql.exec<{ seq: number; queued: number }>(
      "select seq, queued from messages where seq > ? and status = 'QUEUED' order by seq limit 1",
      this.#settled(),
    );
    const { seq: newest, queued } = this.newest();
    this.#settledUpTo = first ? first.seq - 1 : newest;
    if (!first) return 0;
    return queued - first.queued + 1 - this.#leftEarlySince(first.seq).length;
  }

  /** A message no longer waits. Its number is stored only if others wait before it: then the rows still count it. */
  leftQueue(seq: number): void {
    if (seq <= this.#settled() + 1) return;
    this.#leftEarly = [...this.#leftEarlySince(this.#settled()), seq];
    this.#storage.kv.put("leftEarly", this.#leftEarly);
  }

  #leftEarlySince(from: number): number[] {
    this.#leftEarly ??= this.#storage.kv.get<number[]>("leftEarly") ?? [];
    return this.#leftEarly.filter((seq) => seq > from);
  }

  /** The message whose turn it is; null while none waits. */
  head(): QueuedMessage | null {
    const [row] = this.#sql.exec<DeliveryRow>(
      `select seq, doc, delivery, template from messages where seq > ? and status = 'QUEUED' order by seq limit 1`,
      this.#settled(),
    );
    this.#settledUpTo = row ? row.seq - 1 : this.newest().seq;
    return row ? queuedMessage(row) : null;
  }

  /** Keeps where the line begins, so that an object that wakes up does not look for it from the chat's beginning. */
  keepPlace(): void {
    if (this.#settled() - (this.#storage.kv.get<number>("settled") ?? 0) < KEEP_PLACE_EVERY) return;
    this.#storage.kv.put("settled", this.#settled());
  }

  /** A message with the state of its delivery, queued or not. @returns null for a message that no network delivers */
  delivered(seq: number): QueuedMessage | null {
    const [row] = this.#sql.exec<DeliveryRow>(
      "select seq, doc, delivery, template from messages where seq = ? and delivery is not null",
      seq,
    );
    return row ? queuedMessage(row) : null;
  }

  /** The message that has a part which the network calls `networkId`; looked for among the newest alone. */
  byNetworkId(networkId: string): { seq: number; doc: string } | null {
    const [row] = this.#sql.exec<{ seq: number; doc: string }>(
      `select seq, doc from messages where seq > ? and delivery is not null
       and exists (select 1 from json_each(delivery, '$.parts') where value = ?) order by seq desc limit 1`,
      this.newest().seq - RECENT_MESSAGES,
      networkId,
    );
    return row ?? null;
  }

  /** Writes what delivery knows of a message. */
  writeDelivery(seq: number, delivery: Delivery, parts: StoredParts, lastError: DeliveryError | null): void {
    const json = deliveryJson(delivery, parts, lastError);
    this.#sql.exec("update messages set delivery = ? where seq = ?", json, seq);
  }

  /** Writes a message whose status changed, and in the same statement what delivery knows of it where that is news too. */
  writeDocument(message: Message, known?: DeliveryKnown): void {
    this.changes++;
    const doc = JSON.stringify(message);
    if (!known) {
      this.#sql.exec("update messages set doc = ? where seq = ?", doc, message.seq);
      return;
    }
    const delivery = deliveryJson(known.delivery, known.parts, known.lastError);
    this.#sql.exec("update messages set doc = ?, delivery = ? where seq = ?", doc, delivery, message.seq);
  }

  mediaOf(id: string): Media | null {
    const [row] = this.#sql.exec<{ media: string | null }>("select media from messages where id = ?", id);
    return row?.media ? (JSON.parse(row.media) as Media) : null;
  }

  /** SQL that counts the whole rows of a range, of which those that were checked before need not be parsed. */
  #countOf(range: SeqRange): string {
    return this.#checked.covers(range) ? "count(*)" : "count(*) filter (where json_valid(doc))";
  }

  #check(range: SeqRange, found: number): void {
    checkWhole(found, range.high - range.low + 1);
    if (range.low <= range.high) this.#checked.add(range);
  }

  #settled(): number {
    this.#settledUpTo ??= this.#storage.kv.get<number>("settled") ?? 0;
    return this.#settledUpTo;
  }

  /**
   * Replaces a message with its redacted document, and removes what else could show or prove its text. What delivery
   * counts stays, because an attempt may be under way.
   * @param call the name of the request
   */
  redact(seq: number, doc: string, at: number, call: string): void {
    this.changes++;
    this.#storage.kv.put(`redacted ${seq}`, call);
    const row = this.delivered(seq);
    const delivery = row && deliveryJson(row.delivery, partsWithoutWords(row.parts), null);
    if (row?.message.status === "QUEUED") this.leftQueue(seq);
    this.#sql.exec(
      `update messages set doc = ?, template = null, fingerprint = null, media = null, redacted_at = ?, delivery = ?
       where seq = ?`,
      doc,
      at,
      delivery,
      seq,
    );
  }

  isRedacted(seq: number): boolean {
    return this.#sql.exec("select 1 from messages where seq = ? and redacted_at is not null", seq).next().done !== true;
  }

  /** The name of the request that redacted a message. */
  redactedBy(seq: number): string | undefined {
    return this.#storage.kv.get<string>(`redacted ${seq}`);
  }

  /** How many bytes the chat takes. To ask costs nearly as much as to store a message: a hundred changes share an answer. */
  get bytes(): number {
    if (!this.#sized || this.changes - this.#sized.changes > 100) {
      this.#sized = { changes: this.changes, bytes: this.#sql.databaseSize };
    }
    return this.#sized.bytes;
  }
}
