import { checkComplete } from "./integrity.ts";

/** The most messages of one call, and about how many characters it returns. A call can return 32 MB. */
const MAX_MESSAGES = 500;
const MAX_CHARACTERS = 2_000_000;
const READ_AT_ONCE = 50;

/**
 * Messages after the seq `after` up to `upTo`, oldest first, as lines of JSON in UTF-8. At most 500, and fewer if they
 * are long.
 * @returns `seq`: that of the last one; `after` if there are none
 */
export function exportedLines(sql: SqlStorage, after: number, upTo: number): { lines: Uint8Array; seq: number } {
  let lines = "";
  let last = after;
  const end = Math.min(upTo, after + MAX_MESSAGES);
  while (last < end && lines.length < MAX_CHARACTERS) {
    const high = Math.min(end, last + READ_AT_ONCE);
    const rows = sql
      .exec<{ doc: string }>(
        "select doc from messages where seq between ? and ? and json_valid(doc) order by seq",
        last + 1,
        high,
      )
      .toArray();
    checkComplete(rows.length, high - last);
    for (const { doc } of rows) lines += `{"type":"message","message":${doc}}\n`;
    last = high;
  }
  return { lines: new TextEncoder().encode(lines), seq: last };
}
