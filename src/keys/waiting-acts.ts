/**
 * The rows of the audit log that wait in D1. An act that cuts off access does not wait for the log, which is in the
 * organization's object: its row is stored here, in the commit of the act, until the log has it.
 */
import { asc, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { callOrganization } from "../calls/call-organization.ts";
import { type Directory, directory } from "../db/client.ts";
import { waitingActs } from "../db/schema.ts";
import type { EndedAct, NewAct } from "../model/audit.ts";
import { ApiError } from "../model/error.ts";
import { SYSTEM_CLOCK } from "../platform/clock.ts";
import { settleEach } from "../platform/concurrency.ts";
import { inTime } from "../platform/deadline.ts";
import { causeOf } from "../platform/log.ts";

/** How many rows of an organization wait at most. Beyond them an act leaves only its line in the service's log. */
export const MAX_WAITING_ACTS = 1_000;
const TOLD_AT_ONCE = 100;
/** How long a response waits for the log. */
const PATIENCE_MS = 2_000;

/**
 * A statement that stores the row of an act, if the table has a row that the act changes. Put it into one batch with
 * the statement of the act, before that statement and with the same condition.
 */
export function keepAct(
  db: Directory,
  { organizationId, row }: { organizationId: string; row: NewAct },
  table: SQLiteTable,
  isChanged: SQL | undefined,
) {
  const ended: EndedAct = { ...row, status: 200 };
  const waiting = sql`(select count(*) from ${waitingActs} where ${waitingActs.organizationId} = ${organizationId})`;
  return db
    .insert(waitingActs)
    .select(
      db
        .select({
          id: sql`${row.id}`.as("id"),
          organizationId: sql`${organizationId}`.as("organization_id"),
          act: sql`${JSON.stringify(ended)}`.as("act"),
        })
        .from(table)
        .where(sql`${isChanged} and ${waiting} < ${MAX_WAITING_ACTS}`)
        .limit(1) as never,
    )
    .onConflictDoNothing();
}

/**
 * Sends the log an act that has ended, and those that wait. The response waits for this at most 2 seconds, so that a
 * log that hangs blocks nothing. Never throws.
 */
export async function tellAct(env: Env, organizationId: string, act: EndedAct): Promise<void> {
  await inTime(SYSTEM_CLOCK, PATIENCE_MS, tellActs(env, organizationId, [act]));
}

/** Sends an organization's log the entries that wait for it. Never throws: an entry that fails waits on. */
export function tellWaitingActs(env: Env, organizationId: string): Promise<void> {
  return tellActs(env, organizationId, []);
}

async function tellActs(env: Env, organizationId: string, ended: EndedAct[]): Promise<void> {
  try {
    const db = directory(env);
    // First, so that it gets the status of its response.
    if (ended.length > 0) await store(env, organizationId, ended);
    const rows = await db
      .select({ id: waitingActs.id, act: waitingActs.act })
      .from(waitingActs)
      .where(eq(waitingActs.organizationId, organizationId))
      .orderBy(asc(waitingActs.id))
      .limit(TOLD_AT_ONCE);
    if (rows.length === 0) return;
    const known = new Set(ended.map(({ id }) => id));
    const unreported = rows.filter(({ id }) => !known.has(id)).map(({ act }) => act as EndedAct);
    const refused = await storeEach(env, organizationId, unreported);
    const ids = JSON.stringify(rows.map(({ id }) => id).filter((id) => !refused.has(id)));
    await db.delete(waitingActs).where(inArray(waitingActs.id, sql`(select value from json_each(${ids}))`));
  } catch (error) {
    console.warn({ event: "audit_not_told", organizationId, error: causeOf(error) });
  }
}

/**
 * Stores acts, together if that succeeds. A row that the log refuses holds up no other, and waits on.
 * @returns the ids of those that it refused
 * @throws if the log does not answer
 */
async function storeEach(env: Env, organizationId: string, acts: EndedAct[]): Promise<Set<string>> {
  const refused = new Set<string>();
  if (acts.length === 0) return refused;
  try {
    await store(env, organizationId, acts);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    for (const { item, error: cause } of await settleEach(acts, (act) => store(env, organizationId, [act]))) {
      refused.add(item.id);
      console.error({ event: "audit_row_refused", organizationId, id: item.id, error: causeOf(cause) });
    }
  }
  return refused;
}

function store(env: Env, organizationId: string, acts: EndedAct[]): Promise<void> {
  return callOrganization(env, organizationId, (object) => object.storeActs(organizationId, acts));
}
