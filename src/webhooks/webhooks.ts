/**
 * The webhooks that are configured, in the directory. A webhook's state is in its object.
 *
 * A change is written first. Then the webhook's object and the organization's object are notified. Only then does the
 * request answer, so that the next event follows the change. If a step fails, the same request can be repeated.
 */
import { and, eq } from "drizzle-orm";
import type * as z from "zod/mini";
import { callObject, NEARBY } from "../calls/call-object.ts";
import { callOrganization } from "../calls/call-organization.ts";
import { directory } from "../db/client.ts";
import { regionOf } from "../db/region-of.ts";
import { retryOnConflict } from "../db/retry-on-conflict.ts";
import { insertIf, walkOf } from "../db/rows.ts";
import { webhooks } from "../db/schema.ts";
import type { afterQuery } from "../http/pagination.ts";
import { fault } from "../http/validation.ts";
import { newIdOf, type RequestAct } from "../keys/audited.ts";
import { lastingAuthority } from "../keys/key-authority.ts";
import { noOrganization } from "../model/caller.ts";
import { ApiError } from "../model/error.ts";
import type { WalkPagination } from "../model/list-page.ts";
import type { Region } from "../model/region.ts";
import { newWebhookSecret } from "../model/webhook-signature.ts";
import { MAX_WEBHOOK_URL, normalizedUrl, webhookUrlFault } from "../model/webhook-url.ts";
import { configured } from "../platform/config.ts";
import { warnIfFails } from "../platform/log.ts";
import { openOrFail, seal, sealingKeys } from "../secrets/sealing.ts";
import { type newWebhookBody, WEBHOOK_DEFAULTS, type webhookPatch } from "./fields.ts";
import { callsHostMore, checkHost } from "./host-ceiling.ts";
import { presentWebhook } from "./present-webhook.ts";
import {
  checkChannels,
  checkUrlIsFree,
  findWebhook,
  hasRoomFor,
  isChanged,
  updateWebhook,
  type WebhookRow,
  type WebhookScope,
  whyNotInserted,
} from "./webhook-rows.ts";

const ERASING = {
  state: "disabled",
  reason: null,
  disablesAt: null,
  waitingChats: 0,
  failed: 0,
  lastSuccessAt: null,
} as const;

/**
 * Creates a webhook. Only this response contains its secret.
 * @throws ApiError `webhook_exists`, `webhook_limit`, `organization_not_found`; `permission_denied` if a key with an end or
 *   an allow-list creates it
 */
export async function createWebhook(
  env: Env,
  scope: WebhookScope,
  act: RequestAct,
  body: z.output<typeof newWebhookBody>,
) {
  const { organizationId } = act;
  const id = newIdOf(act);
  const db = directory(env);
  const url = checkedUrl(env, scope, body.url);
  await checkChannels(db, organizationId, body.channels);
  const secret = newWebhookSecret();
  const sealed = await seal(sealingKeys(env), { id, column: "secret" }, secret);
  const webhook = await retryOnConflict(id, async () => {
    const authority = await lastingAuthority(db, scope.actor, "create webhooks");
    const row: WebhookRow = {
      id,
      organizationId,
      url,
      description: body.description ?? null,
      secret: sealed,
      previousSecret: null,
      previousUntil: null,
      types: body.types ?? null,
      channels: body.channels ?? null,
      payload: body.payload ?? WEBHOOK_DEFAULTS.payload,
      perSecond: body.perSecond ?? WEBHOOK_DEFAULTS.perSecond,
      concurrency: body.concurrency ?? WEBHOOK_DEFAULTS.concurrency,
      version: 1,
      createdBy: scope.actor.id,
      setBy: null,
      urlBy: null,
      createdAt: Date.now(),
      erasingAt: null,
    };
    if (await insertIf(db, webhooks, row, and(hasRoomFor(db, row), authority?.isAsRead))) return row;
    const why = await whyNotInserted(db, row);
    if (why) throw why;
    if (!authority) throw new ApiError(noOrganization(scope.scope));
    return null;
  });
  try {
    await refreshWebhooksOf(env, organizationId);
  } catch (error) {
    // Nobody knows its secret. Without the row, the same request can be repeated.
    await db.delete(webhooks).where(eq(webhooks.id, id));
    throw error;
  }
  // The first call to its object.
  const region = await regionOf(db, organizationId);
  return { webhook: await describeWebhook(env, webhook, region), secret };
}

/** A page of an organization's webhooks, oldest first. @throws ApiError `validation_failed` for an unknown cursor */
export async function listWebhooks(
  env: Env,
  { scope }: WebhookScope,
  organizationId: string,
  query: z.output<typeof afterQuery>,
): Promise<{ webhooks: ReturnType<typeof presentWebhook>[]; pagination: WalkPagination }> {
  const { rows, pagination } = await walkOf(directory(env), scope, webhooks, "whk", organizationId, query);
  const shown = await Promise.all(rows.map((row) => describeIfThere(env, row, NEARBY)));
  return { webhooks: shown.filter((webhook) => webhook !== null), pagination };
}

/**
 * Changes a webhook. Absent fields don't change. Filters apply to the next attempt of each event, and pending events go
 * to the new URL.
 * @throws ApiError `webhook_not_found`, `webhook_exists`; `unavailable` if the change is written but an object does not
 *   answer: repeat the request
 */
