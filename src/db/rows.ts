import { and, asc, eq, getTableColumns, isNull, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { fault } from "../http/validation.ts";
import { noOrganization, type Scope } from "../model/caller.ts";
import { ApiError, type ErrorCode } from "../model/error.ts";
import { type IdPrefix, isId } from "../model/id.ts";
import { type Pagination, pagination, type WalkPagination } from "../model/list-page.ts";
import { readListCursor, writeListCursor } from "../model/opaque.ts";
import type { Directory } from "./client.ts";
import { organizations } from "./schema.ts";

/** The table of organizations, or one whose rows belong to an organization. */
type ScopedTable = SQLiteTable & { id: SQLiteColumn; organizationId?: SQLiteColumn };
type ListedTable = ScopedTable & { createdAt: SQLiteColumn };

/** A condition: the row is in the scope. Undefined if all rows are. */
export function isWithin(table: ScopedTable, scope: Scope): SQL | undefined {
  return scope === "any" ? undefined : eq(table.organizationId ?? table.id, scope.organizationId);
}

/** A page of a table's rows in the scope that fit the filter, oldest first, in one round trip. */
export async function listRows<T extends ListedTable>(
  db: Directory,
  scope: Scope,
  table: T,
  { page, limit }: { page: number; limit: number },
  filter?: SQL,
): Promise<{ rows: T["$inferSelect"][]; pagination: Pagination }> {
  const listed: ListedTable = table;
  const where = and(isWithin(table, scope), filter);
  const [rows, [counted]] = await db.batch([
    db
      .select()
      .from(listed)
      .where(where)
      .orderBy(asc(listed.createdAt), asc(listed.id))
      .limit(limit)
      .offset((page - 1) * limit),
    db.select({ total: sql<number>`count(*)` }).from(listed).where(where),
  ]);
  return { rows: rows as T["$inferSelect"][], pagination: pagination({ page, limit, total: counted?.total ?? 0 }) };
}

/** A place in a list of rows, oldest first: behind this one. */
export interface RowPosition {
  createdAt: number;
  id: string;
}

/** The place before the first row. */
export const FROM_START: RowPosition = { createdAt: 0, id: "" };

/** An organization's rows behind a place, oldest first. A row that is created or deleted meanwhile moves no other. */
export async function rowsAfter<T extends ListedTable & { organizationId: SQLiteColumn }>(
  db: Directory,
  table: T,
  organizationId: string,
  { createdAt, id }: RowPosition,
  limit: number,
): Promise<T["$inferSelect"][]> {
  const listed: ListedTable & { organizationId: SQLiteColumn } = table;
  const isBehind = sql`(${listed.createdAt}, ${listed.id}) > (${createdAt}, ${id})`;
  const rows = await db
    .select()
    .from(listed)
    .where(and(eq(listed.organizationId, organizationId), isBehind))
    .orderBy(asc(listed.createdAt), asc(listed.id))
    .limit(limit);
  return rows as T["$inferSelect"][];
}

/**
 * A page of an organization's rows in one table, oldest first, behind a cursor of this list.
 * @param prefix of the rows' ids
 * @throws ApiError `validation_failed` for an unknown cursor; as `noOrganization`
 */
export async function walkOf<T extends ListedTable & { organizationId: SQLiteColumn }>(
  db: Directory,
  scope: Scope,
  table: T,
  prefix: IdPrefix,
  organizationId: string,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<{ rows: T["$inferSelect"][]; pagination: WalkPagination }> {
  if (scope === "any") await rowOf(db, scope, organizations, organizationId, noOrganization(scope));
  const place = after === undefined ? FROM_START : readRowCursor(organizationId, prefix, after);
  if (!place) throw fault("after", "is not a cursor of this list");
  const found = await rowsAfter(db, table, organizationId, place, limit + 1);
  const rows = found.slice(0, limit);
  const last = found.length > limit ? (rows.at(-1) as RowPosition | undefined) : undefined;
  const cursor = last ? writeListCursor(organizationId, [last.createdAt, last.id]) : null;
  return { rows, pagination: { limit, hasMore: cursor !== null, cursor } };
}

/** The place in a list: behind the row with this time and id, which may be gone by then. */
function readRowCursor(organizationId: string, prefix: IdPrefix, cursor: string): RowPosition | null {
  const [createdAt, id] = readListCursor(organizationId, cursor, 2);
  const isPlace = typeof id === "string" && isId(prefix, id) && Number.isSafeInteger(createdAt);
  return isPlace ? { createdAt: createdAt as number, id } : null;
}

/** A page of an organization's rows in one table, oldest first. @throws ApiError as `noOrganization` */
export async function listOf<T extends ListedTable & { organizationId: SQLiteColumn }>(
  db: Directory,
  scope: Scope,
  table: T,
  organizationId: string,
  query: { page: number; limit: number },
): Promise<{ rows: T["$inferSelect"][]; pagination: Pagination }> {
  await rowOf(db, scope, organizations, organizationId, noOrganization(scope));
  return listRows(db, { organizationId }, table, query);
}

/**
 * The row with an id. A row outside the scope is not found, as if it did not exist.
 * @throws ApiError with `code` if it doesn't exist
 */
export async function rowOf<T extends ScopedTable>(
  db: Directory,
  scope: Scope,
  table: T,
  id: string,
  code: ErrorCode,
): Promise<T["$inferSelect"]> {
  const listed: ScopedTable = table;
  const row = await db
    .select()
    .from(listed)
    .where(and(eq(listed.id, id), isWithin(listed, scope)))
    .get();
  if (!row) throw new ApiError(code);
  return row as T["$inferSelect"];
}

/**
 * Inserts a row of an organization, unless the organization is being deleted. One statement checks and inserts, so an
 * deletion can't start in between.
 * @throws ApiError as `noOrganization`
 */
export async function insertIfActive<T extends SQLiteTable & { organizationId: SQLiteColumn }>(
  db: Directory,
  scope: Scope,
  table: T,
  row: T["$inferSelect"] & { organizationId: string },
): Promise<void> {
  if (!(await insertIf(db, table, row))) throw new ApiError(noOrganization(scope));
}

/**
 * Inserts a row of an organization if `condition` is true and the organization is not being deleted, in one statement.
 * @returns whether it inserted the row
 */
export async function insertIf<T extends SQLiteTable & { organizationId: SQLiteColumn }>(
  db: Directory,
  table: T,
  row: T["$inferSelect"] & { organizationId: string },
  condition?: SQL,
): Promise<boolean> {
  const inserted = await insertion(db, table, row, condition).returning({ organizationId: table.organizationId });
  return inserted.length > 0;
}

/** The statement of `insertIf`, for a batch. */
export function insertion<T extends SQLiteTable & { organizationId: SQLiteColumn }>(
  db: Directory,
  table: T,
  row: T["$inferSelect"] & { organizationId: string },
  condition?: SQL,
) {
  const values = Object.entries(getTableColumns(table)).map(([field, column]) => [
    field,
    sql`${sql.param((row as Record<string, unknown>)[field], column)}`.as(column.name),
  ]);
  return db.insert(table).select(
    db
      .select(Object.fromEntries(values))
      .from(organizations)
      .where(and(eq(organizations.id, row.organizationId), isNull(organizations.erasingAt), condition)) as never,
  );
}
