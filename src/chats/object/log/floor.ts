import type { Media } from "../../../model/chat-answers.ts";
import type { ChatTables, LateTable } from "./chat-tables.ts";

/** The newest of the deleted messages: its seq, its time in Unix milliseconds, and the count of messages queued up to it. */
export interface Floor {
  seq: number;
  at: number;
  queued: number;
}

/** One of the oldest messages that are left. */
export interface OldMessage extends Floor {
  isWaiting: boolean;
}

/** Part of the commit after which a message no longer shows its media. @param now Unix milliseconds */
export type EndMedia = (media: Media | null, messageId: string, now: number) => void;

const NO_FLOOR: Floor = { seq: 0, at: 0, queued: 0 };

/**
 * The floor of a chat's messages: all up to it were deleted, and above it the sequence has no gaps. The sequence never
 * restarts, so the values of the deleted messages that the next one needs are kept.
 */
export class LogFloor {
  readonly #storage: DurableObjectStorage;
  readonly #tables: ChatTables;
  readonly #messages: LateTable;
  readonly #endMedia: EndMedia;
  #copy: Floor | undefined;
  /** The time of the oldest message that is left; undefined if not read. */
  #oldestAt: number | undefined;

  constructor(storage: DurableObjectStorage, tables: ChatTables, endMedia: EndMedia) {
    this.#storage = storage;
    this.#tables = tables;
    this.#messages = tables.messages;
    this.#endMedia = endMedia;
  }

  /** The newest deleted message; zeros if none was deleted. */
  get(): Floor {
    this.#copy ??= this.#storage.kv.get<Floor>("floor") ?? NO_FLOOR;
    return this.#copy;
  }

  /** The seq of the newest deleted message; 0 if none was deleted. */
  get seq(): number {
    return this.get().seq;
  }

  /** The time of the oldest message that is left, in Unix milliseconds; null if there is none. */
  oldestAt(): number | null {
    this.#oldestAt ??= this.oldest(1)[0]?.at;
    return this.#oldestAt ?? null;
  }

  /** The oldest messages that are left, at most `limit`. */
  oldest(limit: number): OldMessage[] {
    const query = `select seq, doc ->> '$.createdAt' as createdAt, queued, status = 'QUEUED' as isWaiting
      from messages where seq > ? order by seq limit ?`;
    type Row = { seq: number; createdAt: string; queued: number; isWaiting: number };
    const rows = this.#messages.run<Row>(query, this.seq, limit);
    return rows.map(({ createdAt, ...row }) => ({ ...row, at: Date.parse(createdAt), isWaiting: row.isWaiting === 1 }));
  }

  /** Deletes the messages up to one, with everything that is stored of them, or none. */
  raise({ seq, at, queued }: Floor): void {
    const { kv } = this.#storage;
    const floor = { seq, at, queued };
    this.#tables.transaction(() => {
      const redactedQuery = "select seq from messages where seq > ? and seq <= ? and redacted_at is not null";
      const redacted = this.#messages.run<{ seq: number }>(redactedQuery, this.seq, seq);
      for (const row of redacted) {
        kv.delete(redactionKey(row.seq));
        kv.delete(unreportedKey(row.seq));
      }
      const fileQuery = `select doc ->> '$.id' as id, media from messages
        where seq > ? and seq <= ? and media ->> '$.fileId' is not null`;
      const files = this.#messages.run<{ id: string; media: string }>(fileQuery, this.seq, seq);
      for (const { id, media } of files) this.#endMedia(JSON.parse(media) as Media, id, Date.now());
      this.#messages.run("delete from messages where seq > ? and seq <= ?", this.seq, seq);
      kv.put("floor", floor);
    });
    this.#copy = floor;
    this.#oldestAt = undefined;
  }

  forget(): void {
    this.#copy = undefined;
    this.#oldestAt = undefined;
  }
}

/** Where the name of the request is stored that redacted a message. */
export function redactionKey(seq: number): string {
  return `redacted ${seq}`;
}

/** Set while the list of chats may not know of a message's redaction. */
export function unreportedKey(seq: number): string {
  return `unreported ${seq}`;
}
