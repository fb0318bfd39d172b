import { folded } from "../../../model/folding.ts";
import type { Direction } from "../../../model/message.ts";
import type { IndexedMessage } from "../../../model/search-index.ts";
import type { ChatTables, LateTable } from "../log/chat-tables.ts";
import { SEARCHED } from "../log/searched-text.ts";

/** The messages of one step, and their characters. One message more may be longer than that. */
const MAX_MESSAGES = 100;
const MAX_TEXT = 20_000;
const MAX_CHANGES = 20;

type Row = { seq: number; createdAt: string; direction: Direction; text: string };

/** The messages of a chat as an index takes them, and which of them changed since it did. */
export class IndexedMessages {
  readonly #messages: LateTable;
  readonly #reworded: LateTable;

  constructor({ messages, reworded }: Pick<ChatTables, "messages" | "reworded">) {
    this.#messages = messages;
    this.#reworded = reworded;
  }

  /** The first messages of a range that say something. @returns them, and the seq up to which these are all */
  between(low: number, high: number): { put: IndexedMessage[]; upTo: number } {
    const rows = this.#read("seq between ? and ?", low, high);
    const step = withinStep(rows);
    const isAll = step.length === rows.length && rows.length < MAX_MESSAGES;
    return { put: indexed(step), upTo: isAll ? high : (step.at(-1)?.seq ?? high) };
  }

  /** Notes that a message has another text, or none, now. In the caller's commit. */
  noteChange(seq: number): void {
    this.#reworded.insert("insert into reworded (seq) values (?)", seq);
    // Its last change is enough. That one has the greatest `n`, so a call that is under way does not forget it.
    this.#reworded.run("delete from reworded where seq = ? and n < last_insert_rowid()", seq);
  }

  /** Whether messages up to a seq changed. */
  hasChanges(upTo: number): boolean {
    return this.#reworded.run("select 1 from reworded where seq <= ? limit 1", upTo).length > 0;
  }

  /**
   * The first messages up to a seq that changed.
   * @returns their seqs, those of them that have a text, and the last of the changes; 0 if there is none
   */
  changed(upTo: number): { seqs: number[]; put: IndexedMessage[]; last: number } {
    const query = "select n, seq from reworded where seq <= ? order by n limit ?";
    const changes = this.#reworded.run<{ n: number; seq: number }>(query, upTo, MAX_CHANGES);
    const seqs = [...new Set(changes.map(({ seq }) => seq))];
    const put = indexed(this.#read("seq in (select value from json_each(?))", JSON.stringify(seqs)));
    return { seqs, put, last: changes.at(-1)?.n ?? 0 };
  }

  /** Forgets the changes up to one, of messages up to a seq. */
  forgetChanges(last: number, upTo: number): void {
    this.#reworded.run("delete from reworded where n <= ? and seq <= ?", last, upTo);
  }

  forgetAllChanges(): void {
    this.#reworded.run("delete from reworded");
  }

  #read(where: string, ...values: SqlStorageValue[]): Row[] {
    const query = `select seq, doc ->> '$.createdAt' as createdAt, doc ->> '$.direction' as direction, ${SEARCHED} as text
      from messages where ${where} order by seq limit ?`;
    return this.#messages.run<Row>(query, ...values, MAX_MESSAGES);
  }
}

/** The first rows, up to the characters of a step. */
function withinStep(rows: Row[]): Row[] {
  let characters = 0;
  const end = rows.findIndex(({ text }) => {
    const isOver = characters >= MAX_TEXT;
    characters += text.length;
    return isOver;
  });
  return end < 0 ? rows : rows.slice(0, end);
}

function indexed(rows: Row[]): IndexedMessage[] {
  return rows.flatMap(({ seq, createdAt, direction, text }) =>
    text === "" ? [] : [{ seq, at: Date.parse(createdAt), direction, text: folded(text) }],
  );
}
