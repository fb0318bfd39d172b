import { and, eq, type SQL, sql } from "drizzle-orm";
import * as z from "zod/mini";
import { callObject, NEARBY, placeObject } from "../calls/call-object.ts";
import { CHANNEL_KINDS, KINDS } from "../channels/kinds.ts";
import { ADAPTERS } from "../channels/registry.ts";
import { directory } from "../db/client.ts";
import { regionOf } from "../db/region-of.ts";
import { retryOnConflict } from "../db/retry-on-conflict.ts";
import { insertWithRoom } from "../db/row-ceilings.ts";
import { rowOf } from "../db/rows.ts";
import { type ChannelLimits, channels } from "../db/schema.ts";
import { fault, parse } from "../http/validation.ts";
import { newIdOf, type RequestAct } from "../keys/audited.ts";
import { lastingAuthority } from "../keys/key-authority.ts";
import type { Actor, Scope } from "../model/caller.ts";
import { requiredText } from "../model/field.ts";
import { randomBase62 } from "../model/id.ts";
import { warnIfFails } from "../platform/log.ts";
import { openOrFail, seal, sealingKeys } from "../secrets/sealing.ts";
import { checkBot, startBots, withBots } from "./bots.ts";
import { checkOrigins, mergeSettings, readSettings } from "./channel-settings.ts";
import { channelLimitsBody, mergeLimits, refreshOrganization } from "./limits.ts";
import type { overlapBody } from "./overlap.ts";
import { type ChannelView, numbersOf, openColumn, presentChannel } from "./present-channel.ts";
import { retentionDays, startRetention } from "./retention.ts";

type Channel = typeof channels.$inferSelect;
type Credentials = Record<string, string>;

const SECRET_LENGTH = 32;

const object = z.record(z.string(), z.unknown());

/** The body of `POST /organizations/{id}/channels`. The schemas of the kind check `credentials` and `settings`. */
export const newChannelBody = z.object({
  kind: z.enum(CHANNEL_KINDS),
  name: requiredText(256),
  credentials: z.nullish(object),
  settings: z.nullish(object),
  limits: z.nullish(channelLimitsBody),
  retentionDays,
});

/** The body of `PATCH /channels/{id}`. Absent credentials and settings don't change. Null resets a setting. */
export const channelPatch = z.object({
  name: z.optional(requiredText(256)),
  credentials: z.optional(object),
  settings: z.nullish(object),
  limits: z.nullish(channelLimitsBody),
  retentionDays,
});

/** Creates a channel. For a web channel it also returns the identity secret, which no other response contains. */
export async function createChannel(
  env: Env,
  view: ChannelView,
  act: RequestAct,
  body: z.output<typeof newChannelBody>,
) {
  const { organizationId } = act;
  const id = newIdOf(act);
  const { kind, name } = body;
  const credentials: Credentials = parse(KINDS[kind].credentials, body.credentials ?? {}, ["credentials"]);
  const settings = readSettings(kind, body.settings ?? {});
  const limits: ChannelLimits = mergeLimits({}, body.limits ?? {});
  checkOrigins(settings, limits);
  const keys = sealingKeys(env);
  const isWeb = kind === "web";
  const identitySecret = isWeb ? randomBase62(SECRET_LENGTH) : null;
  const now = Date.now();
  const channel: Channel = {
    id,
    organizationId,
    kind,
    name,
    settings,
    limits,
    retentionDays: body.retentionDays ?? null,
    credentials: isWeb ? null : await seal(keys, { id, column: "credentials" }, JSON.stringify(credentials)),
    account: KINDS[kind].accountOf?.(credentials) ?? null,
    credentialHints: hintsOf(credentials),
    verifyToken: isWeb ? null : await seal(keys, { id, column: "verify_token" }, randomBase62(SECRET_LENGTH)),
    identitySecret: identitySecret && (await seal(keys, { id, column: "identity_secret" }, identitySecret)),
    identityPrevious: null,
    identityPreviousUntil: null,
    identityBy: isWeb ? view.actor.id : null,
    identityPreviousBy: null,
    createdAt: now,
    erasingAt: null,
  };
  await checkBot(directory(env), organizationId, settings);
  await withBots(env, {}, settings, () => insertWithRoom(env, view.scope, "channels", channel));
  const region = await regionOf(directory(env), organizationId);
  if (region) await placeObject(env.CHANNELS, id, (object) => object.storedRow(), region);
  // Its object begins to ask the network, and to sync its templates.
  if (kind !== "web" && ADAPTERS[kind].isAskedDaily) await tryToReloadChannel(env, id);
  return { channel: await presentChannel(env, view, channel, undefined), ...(identitySecret && { identitySecret }) };
}

