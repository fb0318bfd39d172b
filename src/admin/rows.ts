import { asc, eq, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Directory } from "../db/client.ts";
import { ApiError, type ErrorCode } from "../http/errors.ts";
import { type Pagination, pagination } from "../http/pagination.ts";

type ListedTable = SQLiteTable & { id: SQLiteColumn; createdAt: SQLiteColumn };

/** A page of a table's rows, oldest first, in one round trip. */
export async function listRows<T extends ListedTable>(
  db: Directory,
  table: T,
  where: SQL | undefined,
  { page, limit }: { page: number; limit: number },
): Promise<{ rows: T["$inferSelect"][]; pagination: Pagination }> {
  const listed: ListedTable = table;
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

/** The row of an id. @throws ApiError with `code` where there is none */
export async function rowOf<T extends SQLiteTable & { id: SQLiteColumn }>(
  db: Directory,
  table: T,
  id: string,
  code: ErrorCode,
): Promise<T["$inferSelect"]> {
  const listed: SQLiteTable & { id: SQLiteColumn } = table;
  const row = await db.select().from(listed).where(eq(listed.id, id)).get();
  if (!row) throw new ApiError(code);
  return row as T["$inferSelect"];
}
