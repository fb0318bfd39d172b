import type { LateTable } from "./chat-tables.ts";

const FIRST_READ = 10;
const MAX_READ = 1_000;

/**
 * Walks the messages from the newest back to the oldest, a few at first and then more at a time. Not one
 * cursor: while a cursor is open that is not read to its end, SQLite can't drop the table, and the chat can't be deleted.
 * @param columns SQL of the columns besides `seq`
 * @param upTo the seq of the first one
 */
export function* newestFirst<Row extends Record<string, SqlStorageValue>>(
  messages: LateTable,
  columns: string,
  upTo = Number.MAX_SAFE_INTEGER - 1,
): Generator<Row & { seq: number }> {
  let before = upTo + 1;
  for (let limit = FIRST_READ; ; limit = Math.min(MAX_READ, limit * 2)) {
    const query = `select seq, ${columns} from messages where seq < ? order by seq desc limit ?`;
    const rows = messages.run<Row & { seq: number }>(query, before, limit);
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < limit) return;
    before = last.seq;
  }
}
