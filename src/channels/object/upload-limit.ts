import { blockNetworks, clientBlock } from "../../http/client-network.ts";
import { MAX_UPLOADED } from "../../model/visitor.ts";
import { isRecent } from "../../platform/clock.ts";
import type { DuePart } from "../../platform/object/due-work.ts";

const WINDOW_MS = 3_600_000;
/** How much later old rows are deleted, so that a busy channel rarely looks for them. */
const SLACK_MS = 600_000;
/** An upload that has not ended by then never will: its body has come in 5 minutes, or it was cut off. */
const UNDER_WAY_MS = 360_000;
/** For how long the channel's sums are kept: reading them reads each row of the hour. */
const CHANNEL_HELD_MS = 60_000;
/** A smaller file counts as this many bytes, and so does each try: each one costs rows and calls. */
export const LEAST_BYTES = 65_536;

/** What a row counts. Its parameter is the time since which an upload can still be under way. */
const COUNTED = "max(stored, iif(at > ?, under_way, 0))";

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

/** What the uploads of one minute count: with those under way, and those that are stored alone. `at`: the last of them. */
type Minute = { bytes: number; stored: number; tries: number; at: number };

/**
 * Limits what a channel's visitors upload: bytes that are stored or under way, and tries. Bytes that are not stored are
 * given back when the upload ends, or when it should have ended. Tries of a network with the same id store one file, so
 * they count the longest of them. Each id is a row for an hour, as it has the network, which can be an IP address.
 */
