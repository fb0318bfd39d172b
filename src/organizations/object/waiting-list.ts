import type { ChatFilter, Waiting } from "../../model/organization.ts";
import { type ActivityRange, type Condition, rangesOf, readRanges } from "./activity-ranges.ts";
import type { ChannelTable } from "./channel-table.ts";
import type { Place, Walk, WalkedPage } from "./chat-cursor.ts";
import { CHAT_COLUMNS, type ChatRow, handlerIn } from "./chat-row.ts";
import type { LabelTable } from "./label-table.ts";

/** The most rows of an index that one page examines. */
export const MAX_EXAMINED_CHATS = 10_000;
/** A page that is not full examines this many times as many rows with its next read. */
const GROWTH = 24;
const READ_AT_ONCE = 1_000;
/**
 * The chats of a label, of a person or of contacts who opted out are all read and sorted if they are no more than this.
 * Otherwise the list is read to find them.
 */
const MAX_SORTED_CHATS = 1_000;

/** Which list it is. */
type Walked = Pick<
  ChatFilter,
  "waiting" | "assignee" | "state" | "handler" | "person" | "label" | "optedOut" | "mentioned"
>;

/** The columns of a list's order, and the one with the number of the move that brought the chat to its place. */
interface Order {
  time: string;
  id: string;
  move: string;
  isAscending: boolean;
}

const WAITING = {
  unanswered: { time: "unanswered_since", id: "id", move: "unanswered_move", isAscending: true },
  scheduled: { time: "next_scheduled_at", id: "id", move: "scheduled_move", isAscending: true },
} as const satisfies Record<Waiting, Order & Record<"time" | "move", keyof ChatRow>>;

/** In the order of activity, a chat that moved is never met again. */
const ACTIVITY: Order = { time: "active_at", id: "id", move: "null", isAscending: false };

/**
 * The chats in which a member is mentioned. A chat moves back if its newest mention is deleted. The id is that of the
 * table of mentions, whose rows need no sorting then.
 */
const MENTIONED: Order = { time: "mentions.at", id: "chat_id", move: "mentions.move", isAscending: false };

/** The filter that few chats meet: they are all read. */
type SortedBy = "label" | "person" | "optedOut" | "mentioned";

/** As the index `chats_opted_out` has it. */
const OPTED_OUT = "marketing ->> '$.optedOut'";

/** A cross join reads the first table first. */
const SORTED = {
  label: { table: "chat_labels cross join chats on id = chat_id", is: "label_id = ?" },
  person: { table: "chats indexed by chats_by_person", is: "person_id = ?" },
  optedOut: { table: "chats indexed by chats_opted_out", is: OPTED_OUT },
  mentioned: { table: "mentions cross join chats on id = chat_id", is: "member_id = ?" },
} as const satisfies Record<SortedBy, object>;

/** How the chats of a list are found, and what else must hold of those that are. */
interface Source {
  /** Null for the chats of the ranges. `of`: which of its rows are found. */
  table: { sql: string; of: Condition[]; order: Order } | null;
  ranges: ActivityRange[];
  where: Condition[];
  /** Whether many rows can be examined to find a few. */
  isSparse: boolean;
}

/** A part of a list. */
interface Part {
  after: Place | null;
  /** The last row that is examined; null for the end of the list. */
  upTo: Place | null;
  limit: number;
  offset?: number;
}

/** What is read to choose a chat. */
type IndexRow = Place & {
  channel_id: string;
  bot: number | null;
  move: number | null;
};

