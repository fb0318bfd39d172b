import type { Media } from "../../../model/chat-answers.ts";
import type { MessageWithoutSeq } from "../../../model/message.ts";
import type { ChatTables, LateTable } from "../log/chat-tables.ts";
import type { EndMedia } from "../log/floor.ts";
import { type RowWithoutSeq, rowWithoutSeq } from "./scheduled-rows.ts";

/** Stands for a redaction whose file's bytes may still be there: each further redaction is its repeat. */
export const UNANSWERED = "";

export interface EndedRow extends RowWithoutSeq {
  /** The name of the request that redacted it; null if it was not redacted. */
  redactedBy: string | null;
}

type EndedColumns = {
  doc: string;
  dedupe: string | null;
  fingerprint: string | null;
  template: string | null;
  media: string | null;
  redactedBy: string | null;
};

const COLUMNS = "doc, dedupe, fingerprint, template, media, redacted_by as redactedBy";

/** The messages that ended without a seq, in the table with the first name of these, `unplaced`. Read if it has any. */
export class EndedWithoutSeq {
  readonly #tables: ChatTables;
  readonly #endMedia: EndMedia;
  readonly #unplaced: LateTable;
  /** When the oldest one ended, Unix milliseconds; null if there is none, undefined if not read. */
  #oldestAt: number | null | undefined;

  /** @param endMedia called in the commit in which a message is removed with its media */
  constructor(tables: ChatTables, endMedia: EndMedia) {
    this.#tables = tables;
    this.#endMedia = endMedia;
    this.#unplaced = tables.unplaced;
  }

  /** When the oldest one ended, Unix milliseconds; null if there is none. */
  oldestAt(): number | null {
    if (this.#oldestAt === undefined) {
      const [row] = this.#unplaced.run<{ at: number }>("select ended_at as at from unplaced order by n limit 1");
      this.#oldestAt = row?.at ?? null;
    }
    return this.#oldestAt;
  }

  byId(id: string): EndedRow | null {
    return this.#where("id = ?", id);
  }

  byDedupe(dedupe: string): EndedRow | null {
    return this.#where("dedupe = ?", dedupe);
  }

  /** @param endedAt Unix milliseconds */
  insert({ message, dedupe, fingerprint, template, media, redactedBy }: EndedRow, endedAt: number): void {
    this.#unplaced.insert(
      `insert into unplaced (id, doc, dedupe, fingerprint, template, media, redacted_by, ended_at)
       values (?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[message.id, JSON.stringify(message), dedupe, fingerprint, template && JSON.stringify(template)],
      ...[media && JSON.stringify(media), redactedBy, endedAt],
    );
    this.#oldestAt = undefined;
  }

  /** Writes a blank message, and removes everything else that could reveal its text. */
  redact(message: MessageWithoutSeq, redactedBy: string): void {
    this.#unplaced.run(
      "update unplaced set doc = ?, fingerprint = null, template = null, media = null, redacted_by = ? where id = ?",
      ...[JSON.stringify(message), redactedBy, message.id],
    );
  }

  /** The bytes of a redacted message are gone: from now on, only requests of this name repeat its redaction. */
  redactionAnswered(id: string, call: string): void {
    this.#unplaced.run("update unplaced set redacted_by = ? where id = ? and redacted_by = ?", call, id, UNANSWERED);
  }

  /**
   * Removes the oldest ones, up to the first that `isKept`, a function of when it ended.
   * @param limit how many it removes at most
   * @returns whether it removed any
   */
  purge(isKept: (endedAt: number) => boolean, limit: number): boolean {
    let removed = 0;
    for (let at = this.oldestAt(); removed < limit && at !== null && !isKept(at); at = this.oldestAt()) {
      this.#removeOldest();
      this.#oldestAt = undefined;
      removed++;
    }
    return removed > 0;
  }

  /** A file that it showed goes with it, in one commit. */
  #removeOldest(): void {
    this.#tables.transaction(() => {
      const query = "select n, id, media from unplaced order by n limit 1";
      const [oldest] = this.#unplaced.run<{ n: number; id: string; media: string | null }>(query);
      if (!oldest) return;
      const { n, id, media } = oldest;
      if (media !== null) this.#endMedia(JSON.parse(media) as Media, id, Date.now());
      this.#unplaced.run("delete from unplaced where n = ?", n);
    });
  }

  /** A change failed, or the storage was deleted. */
  forget(): void {
    this.#oldestAt = undefined;
  }

  #where(condition: string, value: string): EndedRow | null {
    if (this.oldestAt() === null) return null;
    const [row] = this.#unplaced.run<EndedColumns>(`select ${COLUMNS} from unplaced where ${condition}`, value);
    return row ? { ...rowWithoutSeq(row), redactedBy: row.redactedBy } : null;
  }
}
