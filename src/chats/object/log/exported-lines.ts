import type { ExportAsked } from "../../../model/chat-answers.ts";
import type { Notes } from "../notes.ts";
import type { ChatTables } from "./chat-tables.ts";
import { checkComplete } from "./integrity.ts";
import type { SeqBounds } from "./ranges.ts";

/** The most messages of one call, and about how many characters it returns. A call can return 32 MB. */
const MAX_MESSAGES = 500;
const MAX_CHARACTERS = 2_000_000;
const READ_AT_ONCE = 50;
/**
 * Where the next page continues: after the note with this number. It sorts after the ids of messages, which come first.
 */
const NOTE_PLACE = /^note_(\d+)$/;

/** A chat, as its export reads it. */
interface ExportedParts {
  log: { bounds(): SeqBounds };
  notes: Pick<Notes, "exportedLines">;
  tables: ChatTables;
}

/** Lines of JSON in UTF-8, and how to continue; see `ExportAnswer`. */
interface ExportedPage {
  lines: Uint8Array;
  seq: number;
  upTo: number | null;
  unplacedAfter: string;
}

/** `last`: where the next page continues. */
interface Lines {
  lines: string;
  last: string;
  isComplete: boolean;
}

/**
 * Messages of a chat as lines of JSON in UTF-8: at most 500 with a place and 500 without, and fewer if they are long.
 * First come the messages without a place: a message that gets its place meanwhile is not lost, because the export goes
 * up to the newest message when the last note was read. The notes come between the two. What is deleted meanwhile is left
 * out.
 */
export function exportedPage({ log, notes, tables }: ExportedParts, asked: ExportAsked): ExportedPage {
  const { floor, newest } = log.bounds();
  let lines = "";
  let { unplacedAfter } = asked;
  if (asked.upTo === null) {
    const before = linesBeforeMessages(tables, unplacedAfter, notes);
    ({ lines, last: unplacedAfter } = before);
    if (!before.isComplete) {
      return { lines: new TextEncoder().encode(lines), seq: asked.seq, upTo: null, unplacedAfter };
    }
  }
  const upTo = Math.min(asked.upTo ?? newest, newest);
  const placed = placedLines(tables, lines, Math.max(asked.seq, Math.min(floor, upTo)), upTo);
  return { lines: new TextEncoder().encode(placed.lines), seq: placed.last, upTo, unplacedAfter };
}

/** The messages without a place, and then the notes. */
function linesBeforeMessages(tables: ChatTables, after: string, notes: ExportedParts["notes"]): Lines {
  const noted = NOTE_PLACE.exec(after)?.[1];
  const withoutSeq =
    noted === undefined ? linesWithoutSeq(tables, after) : { lines: "", last: after, isComplete: true };
  if (!withoutSeq.isComplete) return withoutSeq;
  const { lines, last, isComplete } = notes.exportedLines(Number(noted ?? 0), MAX_CHARACTERS - withoutSeq.lines.length);
  return { lines: withoutSeq.lines + lines, last: `note_${last}`, isComplete };
}

/** Messages without a place, in the order of their ids: those that wait for their time, and those that ended before it. */
function linesWithoutSeq({ sql, scheduled, unplaced }: ChatTables, after: string): Lines {
  const sources = [
    ...(scheduled.exists ? ["select id, doc from scheduled"] : []),
    ...(unplaced.exists ? ["select id, doc from unplaced"] : []),
  ];
  if (sources.length === 0) return { lines: "", last: after, isComplete: true };
  let lines = "";
  let last = after;
  for (let read = 0; read < MAX_MESSAGES && lines.length < MAX_CHARACTERS; read += READ_AT_ONCE) {
    const query = `select id, doc from (${sources.join(" union all ")})
      where id > ? and json_valid(doc) order by id limit ?`;
    const rows = sql.exec<{ id: string; doc: string }>(query, last, READ_AT_ONCE).toArray();
    for (const { doc } of rows) lines += `{"type":"scheduled","message":${doc}}\n`;
    last = rows.at(-1)?.id ?? last;
    if (rows.length < READ_AT_ONCE) return { lines, last, isComplete: true };
  }
  return { lines, last, isComplete: false };
}

/** Messages after the seq `after` up to `upTo`, oldest first, behind the lines that the page has already. */
function placedLines(
  { messages }: ChatTables,
  before: string,
  after: number,
  upTo: number,
): { lines: string; last: number } {
  let lines = before;
  let last = after;
  const end = Math.min(upTo, after + MAX_MESSAGES);
  while (last < end && lines.length < MAX_CHARACTERS) {
    const high = Math.min(end, last + READ_AT_ONCE);
    const query = "select doc from messages where seq between ? and ? and json_valid(doc) order by seq";
    const rows = messages.run<{ doc: string }>(query, last + 1, high);
    checkComplete(rows.length, high - last);
    for (const { doc } of rows) lines += `{"type":"message","message":${doc}}\n`;
    last = high;
  }
  return { lines, last };
}
