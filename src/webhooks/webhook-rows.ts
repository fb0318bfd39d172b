import { and, count, eq, isNull, ne, notExists, type SQL, sql } from "drizzle-orm";
import { type Directory, directory } from "../db/client.ts";
import { retryOnConflict } from "../db/retry-on-conflict.ts";
import { rowOf } from "../db/rows.ts";
import { channels, webhooks } from "../db/schema.ts";
import { fault } from "../http/validation.ts";
import { lastingAuthority } from "../keys/key-authority.ts";
import type { Actor, Scope } from "../model/caller.ts";
import { ApiError } from "../model/error.ts";
import { isId } from "../model/id.ts";
import { callsHostMore, checkHost, fitsHost } from "./host-ceiling.ts";

export type WebhookRow = typeof webhooks.$inferSelect;

/** On whose behalf a request acts. */
export interface WebhookScope {
  scope: Scope;
  actor: Actor;
  /** The hosts of this service, which no webhook may call. */
  ownHosts: readonly string[];
}

export const MAX_WEBHOOKS = 10;

/**
 * A webhook's row. Another organization's webhook is not found, as if there were none.
 * @throws ApiError `webhook_not_found`
 */
export async function findWebhook(env: Env, { scope }: WebhookScope, id: string): Promise<WebhookRow> {
  if (!isId("whk", id)) throw new ApiError("webhook_not_found");
  return rowOf(directory(env), scope, webhooks, id, "webhook_not_found");
}

/** A webhook that is not being deleted. @throws ApiError `webhook_not_found` */
export async function findActiveWebhook(env: Env, scope: WebhookScope, id: string): Promise<WebhookRow> {
  const row = await findWebhook(env, scope, id);
  if (row.erasingAt !== null) throw new ApiError("webhook_not_found");
  return row;
}

/**
 * Updates a webhook with the values that `change` returns for its current row. If another request updates the row in
 * between, it reads the row and calls `change` again, so that no update is lost.
 * @throws ApiError `webhook_not_found`; `permission_denied` if a key with an end or an allow-list changes where the events
 *   go, or the secret
 */
export async function updateWebhook(
  env: Env,
  scope: WebhookScope,
  id: string,
  change: (before: WebhookRow) => Promise<Partial<WebhookRow>>,
): Promise<WebhookRow> {
  const db = directory(env);
  return retryOnConflict(id, async () => {
    const before = await findActiveWebhook(env, scope, id);
    const values = await change(before);
    if (Object.keys(values).length === 0) return before;
    const after = { ...before, ...values };
    const isStillFree = values.url === undefined ? undefined : isUrlFree(db, after);
    const stillFits = callsHostMore(before, after) ? fitsHost(db, after) : undefined;
    const isNewSecret = values.secret !== undefined;
    const isNewUrl = values.url !== undefined && values.url !== before.url;
    const authority =
      isNewSecret || isNewUrl ? await lastingAuthority(db, scope.actor, "set a webhook's URL or secret") : null;
    const isSame = and(isAsReadWebhook(before), isStillFree, stillFits, authority?.isAsRead);
    const [webhook] = await db
      .update(webhooks)
      .set({
        ...values,
        ...(isNewSecret && { setBy: scope.actor.id }),
        ...(isNewUrl && { urlBy: scope.actor.id }),
      })
      .where(and(eq(webhooks.id, id), isNull(webhooks.erasingAt), isSame))
      .returning();
    return webhook ?? null;
  });
}

/** A condition: the columns that a change depends on still have the values of `row`. */
export function isAsReadWebhook(row: WebhookRow): SQL | undefined {
  return and(
    eq(webhooks.version, row.version),
    eq(webhooks.secret, row.secret),
    sql`${webhooks.previousSecret} is ${row.previousSecret}`,
    sql`${webhooks.previousUntil} is ${row.previousUntil}`,
  );
}

/** A condition: the organization may have one more webhook and call its host, and has none with this URL. */
export function hasRoomFor(db: Directory, row: WebhookRow): SQL | undefined {
  const all = db.select({ count: count() }).from(webhooks).where(eq(webhooks.organizationId, row.organizationId));
  return and(sql`${all} < ${MAX_WEBHOOKS}`, isUrlFree(db, row), fitsHost(db, row));
}

/**
 * Why an organization can't get a new webhook; null if it is gone, or nothing stands in the way now.
 * @throws ApiError `validation_failed` if its webhooks would call one host too often
 */
export async function whyNotInserted(db: Directory, row: WebhookRow): Promise<ApiError | null> {
  const same = await findSameUrl(db, row);
  if (same) return webhookExists(same.id);
  const all = await db.$count(webhooks, eq(webhooks.organizationId, row.organizationId));
  if (all >= MAX_WEBHOOKS) return new ApiError("webhook_limit");
  await checkHost(db, row);
  return null;
}

/** @throws ApiError `webhook_exists` if another webhook of the organization has this URL */
export async function checkUrlIsFree(db: Directory, row: WebhookRow, url: string): Promise<void> {
  const same = row.url === url ? undefined : await findSameUrl(db, { ...row, url });
  if (same) throw webhookExists(same.id);
}

/** @throws ApiError `validation_failed` for a channel that the organization does not have */
export async function checkChannels(
  db: Directory,
  organizationId: string,
  ids: string[] | null | undefined,
): Promise<void> {
  if (!ids) return;
  // As one parameter: a statement of D1 has at most 100.
  const isChosen = sql`${channels.id} in (select value from json_each(${JSON.stringify(ids)}))`;
  const rows = await db
    .select({ id: channels.id })
    .from(channels)
    .where(and(isChosen, eq(channels.organizationId, organizationId), isNull(channels.erasingAt)));
  const known = new Set(rows.map((row) => row.id));
  const unknown = ids.findIndex((id) => !known.has(id));
  if (unknown >= 0) throw fault(`channels.${unknown}`, "is not the id of a channel of this organization");
}

/** Whether a patch changes a row. */
export function isChanged(row: WebhookRow, patch: Partial<WebhookRow>): boolean {
  return JSON.stringify({ ...row, ...patch }) !== JSON.stringify(row);
}

function isUrlFree(db: Directory, row: WebhookRow): SQL {
  return notExists(sameUrl(db, row));
}

async function findSameUrl(db: Directory, row: WebhookRow): Promise<{ id: string } | undefined> {
  return sameUrl(db, row).get();
}

function sameUrl(db: Directory, { id, organizationId, url }: WebhookRow) {
  const same = and(eq(webhooks.organizationId, organizationId), eq(webhooks.url, url), ne(webhooks.id, id));
  return db.select({ id: webhooks.id }).from(webhooks).where(same);
}

function webhookExists(id: string): ApiError {
  return new ApiError("webhook_exists", {
    text: `The webhook ${id} has this URL. Change that one, or use another URL`,
  });
}
