import { and, asc, eq, getTableName, gt, type SQL } from "drizzle-orm";
import { Hono } from "hono/quick";
import { type Directory, directory } from "../db/client.ts";
import { channels, webhooks } from "../db/schema.ts";
import { noQuery } from "../http/validation.ts";
import { auditedInLog } from "../keys/audited.ts";
import type { AdminEnv } from "../keys/operator-guard.ts";
import { causeOf } from "../platform/log.ts";
import { open, type SealingKeys, seal, sealingKeys } from "../secrets/sealing.ts";
import { isAsReadWebhook } from "../webhooks/webhook-rows.ts";
import { isAsRead } from "./channels.ts";

const ROWS_PER_READ = 100;
/** This many failures in a row mean that the directory does not answer, and not that single rows fail. */
const MAX_FAILED = 10;

export interface Resealed {
  /** The number of channels and webhooks whose secrets are all sealed under the current key now. */
  resealed: number;
  /** The ids of channels and webhooks with a secret that no configured key opens. */
  unreadable: string[];
}

/** A table with sealed columns. */
interface SealedTable<Row> {
  table: typeof channels | typeof webhooks;
  /** The sealed fields, and the column that each is sealed for. */
  columns: Partial<Record<keyof Row, string>>;
  /** A condition: the sealed columns still have the values of `row`. */
  isAsRead: (row: Row) => SQL | undefined;
}

type SealedRow = { id: string };

const CHANNELS: SealedTable<typeof channels.$inferSelect> = {
  table: channels,
  columns: {
    credentials: "credentials",
    verifyToken: "verify_token",
    identitySecret: "identity_secret",
    identityPrevious: "identity_previous",
  },
  isAsRead,
};

const WEBHOOKS: SealedTable<typeof webhooks.$inferSelect> = {
  table: webhooks,
  columns: { secret: "secret", previousSecret: "previous_secret" },
  isAsRead: isAsReadWebhook,
};

/**
 * Reseals all secrets that don't open under the current key. A row is replaced only if it has not changed since it was
 * read, so channels and webhooks can be changed at the same time. A row that can't be written holds up no other one, but
 * the request fails then: repeat it, and it skips rows that are done. A row with a secret that no key opens is left alone.
 */
export async function resealAll(env: Env): Promise<Resealed> {
  const done: Resealed = { resealed: 0, unreadable: [] };
  const failed: unknown[] = [];
  await resealTable(env, CHANNELS, done, failed);
  await resealTable(env, WEBHOOKS, done, failed);
  if (failed.length > 0) throw failed[0];
  return done;
}

async function resealTable<Row extends SealedRow>(
  env: Env,
  sealed: SealedTable<Row>,
  done: Resealed,
  failed: unknown[],
): Promise<void> {
  const db = directory(env);
  const keys = sealingKeys(env);
  const { table } = sealed;
  let after = "";
  let failedInARow = 0;
  for (;;) {
    const rows = (await db
      .select()
      .from(table as typeof channels)
      .where(gt(table.id, after))
      .orderBy(asc(table.id))
      .limit(ROWS_PER_READ)) as unknown as Row[];
    for (const row of rows) {
      try {
        const outcome = await resealRow(db, keys, sealed, row);
        if (outcome === "resealed") done.resealed++;
        if (outcome === "unreadable") done.unreadable.push(row.id);
        failedInARow = 0;
      } catch (error) {
        failed.push(error);
        console.warn({
          event: "credential_not_resealed",
          table: getTableName(table),
          id: row.id,
          error: causeOf(error),
        });
        if (++failedInARow >= MAX_FAILED) throw error;
      }
    }
    const last = rows.at(-1);
    if (!last || rows.length < ROWS_PER_READ) return;
    after = last.id;
  }
}

/** Reseals one row. Reads it again if it changed in between. */
async function resealRow<Row extends SealedRow>(
  db: Directory,
  keys: SealingKeys,
  sealed: SealedTable<Row>,
  first: Row,
): Promise<"resealed" | "unreadable" | "gone"> {
  const table = sealed.table as typeof channels;
  let row: Row | undefined = first;
  while (row) {
    if (await opensUnder(keys.current, sealed, row)) return "resealed";
    const values = await reseal(keys, sealed, row);
    if (!values) return "unreadable";
    const written = await db
      .update(table)
      .set(values)
      .where(and(eq(table.id, row.id), sealed.isAsRead(row)))
      .returning({ id: table.id });
    if (written.length > 0) return "resealed";
    row = (await db.select().from(table).where(eq(table.id, row.id)).get()) as unknown as Row | undefined;
  }
  return "gone";
}

/** The sealed texts of a row by field, with their columns. Absent ones are left out. */
function sealedTexts<Row extends SealedRow>({ columns }: SealedTable<Row>, row: Row) {
  return Object.entries(columns).flatMap(([field, column]) => {
    const text = (row as Record<string, unknown>)[field];
    return typeof text === "string" ? [{ field, text, cell: { id: row.id, column: String(column) } }] : [];
  });
}

async function opensUnder<Row extends SealedRow>(
  current: SealingKeys["current"],
  sealed: SealedTable<Row>,
  row: Row,
): Promise<boolean> {
  try {
    for (const { cell, text } of sealedTexts(sealed, row)) await open({ current, previous: undefined }, cell, text);
    return true;
  } catch {
    return false;
  }
}

/** A row's sealed fields under the current key. Null if no key opens one of them. */
async function reseal<Row extends SealedRow>(
  keys: SealingKeys,
  sealed: SealedTable<Row>,
  row: Row,
): Promise<Record<string, string> | null> {
  try {
    const again = sealedTexts(sealed, row).map(async ({ field, cell, text }) => {
      return [field, await seal(keys, cell, await open(keys, cell, text))] as const;
    });
    return Object.fromEntries(await Promise.all(again));
  } catch (error) {
    const table = getTableName(sealed.table);
    console.error({ event: "credential_not_readable", table, id: row.id, error: causeOf(error) });
    return null;
  }
}

/** `POST /reseal`, for the operator. It belongs to no organization, so only the service's log has a line of it. */
export const resealRoutes = new Hono<AdminEnv>().post("/reseal", noQuery, auditedInLog("service.reseal"), async (c) => {
  return c.json(await resealAll(c.env));
});
