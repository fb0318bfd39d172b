import type { Candidate, CandidatesAnswer, CandidatesAsked } from "../../model/search-index.ts";
import type { GramTable, GramTables } from "./gram-tables.ts";
import { firstIdOf, lastIdOf, secondOf, secondOfId } from "./places.ts";
import { queryOf } from "./words.ts";

type Found = Candidate & { id: number };

/** The times that a page can have, Unix milliseconds, and how many candidates it needs. */
interface Range {
  from: number;
  to: number;
  count: number;
}

/** Pages of the messages that may contain what is searched. */
export class CandidatePages {
  readonly #sql: SqlStorage;
  readonly #grams: GramTables;
  readonly #isReady: () => boolean;

  /** @param isReady false after the index was erased */
  constructor(sql: SqlStorage, grams: GramTables, isReady: () => boolean) {
    this.#sql = sql;
    this.#grams = grams;
    this.#isReady = isReady;
  }

  /**
   * Reads a page. The times of the tables overlap if messages came late, so all tables are read that can have one of its
   * candidates. Other calls come in between.
   */
  async read(asked: CandidatesAsked): Promise<CandidatesAnswer> {
    const { since, until, before, limit } = asked;
    const range: Range = {
      from: since ?? Number.NEGATIVE_INFINITY,
      to: Math.min(until ?? Number.POSITIVE_INFINITY, before?.at ?? Number.POSITIVE_INFINITY),
      // One more than the page has shows that there are others.
      count: limit + 1,
    };
    let found: Candidate[] = [];
    for (const table of this.#grams.inUse.toSorted((a, b) => b.high - a.high)) {
      const last = found[limit];
      // What is before the last one that is needed can't be on the page.
      if (last) range.from = Math.max(range.from, last.at);
      if (secondOfId(table.high) < secondOf(range.from)) continue;
      const more = await this.#readTable(table, asked, range);
      if (!this.#isReady()) return { candidates: [], hasMore: false };
      found = [...found, ...more].sort(newestFirst).slice(0, range.count);
    }
    return { candidates: found.slice(0, limit), hasMore: found.length > limit };
  }

  /** The newest candidates in a table: `range.count` or more, unless it has fewer. */
  async #readTable(table: GramTable, asked: CandidatesAsked, { from, to, count }: Range): Promise<Candidate[]> {
    const { before } = asked;
    const query = queryOf(asked);
    const least = Math.max(table.low, firstIdOf(secondOf(from)));
    let most = Math.min(table.high, lastIdOf(secondOf(to) + table.shift));
    const all: Candidate[] = [];
    const accept = (found: Found[]) => {
      for (const { at, chatId, seq } of found) {
        const candidate = { at, chatId, seq };
        const isBehind = before === null || newestFirst(before, candidate) < 0;
        if (at >= from && at <= to && isBehind) all.push(candidate);
      }
    };
    // It can lose its last message, and be dropped, while other calls come in between.
    while (most >= least && this.#grams.isInUse(table.number)) {
      const newest = this.#find(table, [query, least, most, count]);
      accept(newest);
      const lowest = newest.reduce((id, found) => Math.min(id, found.id), most);
      const isEnd = newest.length < count;
      const first = Math.max(least, firstIdOf(secondOfId(lowest)));
      // Within a second, ids have no order.
      if (!isEnd && first < lowest) accept(this.#find(table, [query, first, lowest - 1, -1]));
      // An id may be of a later second than its message: one of those below can be newer.
      const complete = isEnd ? all : all.filter(({ at }) => secondOf(at) >= secondOfId(first));
      await scheduler.wait(0);
      if (isEnd || complete.length >= count || !this.#isReady()) return complete;
      most = first - 1;
    }
    return all;
  }

  #find(table: GramTable, values: [query: string, low: number, high: number, limit: number]): Found[] {
    const query = `select found.id, at, chats.id as chatId, seq from (${this.#grams.idsIn(table)}) as found
      join messages on messages.id = found.id join chats on chats.number = messages.chat`;
    return this.#sql.exec<Found & Record<string, SqlStorageValue>>(query, ...values).toArray();
  }
}

/** The order of candidates, see `CandidatesAsked`. */
function newestFirst(a: Candidate, b: Candidate): number {
  if (a.at !== b.at) return b.at - a.at;
  if (a.chatId !== b.chatId) return a.chatId < b.chatId ? 1 : -1;
  return b.seq - a.seq;
}
