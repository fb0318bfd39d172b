import type { ChatFilter, Waiting } from "../../model/organization.ts";
import { rangesOf, readRanges } from "./activity-ranges.ts";
import type { ChannelTable } from "./channel-table.ts";
import type { Place, Walk, WalkedPage } from "./chat-cursor.ts";
import { CHAT_COLUMNS, type ChatRow, handlerIn } from "./chat-row.ts";
import type { LabelTable } from "./label-table.ts";

/** The most rows of an index that one page reads. */
export const MAX_EXAMINED_CHATS = 10_000;
const READ_AT_ONCE = 1_000;
/** The chats of a label or of a person are all read and sorted if they are no more than this. Otherwise the list is read to find them. */
const MAX_SORTED_CHATS = 1_000;

/** Which list it is. */
type Walked = Pick<ChatFilter, "waiting" | "assignee" | "state" | "handler" | "person" | "label" | "mentioned">;

/** The column that each list is sorted by, and the one with the number of the move that brought the chat to its place. */
const COLUMNS = {
  unanswered: { time: "unanswered_since", move: "unanswered_move" },
  scheduled: { time: "next_scheduled_at", move: "scheduled_move" },
} as const satisfies Record<Waiting, Record<"time" | "move", keyof ChatRow>>;

/** In the order of activity, a chat that moved is never met again. */
const ACTIVITY = { time: "active_at", move: "null" };

/** The chats in which a member is mentioned. A chat moves back if its newest mention is deleted. */
const MENTIONED = { time: "mentions.at", move: "mentions.move" };

/** The filter by which the chats are found. */
type SortedBy = "label" | "person" | "mentioned";

/** What an index has of a chat. */
type IndexRow = Place & {
  channel_id: string;
  assignee: string | null;
  work_state: string | null;
  bot: number | null;
  person_id: string | null;
  move: number | null;
};

/**
 * The chats that wait for an answer, longest wait first, those with a scheduled message, soonest first, those of a
 * member, of nobody, of a person, in a state, of a handler or with a label, latest activity first, and those in which a member is
 * mentioned, newest mention first.
 *
 * No walk has a chat twice. In the order of activity chats move only to the front, which a walk has passed. Another chat
 * can move to where a walk has yet to come: then the number of its move is greater than the last one when the walk
 * began, and it is left out.
 */
export class WaitingList {
  readonly #sql: SqlStorage;
  readonly #channels: Pick<ChannelTable, "get">;
  readonly #labels: LabelTable;

