import type { Mentions } from "../../model/note.ts";

/** What a chat's row has of its mentions. */
interface MentionedChat {
  id: string;
  /** `Mentions` as JSON; null if there are none. */
  mentions: string | null;
}

/** Which chats have notes that mention a member. The notes are in the chats: each reports its newest ones. */
export class MentionTable {
  readonly #sql: SqlStorage;
  readonly #onMention: (memberId: string) => void;

  /** @param onMention called when a member gets a row, in the commit */
  constructor(sql: SqlStorage, onMention: (memberId: string) => void) {
    this.#sql = sql;
    this.#onMention = onMention;
  }

  /**
   * A chat's notes mention these members now. Writes a row for each whose newest mention is another one, in the caller's
   * commit.
   * @param row the chat before
   * @param move the number of the chat's move
   * @returns what its row must have as `mentions`
   */
  store({ id: chatId, mentions }: MentionedChat, after: Mentions, move: number): string | null {
    const before = mentionsIn(mentions);
    const isSame = (memberId: string) => before[memberId]?.noteId === after[memberId]?.noteId;
    for (const [memberId, { at }] of Object.entries(before)) {
      const isIt = "member_id = ? and at = ? and chat_id = ?";
      if (!isSame(memberId)) this.#sql.exec(`delete from mentions where ${isIt}`, memberId, at, chatId);
    }
    for (const [memberId, { at }] of Object.entries(after)) {
      if (isSame(memberId)) continue;
      const insert = "insert into mentions (member_id, at, chat_id, move) values (?, ?, ?, ?)";
      this.#sql.exec(insert, memberId, at, chatId, move);
      this.#onMention(memberId);
    }
    return Object.keys(after).length > 0 ? JSON.stringify(after) : null;
  }
}

/** @param mentions the column of a chat's row */
export function mentionsIn(mentions: string | null): Mentions {
  return mentions === null ? {} : (JSON.parse(mentions) as Mentions);
}
