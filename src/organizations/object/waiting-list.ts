import type { ChatFilter, Waiting } from "../../model/organization.ts";
import { rangesOf, readRanges } from "./activity-ranges.ts";
import type { Place, Walk, WalkedPage } from "./chat-cursor.ts";
import { CHAT_COLUMNS, type ChatRow } from "./chat-row.ts";

/** The most rows of an index that one page reads. */
export const MAX_EXAMINED_CHATS = 10_000;
const READ_AT_ONCE = 1_000;
/** The most chats of a person that are sorted for a page. Those of a person with more are found among all chats. */
const MAX_SORTED = 1_000;

/** Which list it is. */
type Walked = Pick<ChatFilter, "waiting" | "assignee" | "state" | "person">;

/** The column that each list is sorted by, and the one with the number of the move that brought the chat to its place. */
const COLUMNS = {
  unanswered: { time: "unanswered_since", move: "unanswered_move" },
  scheduled: { time: "next_scheduled_at", move: "scheduled_move" },
} as const satisfies Record<Waiting, Record<"time" | "move", keyof ChatRow>>;

/** What an index has of a chat. */
type IndexRow = Place & {
  channel_id: string;
  assignee: string | null;
  work_state: string | null;
  person_id: string | null;
  move: number | null;
};

/**
 * The chats that wait for an answer, longest wait first, those with a scheduled message, soonest first, and those of a
 * member, of nobody, of a person or in a state, latest activity first.
 *
 * No walk has a chat twice. In the order of activity chats move only to the front, which a walk has passed. A chat that
 * waits can move to where a walk has yet to come: then the number of its move is greater than the last one when the walk
 * began, and it is left out.
 */
export class WaitingList {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /**
   * Reads a page. It examines at most 10,000 rows of the index, so it may have fewer than `limit` chats although more
   * follow.
   * @param channelIds only the chats of these channels
   * @param walk the walk that the page continues; null for the start
   * @param lastMove the number of the organization's last move
   */
  page(list: Walked, channelIds: string[], walk: Walk | null, limit: number, lastMove: number): WalkedPage<ChatRow> {
    const channels = new Set(channelIds);
    const found: Place[] = [];
    let hasNewer = walk?.hasNewer ?? false;
    let last = walk?.place ?? null;
    let isEnd = false;
    // Most pages need one read: no channel is filtered, and none is being deleted.
    for (let [count, examined] = [limit + 1, 0]; found.length <= limit && examined < MAX_EXAMINED_CHATS && !isEnd; ) {
      const read = Math.min(count, MAX_EXAMINED_CHATS - examined);
      const rows = this.#index(list, channelIds, last, read);
      const listed = rows.filter((row) => channels.has(row.channel_id) && isOf(row, list));
      const stayed = listed.filter(({ move }) => walk === null || (move ?? 0) <= walk.start);
      if (stayed.length < listed.length) hasNewer = true;
      found.push(...stayed);
      examined += rows.length;
      last = rows.at(-1) ?? last;
      isEnd = rows.length < read;
      count = READ_AT_ONCE;
    }
    const shown = found.slice(0, limit);
    // One by one: a query of all ids reads each row four times.
    const rows = shown.map(({ id }) =>
      this.#sql.exec<ChatRow>(`select ${CHAT_COLUMNS} from chats where id = ?`, id).one(),
    );
    const place = found.length > limit ? shown.at(-1) : isEnd ? null : last;
    const start = walk?.start ?? (list.waiting ? lastMove : (found[0] ?? place)?.at);
    return { rows, next: place && start !== undefined ? { place, start, hasNewer } : null, hasNewer };
  }

  /** Reads a page of the given chats. */
  pageOf(chats: ChatRow[], waiting: Waiting, walk: Walk | null, limit: number, lastMove: number): WalkedPage<ChatRow> {
    const { time, move } = COLUMNS[waiting];
    const start = walk?.start ?? lastMove;
    const following = chats
      .filter((row) => row[time] !== null && (walk === null || compare(placeOf(row, time), walk.place) > 0))
      .toSorted((one, other) => compare(placeOf(one, time), placeOf(other, time)));
    const stayed = following.filter((row) => (row[move] ?? 0) <= start);
    const hasNewer = walk?.hasNewer || stayed.length < following.length;
    const rows = stayed.slice(0, limit);
    const last = rows.at(-1);
    const next = stayed.length > limit && last ? { place: placeOf(last, time), start, hasNewer } : null;
    return { rows, next, hasNewer };
  }

  /** The next rows of the index that leads to the fewest others. */
  #index(list: Walked, channelIds: string[], after: Place | null, limit: number): IndexRow[] {
    const { waiting, assignee, state, person } = list;
    const isSorted = person !== undefined && this.#hasFewChats(person);
    // Who the person is, is in a chat's row alone.
    const who = person === undefined ? "null as person_id" : "person_id";
    if (!waiting && !isSorted && typeof assignee === "string") {
      const columns = `id, active_at as at, channel_id, assignee, work_state, ${who}, null as move`;
      return readRanges(this.#sql, columns, rangesOf("assignee", [assignee], state), after, limit);
    }
    if (!waiting && !isSorted && state !== undefined) {
      // Whose a chat is, is in its row alone.
      const whose = assignee === undefined ? "null as assignee" : "assignee";
      const columns = `id, active_at as at, channel_id, ${whose}, work_state, ${who}, null as move`;
      return readRanges(this.#sql, columns, rangesOf("channel_id", channelIds, state), after, limit);
    }
    // In the order of activity, a chat that moved is never met again.
    const { time, move } = waiting ? COLUMNS[waiting] : { time: "active_at", move: "null" };
    const [comes, order] = waiting ? [">", "asc"] : ["<", "desc"];
    // The index of scheduled chats does not say whose they are, and nobody asks.
    const whose = waiting === "scheduled" ? "null as assignee" : "assignee";
    const work = state === undefined ? "null as work_state" : "work_state";
    const query = `select id, ${time} as at, channel_id, ${whose}, ${work}, ${who}, ${move} as move
      from chats ${isSorted ? "indexed by chats_by_person where person_id = ? and" : "where"} ${time} is not null
      ${after ? `and (${time}, id) ${comes} (?, ?)` : ""} order by ${time} ${order}, id ${order} limit ?`;
    const values = [...(isSorted ? [person] : []), ...(after ? [after.at, after.id] : [])];
    return this.#sql.exec<IndexRow>(query, ...values, limit).toArray();
  }

  #hasFewChats(person: string): boolean {
    const query = "select count(*) as chats from (select 1 from chats where person_id = ? limit ?)";
    return this.#sql.exec<{ chats: number }>(query, person, MAX_SORTED + 1).one().chats <= MAX_SORTED;
  }
}

function isOf(row: IndexRow, { assignee, state, person }: Walked): boolean {
  return (
    (assignee === undefined || row.assignee === assignee) &&
    (state === undefined || row.work_state === state) &&
    (person === undefined || row.person_id === person)
  );
}

function placeOf(row: ChatRow, column: (typeof COLUMNS)[Waiting]["time"]): Place {
  return { at: row[column] ?? 0, id: row.id };
}

/** Compares places as SQLite does. */
function compare(one: Place, other: Place): number {
  return one.at - other.at || (one.id < other.id ? -1 : Number(one.id > other.id));
}