/**
 * The chats that wait for an answer, longest wait first, those with a scheduled message, soonest first, those of a
 * member, of nobody, of a person, in a state, of a handler, with a label or whose contact opted out, latest activity
 * first, and those in which a member is mentioned, newest mention first.
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
   * @param walk the walk that the page continues, or begins
   */
  page(list: Walked, channelIds: string[], walk: Walk<Place | null>, limit: number): WalkedPage<ChatRow> {
    const channels = new Set(channelIds);
    const source = this.#sourceOf(list, channelIds);
    const found: Place[] = [];
    const { start, place: from } = walk;
    let { hasNewer, place: last } = walk;
    let isEnd = false;
    let [count, window, examined] = [limit + 1, limit + 1, 0];
    while (found.length <= limit && examined < MAX_EXAMINED_CHATS && !isEnd) {
      const upTo = source.isSparse ? this.#placeAfter(source, last, window) : null;
      const rows = this.#read(source, { after: last, upTo, limit: count });
      const selected = rows.filter((row) => channels.has(row.channel_id) && this.#isOf(row, list));
      const stayed = selected.filter(({ move }) => from === null || (move ?? 0) <= start);
      if (stayed.length < selected.length) hasNewer = true;
      found.push(...stayed);
      const isCut = rows.length === count;
      isEnd = !isCut && upTo === null;
      last = (isCut ? null : upTo) ?? rows.at(-1) ?? last;
      examined += source.isSparse ? window : rows.length;
      window = Math.min(window * GROWTH, MAX_EXAMINED_CHATS - examined);
      count = Math.min(READ_AT_ONCE, MAX_EXAMINED_CHATS - examined);
    }
    const shown = found.slice(0, limit);
    // One by one: a query of all ids reads each row four times.
    const rows = shown.map(({ id }) =>
      this.#sql.exec<ChatRow>(`select ${CHAT_COLUMNS} from chats where id = ?`, id).one(),
    );
    const place = found.length > limit ? shown.at(-1) : isEnd ? null : last;
    return { rows, next: place ? { place, start, hasNewer } : null, hasNewer };
  }

  /** Whether chats came to another place of the list by mentions since a walk began, of the 1,000 newest. */
  hasMoved(list: Walked, channelIds: string[], start: number): boolean {
    const channels = new Set(channelIds);
    const source = this.#sourceOf(list, channelIds);
    const upTo = this.#placeAfter(source, null, MAX_SORTED_CHATS);
    const rows = this.#read(source, { after: null, upTo, limit: MAX_SORTED_CHATS });
    return rows.some((row) => (row.move ?? 0) > start && channels.has(row.channel_id) && this.#isOf(row, list));
  }

  #isOf(row: IndexRow, { handler }: Walked): boolean {
    const channel = this.#channels.get(row.channel_id);
    return handler === undefined || (channel !== undefined && handlerIn(row, channel) === handler);
  }

  /** Reads a page of the given chats. */
  pageOf(chats: ChatRow[], waiting: Waiting, walk: Walk | null, limit: number, lastMove: number): WalkedPage<ChatRow> {
    const { time, move } = WAITING[waiting];
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

  #sourceOf(list: Walked, channelIds: string[]): Source {
    const { waiting, assignee, state } = list;
    const order = waiting ? WAITING[waiting] : ACTIVITY;
    const sorted = this.#sortedBy(list);
    if (sorted) {
      const { table, is } = SORTED[sorted];
      const value = list[sorted];
      const of = [{ sql: is, values: typeof value === "string" ? [value] : [] }];
      const where = conditionsOf({ ...list, [sorted]: undefined });
      const isMentioned = sorted === "mentioned";
      const found = { sql: table, of, order: isMentioned ? MENTIONED : order };
      // A member can be mentioned in many chats.
      return { table: found, ranges: [], where, isSparse: isMentioned && where.length > 0 };
    }
    if (!waiting && (typeof assignee === "string" || state !== undefined)) {
      const isOfMember = typeof assignee === "string";
      const where = conditionsOf({ ...list, state: undefined, ...(isOfMember && { assignee: undefined }) });
      const ranges = isOfMember ? rangesOf("assignee", [assignee], state) : rangesOf("channel_id", channelIds, state);
      return { table: null, ranges, where, isSparse: where.length > 0 };
    }
    const where = conditionsOf(list);
    const sql = `chats indexed by chats_${waiting ?? "by_activity"}`;
    return { table: { sql, of: [], order }, ranges: [], where, isSparse: where.length > 0 };
  }

  /**
   * The filter that few chats meet. A label, a person and an opt-out are in no index with a time: each message would write
   * it.
   */
  #sortedBy({ label, person, optedOut, mentioned }: Walked): SortedBy | null {
    if (mentioned !== undefined) return "mentioned";
    if (label !== undefined && (this.#labels.find(label)?.chats ?? 0) <= MAX_SORTED_CHATS) return "label";
    if (person !== undefined && this.#hasFewChats("person", person)) return "person";
    return optedOut && this.#hasFewChats("optedOut") ? "optedOut" : null;
  }

  #hasFewChats(sorted: "person" | "optedOut", ...values: string[]): boolean {
    const { table, is } = SORTED[sorted];
    const query = `select count(*) as chats from (select 1 from ${table} where ${is} limit ?)`;
    return this.#sql.exec<{ chats: number }>(query, ...values, MAX_SORTED_CHATS + 1).one().chats <= MAX_SORTED_CHATS;
  }

  /** The place of the nth row behind another, whether or not the conditions hold of it; null if there are fewer. */
  #placeAfter(source: Source, after: Place | null, n: number): Place | null {
    const part = { after, upTo: null, limit: 1, offset: n - 1 };
    return this.#read({ ...source, where: [] }, part)[0] ?? null;
  }

  /** The next rows of which the conditions hold. */
  #read({ table, ranges, where }: Source, { after, upTo, limit, offset = 0 }: Part): IndexRow[] {
    if (!table) {
      const columns = "id, active_at as at, channel_id, bot, null as move";
      return readRanges(this.#sql, columns, ranges, { after, upTo, where }, limit, offset);
    }
    const { time, id, move, isAscending } = table.order;
    const [behind, until, sort] = isAscending ? [">", "<=", "asc"] : ["<", ">=", "desc"];
    const all = [
      { sql: `${time} is not null`, values: [] },
      ...table.of,
      ...where,
      ...(after ? [{ sql: `(${time}, ${id}) ${behind} (?, ?)`, values: [after.at, after.id] }] : []),
      ...(upTo ? [{ sql: `(${time}, ${id}) ${until} (?, ?)`, values: [upTo.at, upTo.id] }] : []),
    ];
    // The index of scheduled chats does not say who has them, and nobody asks.
    const bot = time === WAITING.scheduled.time ? "null" : "bot";
    const query = `select id, ${time} as at, channel_id, ${bot} as bot, ${move} as move from ${table.sql}
      where ${all.map(({ sql }) => sql).join(" and ")} order by ${time} ${sort}, ${id} ${sort} limit ? offset ?`;
    return this.#sql.exec<IndexRow>(query, ...all.flatMap(({ values }) => values), limit, offset).toArray();
  }
}

/** What must hold of a chat besides its channel and its handler. */
function conditionsOf({ assignee, state, person, label, optedOut }: Walked): Condition[] {
  const labeled = "exists (select 1 from chat_labels where label_id = ? and chat_id = chats.id)";
  return [
    ...(assignee === null ? [{ sql: "assignee is null", values: [] }] : []),
    ...(typeof assignee === "string" ? [{ sql: "assignee = ?", values: [assignee] }] : []),
    ...(state === undefined ? [] : [{ sql: "work_state = ?", values: [state] }]),
    ...(person === undefined ? [] : [{ sql: "person_id = ?", values: [person] }]),
    ...(label === undefined ? [] : [{ sql: labeled, values: [label] }]),
    ...(optedOut ? [{ sql: OPTED_OUT, values: [] }] : []),
  ];
}

function placeOf(row: ChatRow, column: (typeof WAITING)[Waiting]["time"]): Place {
  return { at: row[column] ?? 0, id: row.id };
}

/** Compares places as SQLite does. */
function compare(one: Place, other: Place): number {
  return one.at - other.at || (one.id < other.id ? -1 : Number(one.id > other.id));
}
