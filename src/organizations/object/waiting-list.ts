import { isId } from "../../model/id.ts";
import { readOpaque, writeOpaque } from "../../model/opaque.ts";
import type { ChatFilter, Waiting } from "../../model/organization.ts";
import { CHAT_COLUMNS, type ChatRow } from "./chat-table.ts";

/** The most rows of an index that one page reads. */
const MAX_EXAMINED = 10_000;
const READ_AT_ONCE = 1_000;

/** A place in a list: after the chat with this time and id. */
type Place = { at: number; id: string };

/** Which list it is. */
type Walked = Pick<ChatFilter, "waiting" | "assignee">;

/** The column that each list is sorted by. */
const TIME = { unanswered: "unanswered_since", scheduled: "next_scheduled_at" } as const satisfies Record<
  Waiting,
  keyof ChatRow
>;

/** What an index has of a chat. */
type IndexRow = Place & { channel_id: string; assignee: string | null };

/** A page, and the place that it ends at; null if nothing follows. */
interface Page {
  rows: ChatRow[];
  next: Place | null;
}

/**
 * The chats that wait for an answer, longest wait first, those with a scheduled message, soonest first, and those of a
 * member or of nobody, latest activity first.
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
   * @param after null for the start
   */
  page(list: Walked, channelIds: string[], after: Place | null, limit: number): Page {
    const channels = new Set(channelIds);
    const found: Place[] = [];
    let last = after;
    let examined = 0;
    // Most pages need one read: no channel is filtered, and none is being deleted.
    for (let count = limit + 1; found.length <= limit && examined < MAX_EXAMINED; count = READ_AT_ONCE) {
      const read = Math.min(count, MAX_EXAMINED - examined);
      const rows = this.#index(list, last, read);
      found.push(...rows.filter((row) => channels.has(row.channel_id) && isOf(row, list)));
      examined += rows.length;
      last = rows.at(-1) ?? last;
      if (rows.length < read) return this.#page(found, limit, null);
    }
    return this.#page(found, limit, last);
  }

  /** Reads a page of the given chats. */
  pageOf(chats: ChatRow[], waiting: Waiting, after: Place | null, limit: number): Page {
    const column = TIME[waiting];
    const rows = chats
      .filter((row) => row[column] !== null)
      .toSorted((one, other) => compare(placeOf(one, column), placeOf(other, column)))
      .filter((row) => after === null || compare(placeOf(row, column), after) > 0);
    const last = rows[limit - 1];
    return {
      rows: rows.slice(0, limit),
      next: rows.length > limit && last ? placeOf(last, column) : null,
    };
  }

  /** @param end where the search ended; null if nothing follows */
  #page(found: Place[], limit: number, end: Place | null): Page {
    const shown = found.slice(0, limit);
    // One by one: a query of all ids reads each row four times.
    const rows = shown.map(({ id }) =>
      this.#sql.exec<ChatRow>(`select ${CHAT_COLUMNS} from chats where id = ?`, id).one(),
    );
    return { rows, next: found.length > limit ? (shown.at(-1) ?? null) : end };
  }

  /** Only the chats of a member have an index. The others are found among all chats, or among those that wait. */
  #index({ waiting, assignee }: Walked, after: Place | null, limit: number): IndexRow[] {
    const column = waiting ? TIME[waiting] : "active_at";
    const [comes, order] = waiting ? [">", "asc"] : ["<", "desc"];
    const member = waiting ? null : (assignee ?? null);
    // The index of scheduled chats does not say whose they are, and nobody asks.
    const whose = waiting === "scheduled" ? "null as assignee" : "assignee";
    const query = `select id, ${column} as at, channel_id, ${whose} from chats
      where ${column} is not null ${member === null ? "" : "and assignee = ?"}
      ${after ? `and (${column}, id) ${comes} (?, ?)` : ""} order by ${column} ${order}, id ${order} limit ?`;
    const values = [...(member === null ? [] : [member]), ...(after ? [after.at, after.id] : [])];
    return this.#sql.exec<IndexRow>(query, ...values, limit).toArray();
  }
}

/**
 * A place as the cursor that the API shows. It has the time, because the chat may no longer wait when the next page is
 * read.
 */
export function printPlace(organizationId: string, list: Walked, { at, id }: Place): string {
  return writeOpaque([organizationId, nameOf(list), at, id]);
}

/** Reads a cursor; null if it is not one, or not one of this organization's list. */
export function parsePlace(organizationId: string, list: Walked, cursor: string): Place | null {
  const [owner, name, at, id] = readOpaque(cursor, 4);
  const isOurs = owner === organizationId && name === nameOf(list);
  return isOurs && typeof at === "number" && typeof id === "string" && isId("cht", id) ? { at, id } : null;
}

function isOf(row: IndexRow, { assignee }: Walked): boolean {
  return assignee === undefined || row.assignee === assignee;
}

function nameOf({ waiting, assignee }: Walked): string {
  const name = waiting ?? "all";
  return assignee === undefined ? name : `${name} of ${assignee ?? "none"}`;
}

function placeOf(row: ChatRow, column: (typeof TIME)[Waiting]): Place {
  return { at: row[column] ?? 0, id: row.id };
}

/** Compares places as SQLite does. */
function compare(one: Place, other: Place): number {
  return one.at - other.at || (one.id < other.id ? -1 : Number(one.id > other.id));
}
