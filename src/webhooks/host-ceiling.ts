import { and, eq, ne, type SQL, sql } from "drizzle-orm";
import type { Directory } from "../db/client.ts";
import { webhooks } from "../db/schema.ts";
import { fault } from "../http/validation.ts";

type WebhookRow = typeof webhooks.$inferSelect;

/**
 * What an organization's webhooks may do to one host together: as much as one webhook with the highest settings, or ten
 * with the default ones. Each webhook's object keeps to its own part, so no call asks another object.
 */
export const HOST_CEILING = { perSecond: 500, concurrency: 200 } as const;

const UNITS = { perSecond: "calls per second", concurrency: "calls at a time" } as const;

/** A condition: with this row, the webhooks of its host keep to the ceiling. */
export function fitsHost(db: Directory, row: WebhookRow): SQL {
  const used = othersOf(db, row).as("others_of_host");
  const fits = db
    .select({ one: sql`1`.as("one") })
    .from(used)
    .where(
      and(
        sql`${used.perSecond} + ${row.perSecond} <= ${HOST_CEILING.perSecond}`,
        sql`${used.concurrency} + ${row.concurrency} <= ${HOST_CEILING.concurrency}`,
      ),
    );
  return sql`exists ${fits}`;
}

/** @throws ApiError `validation_failed` if with this row the webhooks of its host would not keep to the ceiling */
export async function checkHost(db: Directory, row: WebhookRow): Promise<void> {
  const used = await othersOf(db, row).get();
  for (const field of ["perSecond", "concurrency"] as const) {
    const left = HOST_CEILING[field] - (used?.[field] ?? 0);
    if (row[field] <= left) continue;
    const all = `all webhooks of ${new URL(row.url).host} together can make ${HOST_CEILING[field]} ${UNITS[field]}`;
    throw fault(
      field,
      left > 0
        ? `must be at most ${left}, because ${all}`
        : `has nothing left: ${all}. Lower that of another one first`,
    );
  }
}

/** Whether a change lets a webhook call its host more than before. */
export function callsHostMore(before: WebhookRow, row: WebhookRow): boolean {
  const isOtherHost = new URL(before.url).origin !== new URL(row.url).origin;
  return isOtherHost || row.perSecond > before.perSecond || row.concurrency > before.concurrency;
}

/** The sums of the organization's other webhooks with the same host. */
function othersOf(db: Directory, { id, organizationId, url }: WebhookRow) {
  // A normalized URL has a slash after its host.
  const begin = `${new URL(url).origin}/`;
  const isSameHost = sql`substr(${webhooks.url}, 1, ${begin.length}) = ${begin}`;
  return db
    .select({
      perSecond: sql<number>`coalesce(sum(${webhooks.perSecond}), 0)`.as("per_second_sum"),
      concurrency: sql<number>`coalesce(sum(${webhooks.concurrency}), 0)`.as("concurrency_sum"),
    })
    .from(webhooks)
    .where(and(eq(webhooks.organizationId, organizationId), ne(webhooks.id, id), isSameHost));
}