export class UploadLimit implements DuePart {
  readonly #sql: SqlStorage;
  /** When the oldest row was written, Unix milliseconds; null if there is none, undefined if not read. */
  #oldestAt: number | null | undefined;
  #hasTable = false;
  /** The minutes of the whole channel, which can have many rows, and when they were read. */
  #ofChannel: { minutes: Minute[]; readAt: number } | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql;
  }

  /** Counts an upload that begins, unless a limit is reached. A repeated one counts what is new. @param now Unix milliseconds */
  begin({ id: uploadId, chatId, network, bytes }: VisitorUpload, now: number): UploadDecision {
    this.#prepareTable();
    const id = rowId(uploadId, network);
    const [since, openSince] = [now - WINDOW_MS, now - UNDER_WAY_MS];
    const query = `select ${COUNTED} as counted from visitor_uploads where chat_id = ? and id = ? and at > ?`;
    const [known] = this.#sql.exec<{ counted: number }>(query, openSince, chatId, id, since).toArray();
    const whole = Math.max(LEAST_BYTES, bytes);
    const size = Math.max(0, whole - (known?.counted ?? 0));
    for (const { limit, where, given } of sharingWith(chatId, network)) {
      const refusal = refusalOf(this.#minutes(now, where, given), limit, size, now);
      if (refusal) return refusal;
    }
    const ofChannel = this.#minutesOfChannel(now);
    const refusal = refusalOf(ofChannel, MAX_UPLOADED.channel, size, now);
    if (refusal) return refusal;
    this.#sql.exec(
      `insert into visitor_uploads (chat_id, id, network, stored, under_way, open, tries, at) values (?, ?, ?, 0, ?, 1, 1, ?)
       on conflict do update set stored = iif(at > ?, stored, 0),
         under_way = max(excluded.under_way, iif(at > ?, under_way, 0)), open = 1 + iif(at > ?, open, 0),
         tries = 1 + iif(at > ?, tries, 0), at = excluded.at`,
      ...[chatId, id, network, whole, now],
      ...[since, openSince, openSince, since],
    );
    ofChannel.push({ bytes: size, stored: 0, tries: 1, at: now });
    // The clock may have been set back.
    if (this.#oldestAt !== undefined) this.#oldestAt = Math.min(this.#oldestAt ?? now, now);
    return { ok: true };
  }

  /** An upload has ended. If it stored nothing, its bytes are given back, and its try stays counted. */
  end({ id, chatId, network, bytes }: VisitorUpload, isStored: boolean, now: number): void {
    if (!this.#hasTable && !this.#tables().includes("visitor_uploads")) return;
    const stored = isStored ? Math.max(LEAST_BYTES, bytes) : 0;
    this.#ofChannel?.minutes.push({ bytes: 0, stored, tries: 0, at: now });
    this.#sql.exec(
      `update visitor_uploads set stored = max(stored, ?), under_way = iif(open <= 1, 0, under_way), open = max(0, open - 1)
       where chat_id = ? and id = ?`,
      ...[stored, chatId, rowId(id, network)],
    );
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
    this.#sql.exec("delete from visitor_uploads where at <= ? or at > ?", now - WINDOW_MS, now);
    this.#oldestAt = undefined;
    this.#ofChannel = undefined;
  }

  /** Call after all storage, including the table, was deleted. */
  forget(): void {
    this.#oldestAt = null;
    this.#hasTable = false;
    this.#ofChannel = undefined;
  }

  /** What uploads count in each minute, oldest first. */
  #minutes(now: number, where: string, given: string[]): Minute[] {
    const query = `select sum(${COUNTED}) as bytes, sum(stored) as stored, sum(tries) as tries, max(at) as at
      from visitor_uploads where ${where} and at > ? and at <= ? group by at / 60000 order by at`;
    return this.#sql.exec<Minute>(query, now - UNDER_WAY_MS, ...given, now - WINDOW_MS, now).toArray();
  }

  #minutesOfChannel(now: number): Minute[] {
    if (!this.#ofChannel || !isRecent(this.#ofChannel.readAt, CHANNEL_HELD_MS, now)) {
      this.#ofChannel = { minutes: this.#minutes(now, "true", []), readAt: now };
    }
    return this.#ofChannel.minutes;
  }

  #oldest(): number | null {
    if (this.#oldestAt === undefined) {
      const hasRows = this.#tables().length > 0;
      if (hasRows) this.#prepareTable();
      this.#oldestAt = hasRows
        ? this.#sql.exec<{ at: number | null }>("select min(at) as at from visitor_uploads").one().at
        : null;
    }
    return this.#oldestAt;
  }

  #tables(): string[] {
    const names = "select name from sqlite_master where name in ('uploads', 'visitor_uploads')";
    return this.#sql
      .exec<{ name: string }>(names)
      .toArray()
      .map(({ name }) => name);
  }

  /**
   * Creates the table with the first row, so that an object without uploads stores nothing. The table of an earlier
   * version is copied and dropped: that version would make its own again.
   */
  #prepareTable(): void {
    if (this.#hasTable) return;
    const tables = this.#tables();
    if (!tables.includes("visitor_uploads")) {
      this.#sql.exec(
        `create table visitor_uploads (chat_id text not null, id text not null, network text not null, stored integer not null, under_way integer not null, open integer not null, tries integer not null, at integer not null, primary key (chat_id, id)) without rowid;
         create index visitor_uploads_by_network on visitor_uploads (network, at)`,
      );
    }
    if (tables.includes("uploads")) {
      this.#sql.exec(
        `insert or ignore into visitor_uploads select chat_id, id, network, bytes, 0, 0, 1, at from uploads;
         drop table uploads`,
      );
    }
    this.#hasTable = true;
  }
}

/**
 * What identifies a row in its chat. Each network counts what it sends: a repeat from another one must not take away what
 * the first one has used.
 */
function rowId(uploadId: string, network: string): string {
  return `${uploadId} ${network}`;
}

/** Why no more bytes may come now of those who share a limit; null if they may. */
function refusalOf(minutes: Minute[], limit: number, size: number, now: number): UploadDecision | null {
  const counted = minutes.map(({ bytes }) => bytes);
  const tries = minutes.map((each) => each.tries * LEAST_BYTES);
  const isFull = sum(counted) + size > limit || sum(tries) + LEAST_BYTES > limit;
  if (!isFull) return null;
  // If the stored ones alone leave room, the others will have ended soon.
  const stored = minutes.map((each) => each.stored);
  const last = Math.max(freeAfter(stored, limit - size), freeAfter(tries, limit - LEAST_BYTES));
  const freeAt = last < 0 ? (minutes.at(-1)?.at ?? now) + UNDER_WAY_MS : (minutes[last]?.at ?? now) + WINDOW_MS;
  const left = limit - Math.max(sum(counted), sum(tries));
  return { ok: false, retryAfter: Math.max(1, Math.ceil((freeAt - now) / 1_000)), limit, left: Math.max(0, left) };
}

/** Those who share a limit with an upload: its visitor, the network and its /48. */
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
