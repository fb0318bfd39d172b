import type { MemberCounts } from "../../chats/conversation-counts.ts";
import { type Counts, subtractCounts } from "../../platform/counts.ts";
import { addToHistory, type History } from "../history.ts";

/** What members did in the organization's chats, over time. */
export class MemberNumbers {
  readonly #sql: SqlStorage;
  readonly #onNew: (memberId: string) => void;

  /** @param onNew called when a member gets its row, in the commit */
  constructor(sql: SqlStorage, onNew: (memberId: string) => void) {
    this.#sql = sql;
    this.#onNew = onNew;
  }

  /** Adds what a chat says of members, beyond what it said `before`. Writes the rows of members whose counts grew. */
  count(members: MemberCounts, before: MemberCounts, now: number): void {
    for (const [id, counts] of Object.entries(members)) {
      const added = subtractCounts(counts, before[id] ?? {});
      if (Object.values(added).every((count) => count <= 0)) continue;
      const stored = this.#stored(id);
      if (stored === null) this.#onNew(id);
      this.#sql.exec(
        `insert into members (id, history) values (?, ?) on conflict (id) do update set history = excluded.history`,
        ...[id, addToHistory<string>(stored, added as Counts<string>, now)],
      );
    }
  }

  /** A member's history, by the time of the report; null if it has none. */
  history(id: string): History | null {
    const stored = this.#stored(id);
    return stored === null ? null : (JSON.parse(stored) as History);
  }

  remove(id: string): void {
    this.#sql.exec("delete from members where id = ?", id);
  }

  #stored(id: string): string | null {
    const [row] = this.#sql.exec<{ history: string }>("select history from members where id = ?", id).toArray();
    return row?.history ?? null;
  }
}
