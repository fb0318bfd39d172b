import { blockNetworks, clientBlock } from "../../http/client-network.ts";
import { MAX_UPLOADED } from "../../model/visitor.ts";
import type { DuePart } from "../../platform/object/due-work.ts";

const WINDOW_MS = 3_600_000;
/** How much later old rows are deleted, so that a busy channel rarely looks for them. */
const SLACK_MS = 600_000;
/** An upload that has not ended by then never will: its body has come in 5 minutes, or it was cut off. */
const UNDER_WAY_MS = 360_000;
/** A smaller file counts as this many bytes, and so does each try: each one costs rows and calls. */
const LEAST_BYTES = 65_536;

/** A visitor's upload. `id`: a repeated upload has the same one. */
export interface VisitorUpload {
  id: string;
  chatId: string;
  network: string;
  bytes: number;
}

/** Whether the bytes may come; if not, `retryAfter` is in seconds. */
export type UploadDecision = { ok: true } | { ok: false; retryAfter: number; limit: number; left: number };

/** The uploads that share a limit, as a condition on their rows. */
interface Sharing {
  limit: number;
  where: string;
  given: string[];
}

/** What the uploads of one minute count, and when the last of them was. */
type Minute = { bytes: number; tries: number; at: number };

/**
 * Limits what a channel's visitors upload: bytes that are stored or under way, and tries. Bytes that are not stored are
 * given back when the upload ends, or when it should have ended. Each upload is a row for an hour, as it has the
 * visitor's network, which can be an IP address.
 */
export class UploadLimit implements DuePart {
  readonly #sql: SqlStorage;
  /** When the oldest row was written, Unix milliseconds; null if there is none, undefined if not read. */
  #oldestAt: number | null | undefined;
  #hasTable = false;

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql;
  }

  /** Counts an upload that begins, unless a limit is reached. A repeated one counts what is new. @param now Unix milliseconds */
  begin({ id, chatId, network, bytes }: VisitorUpload, now: number): UploadDecision {
    this.#prepareTable();
    const since = now - WINDOW_MS;
    const [known] = this.#sql
      .exec<{ stored: number }>("select stored from uploads where chat_id = ? and id = ? and at > ?", chatId, id, since)
      .toArray();
    const size = Math.max(0, Math.max(LEAST_BYTES, bytes) - (known?.stored ?? 0));
    for (const sharing of sharingWith(chatId, network)) {
      const refusal = this.#refusal(sharing, size, now);
      if (refusal) return refusal;
    }
    this.#sql.exec(
      `insert into uploads (chat_id, id, network, stored, under_way, tries, at) values (?, ?, ?, 0, ?, 1, ?)
       on conflict do update set network = excluded.network, stored = iif(at > ?, stored, 0),
         under_way = max(under_way, excluded.under_way), tries = iif(at > ?, tries, 0) + 1, at = excluded.at`,
      chatId,
      id,
      network,
      size,
      now,
      since,
      since,
    );
    // The clock may have been set back.
    if (this.#oldestAt !== undefined) this.#oldestAt = Math.min(this.#oldestAt ?? now, now);
    return { ok: true };
  }

  /** An upload has ended. What it did not store is given back, and its try stays counted. */
  end({ id, chatId }: Pick<VisitorUpload, "id" | "chatId">, isStored: boolean): void {
    this.#prepareTable();
    const set = isStored ? "stored = stored + under_way, under_way = 0" : "under_way = 0";
    this.#sql.exec(`update uploads set ${set} where chat_id = ? and id = ?`, chatId, id);
  }

  /** When the oldest rows are deleted; null if there are none. */
  dueAt(): number | null {
    const oldestAt = this.#oldest();
    return oldestAt === null ? null : oldestAt + WINDOW_MS + SLACK_MS;
  }

  /** Deletes rows that no longer count. */
  run(now: number): void {
    if ((this.dueAt() ?? Number.POSITIVE_INFINITY) > now) return;
    // Rows with a future time are left if the clock was set back. They are deleted too.
    this.#sql.exec("delete from uploads where at <= ? or at > ?", now - WINDOW_MS, now);
    this.#oldestAt = undefined;
  }

  /** Call after all storage, including the table, was deleted. */
  forget(): void {
    this.#oldestAt = null;
    this.#hasTable = false;
  }

  /** Why no more bytes may come now of those who share a limit; null if they may. */
  #refusal({ limit, where, given }: Sharing, size: number, now: number): UploadDecision | null {
    const minutes = this.#sql
      .exec<Minute>(
        `select sum(stored + iif(at > ?, under_way, 0)) as bytes, sum(tries) as tries, max(at) as at from uploads
         where ${where} and at > ? and at <= ? group by at / 60000 order by at`,
        now - UNDER_WAY_MS,
        ...given,
        now - WINDOW_MS,
        now,
      )
      .toArray();
    const counts = [
      { used: minutes.map(({ bytes }) => bytes), size },
      { used: minutes.map(({ tries }) => tries * LEAST_BYTES), size: LEAST_BYTES },
    ];
    const ends = counts.map((count) => freeAfter(count.used, limit - count.size));
    const last = Math.max(...ends);
    if (last < 0) return null;
    const left = Math.min(...counts.map(({ used }) => limit - sum(used)));
    const freeAt = (minutes[last]?.at ?? now) + WINDOW_MS;
    return { ok: false, retryAfter: Math.max(1, Math.ceil((freeAt - now) / 1_000)), limit, left: Math.max(0, left) };
  }

  #oldest(): number | null {
    if (this.#oldestAt === undefined) {
      this.#oldestAt = this.#tableSql()
        ? this.#sql.exec<{ at: number | null }>("select min(at) as at from uploads").one().at
        : null;
    }
    return this.#oldestAt;
  }

  /** How the table was created; undefined if there is none. */
  #tableSql(): string | undefined {
    return this.#sql.exec<{ sql: string }>("select sql from sqlite_master where name = 'uploads'").toArray()[0]?.sql;
  }

  /** Creates the table with the first row, so that an object without uploads stores nothing. */
  #prepareTable(): void {
    if (this.#hasTable) return;
    const table = this.#tableSql();
    if (!table) {
      this.#sql.exec(
        `create table uploads (chat_id text not null, id text not null, network text not null, stored integer not null, under_way integer not null, tries integer not null, at integer not null, primary key (chat_id, id)) without rowid;
         create index uploads_by_network on uploads (network, at)`,
      );
    } else if (!table.includes("tries")) {
      this.#sql.exec(
        `alter table uploads rename column bytes to stored;
         alter table uploads add column under_way integer not null default 0;
         alter table uploads add column tries integer not null default 1`,
      );
    }
    this.#hasTable = true;
  }
}

/** Those who share a limit with an upload: its visitor, the network, its /48 and the channel. */
function sharingWith(chatId: string, network: string): Sharing[] {
  const block = clientBlock(network);
  return [
    { limit: MAX_UPLOADED.visitor, where: "chat_id = ?", given: [chatId] },
    { limit: MAX_UPLOADED.network, where: "network = ?", given: [network] },
    ...(block === null
      ? []
      : [
          {
            limit: MAX_UPLOADED.block,
            where: "network between ? and ? and length(network) = length(?)",
            given: [...blockNetworks(block), network],
          },
        ]),
    { limit: MAX_UPLOADED.channel, where: "true", given: [] },
  ];
}

/** The index of the last one that must go until the rest is at most `most`; -1 if it is already. */
function freeAfter(used: number[], most: number): number {
  let over = sum(used) - most;
  let last = -1;
  while (over > 0 && last < used.length - 1) over -= used[++last] ?? 0;
  return last;
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
