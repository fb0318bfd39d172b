import { and, eq, sql } from "drizzle-orm";
import * as z from "zod/mini";
import { CHANNEL_KINDS, type ChannelKind, KINDS } from "../channels/kinds.ts";
import type { ChannelSettings } from "../channels/spec.ts";
import { directory } from "../db/client.ts";
import { channels } from "../db/schema.ts";
import { unavailable } from "../http/errors.ts";
import { requiredText } from "../http/fields.ts";
import { fault, parse } from "../http/validation.ts";
import { newId, randomBase62 } from "../ids.ts";
import { causeOf } from "../log.ts";
import { callObject } from "../platform/call-object.ts";
import { open, type SealedPlace, type SealingKeys, seal, sealingKeys } from "../secrets/sealing.ts";
import { livingOrganization } from "./organizations.ts";
import type { overlapBody } from "./overlap.ts";
import { insertInto, rowOf } from "./rows.ts";

type Channel = typeof channels.$inferSelect;
type Credentials = Record<string, string>;

const SECRET_LENGTH = 32;
const MAX_ATTEMPTS = 10;

const object = z.record(z.string(), z.unknown());

/** The body of `POST /organizations/{id}/channels`; what its kind wants is checked once the kind is known. */
export const newChannelBody = z.object({
  kind: z.enum(CHANNEL_KINDS),
  name: requiredText(256),
  credentials: z.nullish(object),
  settings: z.nullish(object),
});

/** The body of `PATCH /channels/{id}`: single credentials and settings; a setting that is null is the default again. */
export const channelPatch = z.object({
  name: z.optional(requiredText(256)),
  credentials: z.optional(object),
  settings: z.nullish(object),
});

/** A new channel; of a web channel also the secret that signs its site's users, which no other answer holds. */
export async function createChannel(
  env: Env,
  origin: string,
  organizationId: string,
  body: z.output<typeof newChannelBody>,
) {
  const { kind, name } = body;
  const credentials: Credentials = parse(KINDS[kind].credentials, body.credentials ?? {}, ["credentials"]);
  const settings = readSettings(kind, body.settings ?? {});
  const db = directory(env);
  const organization = await livingOrganization(db, organizationId);
  const id = newId("chn", organization.jurisdiction);
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
    credentials: isWeb ? null : await seal(keys, { id, column: "credentials" }, JSON.stringify(credentials)),
    account: KINDS[kind].accountOf?.(credentials) ?? null,
    credentialHints: hintsOf(credentials),
    verifyToken: isWeb ? null : await seal(keys, { id, column: "verify_token" }, randomBase62(SECRET_LENGTH)),
    identitySecret: identitySecret && (await seal(keys, { id, column: "identity_secret" }, identitySecret)),
    identityPrevious: null,
    identityPreviousUntil: null,
    healthState: "ok",
    healthReason: null,
    healthSince: now,
    chatCount: 0,
    createdAt: now,
    erasingAt: null,
    stats: null,
  };
  await insertInto(db, channels, channel);
  return { channel: await presentChannel(env, origin, channel), ...(identitySecret && { identitySecret }) };
}

export async function readChannel(env: Env, origin: string, id: string) {
  return presentChannel(env, origin, await rowOf(directory(env), channels, id, "channel_not_found"));
}

/**
 * Changes a channel: what is left out stays, single credentials and settings too. Its health is that after the change.
 * @throws ApiError `unavailable` if the credentials are written and the channel's object could not be told: repeat it
 */
export async function patchChannel(env: Env, origin: string, id: string, patch: z.output<typeof channelPatch>) {
  const channel = await changeChannel(env, id, async (before) => ({
    ...(patch.name !== undefined && { name: patch.name }),
    ...(patch.settings !== undefined && { settings: mergeSettings(before, patch.settings) }),
    ...(patch.credentials && (await mergeCredentials(env, before, patch.credentials))),
  }));
  const credentials = patch.credentials !== undefined;
  // An object that does not hear of new credentials leaves a broken channel broken until its next probe.
  if (credentials) await tellChannel(env, id);
  else if (patch.settings !== undefined) await tryToTellChannel(env, id);
  // With other credentials it counts as working again, which its object has written meanwhile.
  const told = credentials ? await directory(env).select().from(channels).where(eq(channels.id, id)).get() : undefined;
  return presentChannel(env, origin, told ?? channel);
}

/** A new identity secret for a web channel; the one before verifies for `overlapSeconds` more. */
export async function rotateIdentitySecret(env: Env, id: string, { overlapSeconds }: z.output<typeof overlapBody>) {
  const keys = sealingKeys(env);
  const identitySecret = randomBase62(SECRET_LENGTH);
  await changeChannel(env, id, async (before) => {
    if (before.identitySecret === null) throw fault("id", "is no web channel");
    const previous =
      overlapSeconds > 0 ? await opened(keys, { id, column: "identity_secret" }, before.identitySecret) : null;
    return {
      identitySecret: await seal(keys, { id, column: "identity_secret" }, identitySecret),
      identityPrevious: previous && (await seal(keys, { id, column: "identity_previous" }, previous)),
      identityPreviousUntil: previous === null ? null : Date.now() + overlapSeconds * 1_000,
    };
  });
  await tryToTellChannel(env, id);
  return { identitySecret };
}