  constructor(sql: SqlStorage, channels: Pick<ChannelTable, "get">, labels: LabelTable) {
    this.#sql = sql;
    this.#channels = channels;
    this.#labels = labels;
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
    const { label } = list;
    const sorted = this.#sortedBy(list);
    const found: Place[] = [];
    let hasNewer = walk?.hasNewer ?? false;
    let last = walk?.place ?? null;
    let isEnd = false;
    // Most pages need one read: no channel is filtered, and none is being deleted.
    for (let [count, examined] = [limit + 1, 0]; found.length <= limit && examined < MAX_EXAMINED_CHATS && !isEnd; ) {
      const read = Math.min(count, MAX_EXAMINED_CHATS - examined);
      const rows = sorted ? this.#sorted(sorted, list, last, read) : this.#index(list, channelIds, last, read);
      const selected = rows.filter((row) => channels.has(row.channel_id) && this.#isOf(row, list));
      const listed = label === undefined || sorted === "label" ? selected : this.#labeled(label, selected);
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
    const isByMove = list.waiting !== undefined || list.mentioned !== undefined;
    const start = walk?.start ?? (isByMove ? lastMove : (found[0] ?? place)?.at);
    return { rows, next: place && start !== undefined ? { place, start, hasNewer } : null, hasNewer };
  }

  /** Whether chats came to another place of the list by mentions since a walk began, of the 1,000 newest. */
  hasMoved(list: Walked, channelIds: string[], start: number): boolean {
    const channels = new Set(channelIds);
    const rows = this.#sorted("mentioned", list, null, MAX_SORTED_CHATS);
    const moved = rows.filter(
      (row) => (row.move ?? 0) > start && channels.has(row.channel_id) && this.#isOf(row, list),
    );
    return (list.label === undefined ? moved : this.#labeled(list.label, moved)).length > 0;
  }

  #isOf(row: IndexRow, { assignee, state, handler, person }: Walked): boolean {
    const channel = this.#channels.get(row.channel_id);
    return (
      (assignee === undefined || row.assignee === assignee) &&
      (state === undefined || row.work_state === state) &&
      (handler === undefined || (channel !== undefined && handlerIn(row, channel) === handler)) &&
      (person === undefined || row.person_id === person)
    );
  }

  #labeled(label: string, rows: IndexRow[]): IndexRow[] {
    const ids = rows.map(({ id }) => id);
    const found = this.#labels.chatsWith(label, ids);
    return rows.filter(({ id }) => found.has(id));
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

  /** The filter that few chats meet. A label and a person are in no index with a time: each message would write it. */
  #sortedBy({ label, person, mentioned }: Walked): SortedBy | null {
    if (mentioned !== undefined) return "mentioned";
    if (label !== undefined && (this.#labels.find(label)?.chats ?? 0) <= MAX_SORTED_CHATS) return "label";
    return person !== undefined && this.#hasFewChats(person) ? "person" : null;
  }

  #hasFewChats(person: string): boolean {
    const query = "select count(*) as chats from (select 1 from chats where person_id = ? limit ?)";
    return this.#sql.exec<{ chats: number }>(query, person, MAX_SORTED_CHATS + 1).one().chats <= MAX_SORTED_CHATS;
  }

  /** The next chats of a label or of a person, or in which a member is mentioned. */
  #sorted(by: SortedBy, list: Walked, after: Place | null, limit: number): IndexRow[] {
    const { time, move } = by === "mentioned" ? MENTIONED : list.waiting ? COLUMNS[list.waiting] : ACTIVITY;
    // The order of its table, whose rows need no sorting then.
    const id = by === "mentioned" ? "chat_id" : "id";
    const [comes, order] = list.waiting ? [">", "asc"] : ["<", "desc"];
    // A cross join reads the label's chats first.
    const from = {
      label: "chat_labels cross join chats on id = chat_id where label_id = ?",
      person: "chats indexed by chats_by_person where person_id = ?",
      mentioned: "mentions cross join chats on id = chat_id where member_id = ?",
    }[by];
    const query = `select id, ${time} as at, channel_id, assignee, work_state, bot, person_id, ${move} as move from ${from}
      and ${time} is not null ${after ? `and (${time}, ${id}) ${comes} (?, ?)` : ""}
      order by ${time} ${order}, ${id} ${order} limit ?`;
    return this.#sql.exec<IndexRow>(query, list[by], ...(after ? [after.at, after.id] : []), limit).toArray();
  }

  /** The next rows of the index that leads to the fewest others. */
  #index(list: Walked, channelIds: string[], after: Place | null, limit: number): IndexRow[] {
    const { waiting, assignee, state, person } = list;
    // Who the person is, is in a chat's row alone.
    const who = person === undefined ? "null as person_id" : "person_id";
    if (!waiting && typeof assignee === "string") {
      const columns = `id, active_at as at, channel_id, assignee, work_state, bot, ${who}, null as move`;
      return readRanges(this.#sql, columns, rangesOf("assignee", [assignee], state), after, limit);
    }
    if (!waiting && state !== undefined) {
      // Whose a chat is, is in its row alone.
      const whose = assignee === undefined ? "null as assignee" : "assignee";
      const columns = `id, active_at as at, channel_id, ${whose}, work_state, bot, ${who}, null as move`;
      return readRanges(this.#sql, columns, rangesOf("channel_id", channelIds, state), after, limit);
    }
    const { time, move } = waiting ? COLUMNS[waiting] : ACTIVITY;
    const [comes, order] = waiting ? [">", "asc"] : ["<", "desc"];
    // The index of scheduled chats does not say whose they are, and nobody asks.
    const whose = waiting === "scheduled" ? "null as assignee" : "assignee";
    const work = state === undefined ? "null as work_state" : "work_state";
    // The index of scheduled chats does not say who has them.
    const bot = waiting === "scheduled" ? "null as bot" : "bot";
    const query = `select id, ${time} as at, channel_id, ${whose}, ${work}, ${bot}, ${who}, ${move} as move from chats
      where ${time} is not null ${after ? `and (${time}, id) ${comes} (?, ?)` : ""}
      order by ${time} ${order}, id ${order} limit ?`;
    return this.#sql.exec<IndexRow>(query, ...(after ? [after.at, after.id] : []), limit).toArray();
  }
}

function placeOf(row: ChatRow, column: (typeof COLUMNS)[Waiting]["time"]): Place {
  return { at: row[column] ?? 0, id: row.id };
}

/** Compares places as SQLite does. */
function compare(one: Place, other: Place): number {
  return one.at - other.at || (one.id < other.id ? -1 : Number(one.id > other.id));
}