export async function patchWebhook(
  env: Env,
  scope: WebhookScope,
  id: string,
  { url, types, channels: chosen, payload, perSecond, concurrency, description }: z.output<typeof webhookPatch>,
) {
  const db = directory(env);
  const newUrl = url === undefined ? undefined : checkedUrl(env, scope, url);
  const patch: Partial<WebhookRow> = {
    ...(newUrl !== undefined && { url: newUrl }),
    ...(types !== undefined && { types }),
    ...(chosen !== undefined && { channels: chosen }),
    ...(payload !== undefined && { payload: payload ?? WEBHOOK_DEFAULTS.payload }),
    ...(perSecond !== undefined && { perSecond: perSecond ?? WEBHOOK_DEFAULTS.perSecond }),
    ...(concurrency !== undefined && { concurrency: concurrency ?? WEBHOOK_DEFAULTS.concurrency }),
    ...(description !== undefined && { description }),
  };
  const webhook = await updateWebhook(env, scope, id, async (before) => {
    await checkChannels(db, before.organizationId, chosen);
    if (newUrl !== undefined) await checkUrlIsFree(db, before, newUrl);
    const after = { ...before, ...patch };
    if (callsHostMore(before, after)) await checkHost(db, after);
    return isChanged(before, patch) ? { ...patch, version: before.version + 1 } : {};
  });
  await callObject(env.WEBHOOKS, id, (object) => object.refresh(id), NEARBY);
  await refreshWebhooksOf(env, webhook.organizationId);
  return describeWebhook(env, webhook);
}

/** Deletes a webhook. If a step fails, its row still exists, and the same request continues the deletion. */
export async function deleteWebhook(env: Env, scope: WebhookScope, id: string) {
  const db = directory(env);
  const webhook = await findWebhook(env, scope, id);
  const shown = await describeWebhook(env, webhook);
  await db.update(webhooks).set({ erasingAt: Date.now() }).where(eq(webhooks.id, id));
  await refreshWebhooksOf(env, webhook.organizationId);
  await callObject(env.WEBHOOKS, id, (object) => object.erase(), NEARBY);
  await db.delete(webhooks).where(eq(webhooks.id, id));
  return shown;
}

/**
 * Gives a webhook a new secret. During the overlap, the old one signs too.
 *
 * If the response was lost, repeat the rotation: during an overlap, a rotation replaces the newest secret, and the one
 * before it keeps its end, or ends earlier if the new overlap is shorter.
 */
export async function rotateWebhook(env: Env, scope: WebhookScope, id: string, overlapSeconds: number) {
  const keys = sealingKeys(env);
  const secret = newWebhookSecret();
  const now = Date.now();
  const end = now + overlapSeconds * 1_000;
  const webhook = await updateWebhook(env, scope, id, async (before) => {
    const sealed = await seal(keys, { id, column: "secret" }, secret);
    if (end === now) return { secret: sealed, previousSecret: null, previousUntil: null };
    if (before.previousSecret !== null && before.previousUntil !== null && before.previousUntil > now) {
      return { secret: sealed, previousUntil: Math.min(before.previousUntil, end) };
    }
    const old = await openOrFail(keys, { id, column: "secret" }, before.secret);
    const previousSecret = await seal(keys, { id, column: "previous_secret" }, old);
    return { secret: sealed, previousSecret, previousUntil: end };
  });
  await tryToRefresh(env, id);
  return { webhook: await describeWebhook(env, webhook), secret };
}

/**
 * A webhook as the API shows it.
 * @param region where its object is created, if this is its first call
 * @throws ApiError `webhook_not_found` if it was deleted meanwhile
 */
export async function describeWebhook(env: Env, row: WebhookRow, region: Region | null = NEARBY) {
  const shown = await describeIfThere(env, row, region);
  if (shown) return shown;
  throw new ApiError("webhook_not_found");
}

/**
 * A webhook with the state that its object knows. One that is being deleted is shown as disabled.
 * @returns null if it was deleted meanwhile: the others of its list are still there
 */
async function describeIfThere(env: Env, row: WebhookRow, region: Region | null) {
  const known = await callObject(env.WEBHOOKS, row.id, (object) => object.describe(row.id), region);
  if (known) return presentWebhook(row, known, Date.now());
  return row.erasingAt === null ? null : presentWebhook(row, { ...ERASING, since: row.erasingAt }, Date.now());
}

/** Has the organization's object read the list of webhooks again, which the chats get from it. */
async function refreshWebhooksOf(env: Env, organizationId: string): Promise<void> {
  await callOrganization(env, organizationId, (organization) => organization.refreshWebhooks(organizationId));
}

/** Ignores a failure: the old secret signs too, and the object reads its row again within a minute. */
async function tryToRefresh(env: Env, id: string): Promise<void> {
  await warnIfFails({ event: "webhook_not_refreshed", webhookId: id }, () =>
    callObject(env.WEBHOOKS, id, (object) => object.refresh(id), NEARBY),
  );
}

/** The normalized URL. @throws ApiError `validation_failed` */
function checkedUrl(env: Env, { ownHosts }: WebhookScope, url: string): string {
  const options = { ownHosts, allowLocal: configured(env, "WEBHOOKS_ALLOW_LOCAL") };
  const wrong = webhookUrlFault(url, options);
  if (wrong) throw fault("url", wrong);
  const normalized = normalizedUrl(url);
  // The normalized form of a long URL with international characters can be longer.
  if (normalized.length > MAX_WEBHOOK_URL) throw fault("url", `must have at most ${MAX_WEBHOOK_URL} characters`);
  return normalized;
}