export async function readChannel(env: Env, view: ChannelView, id: string) {
  const channel = await rowOf(directory(env), view.scope, channels, id, "channel_not_found");
  return presentChannel(env, view, channel, await numbersOf(env, channel));
}

/**
 * Changes a channel. Absent fields, credentials and settings stay as they are. The result has the health after the
 * change.
 * @throws ApiError `unavailable` if the change is stored, but an object that must learn of new credentials or of another
 *   retention does not respond: repeat it
 */
export async function patchChannel(env: Env, view: ChannelView, id: string, patch: z.output<typeof channelPatch>) {
  const channel = await updateChannel(env, view.scope, id, async (before) => ({
    ...(patch.name !== undefined && { name: patch.name }),
    ...(patch.limits !== undefined && { limits: mergeLimits(before.limits, patch.limits) }),
    ...(patch.retentionDays !== undefined && { retentionDays: patch.retentionDays }),
    ...(patch.settings !== undefined && { settings: await settingsAfter(env, before, patch) }),
    ...(patch.credentials && (await withNewCredentials(env, before, patch.credentials))),
  }));
  const hasCredentials = patch.credentials !== undefined;
  // Without this call, a broken channel would stay broken until its next probe.
  if (hasCredentials) await reloadChannel(env, id);
  else if (patch.settings !== undefined) await tryToReloadChannel(env, id);
  if (patch.retentionDays !== undefined) await startRetention(env, channel.organizationId);
  else if (patch.settings !== undefined && isOfBot(patch.settings)) await startBots(env, channel.organizationId);
  else if (patch.name !== undefined || patch.limits !== undefined) {
    await refreshOrganization(env, channel.organizationId);
  }
  // With new credentials, the object has now reset the channel's health.
  return presentChannel(env, view, channel, await numbersOf(env, channel));
}

/**
 * Replaces the identity secret of a web channel. The old one stays valid for `overlapSeconds`.
 * @throws ApiError `channel_not_found`; `permission_denied` if a key with an end or an allow-list asks for it
 */
export async function rotateIdentitySecret(
  env: Env,
  actor: Actor,
  id: string,
  { overlapSeconds }: z.output<typeof overlapBody>,
) {
  const keys = sealingKeys(env);
  const identitySecret = randomBase62(SECRET_LENGTH);
  await updateChannel(
    env,
    actor.scope,
    id,
    async (before) => {
      if (before.identitySecret === null) throw fault("id", "is not a web channel");
      const previous =
        overlapSeconds > 0 ? await openOrFail(keys, { id, column: "identity_secret" }, before.identitySecret) : null;
      return {
        identitySecret: await seal(keys, { id, column: "identity_secret" }, identitySecret),
        identityPrevious: previous && (await seal(keys, { id, column: "identity_previous" }, previous)),
        identityPreviousUntil: previous === null ? null : Date.now() + overlapSeconds * 1_000,
        identityBy: actor.id,
        identityPreviousBy: previous === null ? null : before.identityBy,
      };
    },
    async () => (await lastingAuthority(directory(env), actor, "get identity secrets"))?.isAsRead,
  );
  await tryToReloadChannel(env, id);
  return { identitySecret };
}

/**
 * Updates a channel with the values that `change` returns for its current row. If another request updates the row in
 * between, it reads the row and calls `change` again, so that no update is lost.
 * @param permit the condition under which it may be written
 */
