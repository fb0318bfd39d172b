import { eq } from "drizzle-orm";
import * as z from "zod/mini";
import { KINDS } from "../channels/kinds.ts";
import { channelRecord } from "../channels/record.ts";
import { networkOf } from "../channels/registry.ts";
import { open, seal, sealingKeys } from "../channels/sealing.ts";
import { registerWebhook } from "../channels/telegram/register.ts";
import { directory } from "../db/client.ts";
import { CHANNEL_KINDS, type ChannelKind, type ChannelSettings, channels } from "../db/schema.ts";
import { ApiError } from "../http/errors.ts";
import { fault, parse, requiredText } from "../http/validation.ts";
import { newId, randomBase62 } from "../ids.ts";
import { callObject } from "../objects.ts";
import type { overlapBody } from "./keys.ts";
import { livingOrganization } from "./organizations.ts";
import { rowOf } from "./rows.ts";

type Channel = typeof channels.$inferSelect;
type Credentials = Record<string, string>;

const SECRET_LENGTH = 32;

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
  };
  await db.insert(channels).values(channel);
  return { channel: await presentChannel(env, origin, channel), ...(identitySecret && { identitySecret }) };
}

export async function readChannel(env: Env, origin: string, id: string) {
  return presentChannel(env, origin, await rowOf(directory(env), channels, id, "channel_not_found"));
}

/** Changes a channel: what is left out stays, single credentials and settings too. */
export async function patchChannel(env: Env, origin: string, id: string, patch: z.output<typeof channelPatch>) {
  const db = directory(env);
  const before = await rowOf(db, channels, id, "channel_not_found");
  const changed: Partial<Channel> = patch.name === undefined ? {} : { name: patch.name };
  if (patch.settings !== undefined) {
    changed.settings = readSettings(
      before.kind,
      patch.settings === null ? {} : { ...before.settings, ...patch.settings },
    );
  }
  if (patch.credentials && before.credentials !== null) {
    const keys = sealingKeys(env);
    const place = { id, column: "credentials" };
    const merged = { ...JSON.parse(await open(keys, place, before.credentials)), ...patch.credentials };
    const credentials: Credentials = parse(KINDS[before.kind].credentials, merged, ["credentials"]);
    changed.credentials = await seal(keys, place, JSON.stringify(credentials));
    changed.credentialHints = hintsOf(credentials);
  }
  if (Object.keys(changed).length === 0) return presentChannel(env, origin, before);
  const [channel] = await db.update(channels).set(changed).where(eq(channels.id, id)).returning();
  if (!channel) throw new ApiError("channel_not_found");
  if (changed.credentials || changed.settings) await tellChannel(env, id);
  return presentChannel(env, origin, channel);
}

/** A new identity secret for a web channel; the one before verifies for `overlapSeconds` more. */
export async function rotateIdentitySecret(env: Env, id: string, { overlapSeconds }: z.output<typeof overlapBody>) {
  const db = directory(env);
  const channel = await rowOf(db, channels, id, "channel_not_found");
  if (channel.identitySecret === null) throw fault("id", "is no web channel");
  const keys = sealingKeys(env);
  const identitySecret = randomBase62(SECRET_LENGTH);
  const previous =
    overlapSeconds > 0 ? await open(keys, { id, column: "identity_secret" }, channel.identitySecret) : null;
  await db
    .update(channels)
    .set({
      identitySecret: await seal(keys, { id, column: "identity_secret" }, identitySecret),
      identityPrevious: previous && (await seal(keys, { id, column: "identity_previous" }, previous)),
      identityPreviousUntil: previous === null ? null : Date.now() + overlapSeconds * 1_000,
    })
    .where(eq(channels.id, id));
  return { identitySecret };
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
    health: {
      state: channel.healthState,
      reason: channel.healthReason,
      since: new Date(channel.healthSince).toISOString(),
    },
    createdAt: new Date(createdAt).toISOString(),
  };
}

/** Null, and a line in the log, where it no longer opens: that must not hide the other channels, or what is left of this. */
async function readVerifyToken(env: Env, id: string, sealed: string): Promise<string | null> {
  try {
    return await open(sealingKeys(env), { id, column: "verify_token" }, sealed);
  } catch (error) {
    console.error({ event: "credential_does_not_open", channelId: id, error: String(error) });
    return null;
  }
}

/** A channel that was broken is tried at once with what was changed; one that does not answer finds out by itself. */
async function tellChannel(env: Env, id: string): Promise<void> {
  try {
    await callObject(env.CHANNELS, id, (channel) => channel.changed(id));
  } catch (error) {
    console.warn({ event: "channel_not_told", channelId: id, cause: String((error as Error).cause) });
  }
}

/**
 * Has Telegram call us with what comes for a channel.
 * @returns the address that Telegram is to call, and what it said
 */
export async function registerChannel(env: Env, origin: string, id: string) {
  const record = await channelRecord(env, id, { fresh: true });
  if (!record) throw new ApiError("channel_not_found");
  if (record.kind !== "telegram") throw fault("id", "is no telegram channel");
  const url = `${origin}/hooks/telegram/${id}`;
  const said = await registerWebhook(url, record.verifyToken ?? "", record.credentials, networkOf(env, "telegram"));
  return { webhook: { url, ...said } };
}

function readSettings(kind: ChannelKind, settings: Record<string, unknown>): ChannelSettings {
  // What is undefined is dropped: a setting that is not chosen follows the default, also when that changes.
  return JSON.parse(JSON.stringify(parse(KINDS[kind].settings, settings, ["settings"])));
}

function hintsOf(credentials: Credentials): Record<string, string> {
  return Object.fromEntries(Object.entries(credentials).map(([name, value]) => [name, value.slice(-4)]));
}
