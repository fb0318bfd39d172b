import type { ChatTables, LateTable } from "./chat-tables.ts";

/** The changes of a message that a network may report too late. */
type Heard = "edit" | "reaction";

const COLUMNS = { edit: "edit_heard_at", reaction: "reaction_heard_at" } as const;

/**
 * When a contact last edited a message, or reacted to it, in a way that changed nothing: the text or the reaction was
 * the same. Without this, an older edit or reaction that comes later would count as the latest.
 */
export class HeardChanges {
  readonly #messages: LateTable;

  constructor(tables: ChatTables) {
    this.#messages = tables.messages;
  }

  /** Unix milliseconds; a number below all times if nothing was heard. */
  latest(seq: number, heard: Heard): number {
    const query = `select ${COLUMNS[heard]} as at from messages where seq = ?`;
    const [row] = this.#messages.run<{ at: number | null }>(query, seq);
    return row?.at ?? Number.NEGATIVE_INFINITY;
  }

  /** @param at Unix milliseconds */
  note(seq: number, heard: Heard, at: number): void {
    this.#messages.run(`update messages set ${COLUMNS[heard]} = ? where seq = ?`, at, seq);
  }
}
