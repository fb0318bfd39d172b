import { and, eq, inArray, isNull, sql } from "drizzle-orm";
import { directory } from "../../db/client.ts";
import { apiKeys, channels, organizations, webhooks } from "../../db/schema.ts";
import type { ChannelSettings } from "../../model/channel.ts";
import { canBeBot } from "../../model/handover.ts";
import type { KnownBot } from "../../model/organization.ts";

/** What an organization's object reads in D1. */

/** The key of a channel's bot. Null if it has none, or if there is no such key. */
const botKey = {
  id: apiKeys.id,
  permissions: apiKeys.permissions,
  draftsOnly: apiKeys.draftsOnly,
  expiresAt: apiKeys.expiresAt,
  revokedAt: apiKeys.revokedAt,
};

/** A channel as it is read, with the key that its settings name. */
interface ReadChannel {
  settings: ChannelSettings;
  key: Pick<typeof apiKeys.$inferSelect, keyof typeof botKey> | null;
}

/** The channel's bot; null if it has none, or if its key can't answer contacts. */
function botIn({ settings: { bot }, key }: ReadChannel): KnownBot | null {
  if (!bot || !key || !canBeBot(key, Date.now())) return null;
  return { keyId: key.id, handOverAfterSeconds: bot.handOverAfterSeconds, endsAt: key.expiresAt };
}

/** A channel and its organization, even if they are being deleted; undefined if there is no such channel. */
export async function findChannelRow(env: Env, organizationId: string, channelId: string) {
  const { id, kind, name, limits, retentionDays, createdAt, erasingAt, settings } = channels;
  const row = await directory(env)
    .select({
      channel: { id, kind, name, limits, retentionDays, createdAt, erasingAt },
      ...{ settings, key: botKey },
      organization: { limits: organizations.limits, erasingAt: organizations.erasingAt },
    })
    .from(channels)
    .innerJoin(organizations, eq(organizations.id, channels.organizationId))
    .leftJoin(
      apiKeys,
      and(sql`${apiKeys.id} = ${settings} ->> '$.bot.keyId'`, eq(apiKeys.organizationId, channels.organizationId)),
    )
    .where(and(eq(channels.id, channelId), eq(channels.organizationId, organizationId)))
    .get();
  return row && { organization: row.organization, channel: { ...row.channel, bot: botIn(row) } };
}

/**
 * The names, limits, retentions and bots of an organization's channels, the organization's limits and its webhooks, in one
 * round trip.
 */
export async function readConfiguration(env: Env, organizationId: string) {
  const db = directory(env);
  const { id, name, limits, retentionDays, settings } = channels;
  const ofOrganization = eq(channels.organizationId, organizationId);
  // Not joined: the rows of a batch can't have two columns of one name.
  const botKeyIds = db
    .select({ keyId: sql`${settings} ->> '$.bot.keyId'` })
    .from(channels)
    .where(ofOrganization);
  const [rows, keys, [organization], hooks] = await db.batch([
    db.select({ id, name, limits, retentionDays, settings }).from(channels).where(ofOrganization),
    db
      .select(botKey)
      .from(apiKeys)
      .where(and(eq(apiKeys.organizationId, organizationId), inArray(apiKeys.id, botKeyIds))),
    db.select({ limits: organizations.limits }).from(organizations).where(eq(organizations.id, organizationId)),
    db
      .select({ id: webhooks.id, version: webhooks.version, types: webhooks.types, channels: webhooks.channels })
      .from(webhooks)
      .where(and(eq(webhooks.organizationId, organizationId), isNull(webhooks.erasingAt)))
      .orderBy(webhooks.id),
  ]);
  const found = rows.map(({ settings: given, ...row }) => {
    const key = keys.find((each) => each.id === given.bot?.keyId) ?? null;
    return { ...row, bot: botIn({ settings: given, key }) };
  });
  return { channels: found, organization, webhooks: hooks };
}
