import { WORK_STATES, type WorkState } from "../../model/work-state.ts";
import type { Place } from "./chat-cursor.ts";

/** SQLite's limit on the terms of a compound SELECT in the platform's objects. */
const MAX_MERGED = 5;
const READ_AT_ONCE = 50;
const INDEXES = { channel_id: "chats_by_channel", assignee: "chats_by_assignee" } as const;

/**
 * Chats in one state, of a channel or of a member. An index has their order of activity, and no other chat lies between
 * them.
 */
export interface ActivityRange {
  column: "channel_id" | "assignee";
  value: string;
  state: WorkState;
}

/** @param state undefined for all states */
export function rangesOf(
  column: ActivityRange["column"],
  values: string[],
  state: WorkState | undefined,
): ActivityRange[] {
  const states = state === undefined ? WORK_STATES : [state];
  return values.flatMap((value) => states.map((each) => ({ column, value, state: each })));
}

/** A query of rows in the order of activity. */
export interface Select {
  query: string;
  values: (string | number)[];
}

/** Which chats of some ranges are read. */
export interface Selection {
  /** Only those behind this place. */
  after: Place | null;
  /** Only those up to this place; absent for all. */
  upTo?: Place | null;
  /** What else must hold, as it follows `where`. */
  where?: Condition[];
}

export interface Condition {
  sql: string;
  values: (string | number)[];
}

/**
 * The query of the chats of some ranges, latest activity first: SQLite merges them, because the index has the order of
 * each. Null if there are too many.
 * @param columns what it selects; `id` and `at` order it
 */
export function unionOf(
  columns: string,
  ranges: ActivityRange[],
  selection: Selection,
  limit: number,
  offset = 0,
): Select | null {
  if (ranges.length > MAX_MERGED) return null;
  const where = conditionsOf(selection);
  const parts = ranges.map(
    ({ column, state }) => `select ${columns} from chats indexed by ${INDEXES[column]} where active_at is not null
      and ${column} = ? and work_state = '${state}'${where.sql}`,
  );
  return {
    query: `${parts.join(" union all ")} order by at desc, id desc limit ? offset ?`,
    values: [...ranges.flatMap(({ value }) => [value, ...where.values]), limit, offset],
  };
}

function conditionsOf({ after, upTo = null, where = [] }: Selection): Condition {
  const places = [
    ...(after === null ? [] : [{ sql: "(active_at, id) < (?, ?)", values: [after.at, after.id] }]),
    ...(upTo === null ? [] : [{ sql: "(active_at, id) >= (?, ?)", values: [upTo.at, upTo.id] }]),
  ];
  const all = [...places, ...where];
  return { sql: all.map(({ sql }) => ` and ${sql}`).join(""), values: all.flatMap(({ values }) => values) };
}

/**
 * Reads the chats of some ranges, latest activity first. Each range is read only as far as it is needed.
 * @param offset how many are left out first
 */
export function readRanges<Row extends Place>(
  sql: SqlStorage,
  columns: string,
  ranges: ActivityRange[],
  selection: Selection,
  limit: number,
  offset = 0,
): Row[] {
  if (ranges.length === 0) return [];
  const union = unionOf(columns, ranges, selection, limit, offset);
  if (union) return sql.exec<Row & Record<string, SqlStorageValue>>(union.query, ...union.values).toArray();
  const heads = ranges.map((range) => {
    const rows = walk<Row>(sql, columns, range, selection);
    return { rows, row: rows.next().value };
  });
  const found: Row[] = [];
  while (found.length < offset + limit) {
    const first = heads.reduce((best, head) => (isBefore(head.row, best.row) ? head : best));
    if (!first.row) break;
    found.push(first.row);
    first.row = first.rows.next().value;
  }
  return found.slice(offset);
}

/**
 * The chats of a range, a few at a time. Not one cursor: while one is open that is not read to its end, SQLite can't drop
 * a table.
 */
function* walk<Row extends Place>(
  sql: SqlStorage,
  columns: string,
  range: ActivityRange,
  selection: Selection,
): Generator<Row, undefined> {
  for (let last = selection.after; ; ) {
    const rows = readRanges<Row>(sql, columns, [range], { ...selection, after: last }, READ_AT_ONCE);
    yield* rows;
    last = rows.at(-1) ?? null;
    if (rows.length < READ_AT_ONCE) return;
  }
}

/** Whether a row is listed before another. Undefined comes last. */
export function isBefore(row: Place | undefined, other: Place | undefined): boolean {
  if (!row || !other) return row !== undefined;
  return row.at > other.at || (row.at === other.at && row.id > other.id);
}
