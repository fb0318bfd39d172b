import type { MemberCounts } from "../../model/conversation-counts.ts";
import { type Counts, subtractCounts } from "../../model/counts.ts";
import { addToHistory, type History } from "../../model/history.ts";
import type { AssignedChats } from "../../model/organization.ts";

/** Whose chat it is, and since when its contact waits for an answer. */
interface Assignment {
  assignee: string | null;
  unanswered_since: number | null;
}

/** How the numbers of members change. */
interface MemberChanges {
  /** What a chat says of members, and what it said before. */
  counts: MemberCounts;
  countsBefore: MemberCounts;
  /** The chat as it was and as it is; null if it is deleted. */
  before: Assignment;
  after: Assignment | null;
}

type MemberRow = Omit<AssignedChats, "id"> & { history: string };

const NO_CHATS = { chats: 0, unanswered: 0 };
const NO_HISTORY = JSON.stringify({ hour: {}, day: {} } satisfies History);

/** How many chats are the members', and what they did in the organization's chats, over time. */
export class MemberNumbers {
  readonly #sql: SqlStorage;
  readonly #onNew: (memberId: string) => void;

  /** @param onNew called when a member gets its row, in the commit */
  constructor(sql: SqlStorage, onNew: (memberId: string) => void) {
    this.#sql = sql;
    this.#onNew = onNew;
  }

  /** Adds what changed in a chat. Writes only the rows of members for whom something did, each once. */
  change({ counts, countsBefore, before, after }: MemberChanges, now: number): void {
    const moved = movedChats(before, after);
    for (const id of new Set([...Object.keys(counts), ...Object.keys(moved)])) {
      const added = subtractCounts(counts[id] ?? {}, countsBefore[id] ?? {}) as Counts<string>;
      const { chats, unanswered } = moved[id] ?? NO_CHATS;
      if (chats === 0 && unanswered === 0 && Object.values(added).every((count = 0) => count <= 0)) continue;
      const stored = this.#stored(id);
      // A member that was removed long ago gets no new row when its last chat is unassigned.
      if (!stored && chats < 0) continue;
      if (!stored) this.#onNew(id);
      const history = addToHistory<string>(stored?.history ?? null, added, now) ?? NO_HISTORY;
      this.#sql.exec(
        `insert into members (id, history, chats, unanswered) values (?, ?, ?, ?) on conflict (id) do update set
           history = excluded.history, chats = chats + excluded.chats, unanswered = unanswered + excluded.unanswered`,
        ...[id, history, chats, unanswered],
      );
    }
  }

  /** How many chats the given members have. A member that never had one may be left out. */
  numbers(ids: string[]): AssignedChats[] {
    const query = "select id, chats, unanswered from members where id in (select value from json_each(?))";
    return this.#sql.exec<AssignedChats>(query, JSON.stringify(ids)).toArray();
  }

  /** A member's history, by the time of the report; null if it has none. */
  history(id: string): History | null {
    const stored = this.#stored(id);
    return stored ? (JSON.parse(stored.history) as History) : null;
  }

  remove(id: string): void {
    this.#sql.exec("delete from members where id = ?", id);
  }

  #stored(id: string): MemberRow | undefined {
    const query = "select history, chats, unanswered from members where id = ?";
    return this.#sql.exec<MemberRow>(query, id).toArray()[0];
  }
}

/** How many more chats each member has, and how many more that wait. */
function movedChats(before: Assignment, after: Assignment | null): Record<string, typeof NO_CHATS> {
  const moved: Record<string, typeof NO_CHATS> = {};
  const add = (by: 1 | -1, { assignee, unanswered_since }: Assignment) => {
    if (assignee === null) return;
    const { chats, unanswered } = moved[assignee] ?? NO_CHATS;
    moved[assignee] = { chats: chats + by, unanswered: unanswered + (unanswered_since === null ? 0 : by) };
  };
  add(-1, before);
  if (after) add(1, after);
  return moved;
}
