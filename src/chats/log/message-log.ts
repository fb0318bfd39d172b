import type { Message } from "../message.ts";
import { CheckedRows, checkWhole } from "./integrity.ts";
import { redacted } from "./redaction.ts";
import type { Media, NewMessage, OutboundRow, SeqRange, UsedTemplate } from "./rows.ts";
import { prepareSchema } from "./schema.ts";

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
      delivery,
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
  head(): OutboundRow | null {
    const [row] = this.#sql.exec<OutboundColumns>(
      `select seq, doc, delivery, template from messages where seq > ? and status = 'QUEUED' order by seq limit 1`,
      this.#settled(),
    );
    this.#settledUpTo = row ? row.seq - 1 : this.newest().seq;
    return row ? outboundRow(row) : null;
  }

  /** Keeps where the line begins, so that an object that wakes up does not look for it from the chat's beginning. */
  keepPlace(): void {
    if (this.#settled() - (this.#storage.kv.get<number>("settled") ?? 0) < KEEP_PLACE_EVERY) return;
    this.#storage.kv.put("settled", this.#settled());
  }

  /** A message with the state of its delivery, queued or not. @returns null for a message that no network delivers */
  delivered(seq: number): OutboundRow | null {
    const [row] = this.#sql.exec<OutboundColumns>(
      "select seq, doc, delivery, template from messages where seq = ? and delivery is not null",
      seq,
    );
    return row ? outboundRow(row) : null;
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

  /** Writes the state of a message's delivery. */
  writeDelivery(seq: number, delivery: string): void {
    this.#sql.exec("update messages set delivery = ? where seq = ?", delivery, seq);
  }

  /** Writes a message that changed, and in the same statement the state of its delivery if that changed too. */
  writeDocument(message: Message, delivery?: string): void {
    this.changes++;
    const doc = JSON.stringify(message);
    if (delivery === undefined) this.#sql.exec("update messages set doc = ? where seq = ?", doc, message.seq);
    else this.#sql.exec("update messages set doc = ?, delivery = ? where seq = ?", doc, delivery, message.seq);
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
   * Blanks a message, and removes all else that could show or prove its text.
   * @param delivery the state of its delivery without text; it stays because an attempt may be running
   * @param call the name of the request
   * @returns the blanked message
   */
  redact(message: Message, delivery: string | null, at: number, call: string): Message {
    this.changes++;
    const { seq } = message;
    const blank = redacted(message);
    this.#storage.kv.put(`redacted ${seq}`, call);
    if (message.status === "QUEUED") this.leftQueue(seq);
    this.#sql.exec(
      `update messages set doc = ?, template = null, fingerprint = null, media = null, redacted_at = ?, delivery = ?
       where seq = ?`,
      JSON.stringify(blank),
      at,
      delivery,
      seq,
    );
    return blank;
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

type OutboundColumns = { seq: number; doc: string; delivery: string; template: string | null };

function outboundRow({ seq, doc, delivery, template }: OutboundColumns): OutboundRow {
  return {
    seq,
    message: JSON.parse(doc) as Message,
    delivery,
    template: template ? (JSON.parse(template) as UsedTemplate) : null,
  };
}