async function updateChannel(
  env: Env,
  scope: Scope,
  id: string,
  change: (before: Channel) => Promise<Partial<Channel>>,
  permit: () => Promise<SQL | undefined> = async () => undefined,
): Promise<Channel> {
  const db = directory(env);
  return retryOnConflict(id, async () => {
    const before = await rowOf(db, scope, channels, id, "channel_not_found");
    const isPermitted = await permit();
    const values = await change(before);
    if (Object.keys(values).length === 0) return before;
    const update = db
      .update(channels)
      .set(values)
      .where(and(eq(channels.id, id), isAsRead(before), isPermitted))
      .returning();
    const [channel] = await withBots(env, before.settings, values.settings ?? before.settings, async () => update);
    return channel ?? null;
  });
}

/** A condition: the columns that a change depends on still have the values of `row`. */
export function isAsRead(row: Channel) {
  return and(
    sql`json(${channels.settings}) is json(${sql.param(row.settings, channels.settings)})`,
    sql`json(${channels.limits}) is json(${sql.param(row.limits, channels.limits)})`,
    sql`${channels.credentials} is ${row.credentials}`,
    sql`${channels.verifyToken} is ${row.verifyToken}`,
    sql`${channels.identitySecret} is ${row.identitySecret}`,
    sql`${channels.identityPrevious} is ${row.identityPrevious}`,
  );
}

/**
 * Makes the channel's object read its row again. With new credentials, a broken channel sends again at once.
 * @throws ApiError `unavailable` if the object does not respond. The row is stored, and the call can be repeated
 */
function reloadChannel(env: Env, id: string): Promise<void> {
  return callObject(env.CHANNELS, id, (channel) => channel.refresh(id), NEARBY);
}

/** Ignores a failure, for changes that can wait: the object reads its row again within 10 seconds. */
async function tryToReloadChannel(env: Env, id: string): Promise<void> {
  await warnIfFails({ event: "channel_not_reloaded", channelId: id }, () => reloadChannel(env, id));
}

/** @throws ApiError `validation_failed` */
async function settingsAfter(env: Env, before: Channel, { settings = null, limits }: z.output<typeof channelPatch>) {
  const after = mergeSettings(before, settings, limits);
  // A bot whose key has ended since stays, so that the other settings can change.
  const isSame = JSON.stringify(before.settings.bot) === JSON.stringify(after.bot);
  if (!isSame) await checkBot(directory(env), before.organizationId, after);
  return after;
}

/** Whether a patch of the settings can change the channel's bot. Null resets all of them. */
function isOfBot(settings: Record<string, unknown> | null): boolean {
  return settings === null || "bot" in settings;
}

/** A patch with all credentials does not open the old ones, so it can repair a channel whose sealing key was lost. */
async function withNewCredentials(env: Env, before: Channel, patch: Record<string, unknown>) {
  const { id, kind, credentials, verifyToken } = before;
  if (credentials === null || verifyToken === null) return {};
  const keys = sealingKeys(env);
  const cell = { id, column: "credentials" };
  const isComplete = z.safeParse(KINDS[kind].credentials, patch).success;
  const old = isComplete ? {} : JSON.parse(await openOrFail(keys, cell, credentials));
  const merged: Credentials = parse(KINDS[kind].credentials, { ...old, ...patch }, ["credentials"]);
  const isVerifyTokenLost = isComplete && (await openColumn(env, id, "verify_token", verifyToken)) === null;
  return {
    credentials: await seal(keys, cell, JSON.stringify(merged)),
    account: KINDS[kind].accountOf?.(merged) ?? null,
    credentialHints: hintsOf(merged),
    ...(isVerifyTokenLost && {
      verifyToken: await seal(keys, { id, column: "verify_token" }, randomBase62(SECRET_LENGTH)),
    }),
  };
}

function hintsOf(credentials: Credentials): Record<string, string> {
  return Object.fromEntries(Object.entries(credentials).map(([name, value]) => [name, value.slice(-4)]));
}