/**
 * Writes what `change` makes of a channel as it stands. Where another write came in between, so that something would
 * be lost that it did not see, it is read and made anew.
 */
async function changeChannel(
  env: Env,
  id: string,
  change: (before: Channel) => Promise<Partial<Channel>>,
): Promise<Channel> {
  const db = directory(env);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const before = await rowOf(db, channels, id, "channel_not_found");
    const values = await change(before);
    if (Object.keys(values).length === 0) return before;
    const [channel] = await db
      .update(channels)
      .set(values)
      .where(and(eq(channels.id, id), isAsRead(before)))
      .returning();
    if (channel) return channel;
  }
  throw unavailable(`${id} was changed by others ${MAX_ATTEMPTS} times in a row`);
}

/** Whether all that a change is made of is as it was read. */
export function isAsRead(row: Channel) {
  return and(
    sql`json(${channels.settings}) is json(${sql.param(row.settings, channels.settings)})`,
    sql`${channels.credentials} is ${row.credentials}`,
    sql`${channels.verifyToken} is ${row.verifyToken}`,
    sql`${channels.identitySecret} is ${row.identitySecret}`,
    sql`${channels.identityPrevious} is ${row.identityPrevious}`,
  );
}

/** A channel as the operator sees it. Of its credentials only the last four characters are ever shown again. */
export async function presentChannel(env: Env, origin: string, channel: Channel) {
  const { id, organizationId, kind, name, settings, createdAt } = channel;
  return {
    id,
    organizationId,
    kind,
    name,
    settings: { ...KINDS[kind].defaults, ...settings },
    ...(channel.verifyToken && {
      credentials: channel.credentialHints,
      webhook: {
        url: `${origin}/hooks/${kind}/${id}`,
        verifyToken: await readVerifyToken(env, id, channel.verifyToken),
      },
    }),
    health: healthOf(channel),
    createdAt: new Date(createdAt).toISOString(),
  };
}

/** Whether a channel works, as its object told last. */
export function healthOf({ healthState, healthReason, healthSince }: Channel) {
  return { state: healthState, reason: healthReason, since: new Date(healthSince).toISOString() };
}

/** Null, and a line in the log, where it no longer opens: that must not hide the other channels, or what is left of this. */
async function readVerifyToken(env: Env, id: string, sealed: string): Promise<string | null> {
  try {
    return await open(sealingKeys(env), { id, column: "verify_token" }, sealed);
  } catch (error) {
    console.error({ event: "credential_does_not_open", channelId: id, error: causeOf(error) });
    return null;
  }
}

/**
 * Has the channel's object read its row again: with new credentials a broken channel is tried at once.
 * @throws ApiError `unavailable` if the object does not answer; the row is written, and the call can be repeated
 */
function tellChannel(env: Env, id: string): Promise<void> {
  return callObject(env.CHANNELS, id, (channel) => channel.changed(id));
}

/** The same if nothing fails because the object hears of it later: it reads the row again within 10 s. */
async function tryToTellChannel(env: Env, id: string): Promise<void> {
  try {
    await tellChannel(env, id);
  } catch (error) {
    console.warn({ event: "channel_not_told", channelId: id, error: causeOf(error) });
  }
}

function mergeSettings({ kind, settings }: Channel, patch: Record<string, unknown> | null): ChannelSettings {
  return readSettings(kind, patch === null ? {} : { ...settings, ...patch });
}

/** Who gives all that a kind has needs none of the old ones: so a channel can be mended whose sealing key was lost. */
async function mergeCredentials(env: Env, before: Channel, patch: Record<string, unknown>) {
  const { id, kind, credentials, verifyToken } = before;
  if (credentials === null || verifyToken === null) return {};
  const keys = sealingKeys(env);
  const place = { id, column: "credentials" };
  const isWhole = z.safeParse(KINDS[kind].credentials, patch).success;
  const old = isWhole ? {} : JSON.parse(await opened(keys, place, credentials));
  const merged: Credentials = parse(KINDS[kind].credentials, { ...old, ...patch }, ["credentials"]);
  const isLost = isWhole && (await readVerifyToken(env, id, verifyToken)) === null;
  return {
    credentials: await seal(keys, place, JSON.stringify(merged)),
    account: KINDS[kind].accountOf?.(merged) ?? null,
    credentialHints: hintsOf(merged),
    ...(isLost && { verifyToken: await seal(keys, { id, column: "verify_token" }, randomBase62(SECRET_LENGTH)) }),
  };
}

/** What was sealed. @throws ApiError `unavailable` where no configured key opens it: what changes it would lose it */
function opened(keys: SealingKeys, place: SealedPlace, sealed: string): Promise<string> {
  return open(keys, place, sealed).catch((error) => Promise.reject(unavailable(error)));
}

function readSettings(kind: ChannelKind, settings: Record<string, unknown>): ChannelSettings {
  // What is undefined is dropped: a setting that is not chosen follows the default, also when that changes.
  return JSON.parse(JSON.stringify(parse(KINDS[kind].settings, settings, ["settings"])));
}

function hintsOf(credentials: Credentials): Record<string, string> {
  return Object.fromEntries(Object.entries(credentials).map(([name, value]) => [name, value.slice(-4)]));
}
