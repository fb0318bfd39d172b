import { and, eq, isNull } from "drizzle-orm";
import { directory } from "../../db/client.ts";
import { channels, organizations, webhooks } from "../../db/schema.ts";

/** What an organization's object reads in D1. */

/** A channel and its organization, even if they are being deleted; undefined if there is no such channel. */
export function findChannelRow(env: Env, organizationId: string, channelId: string) {
  const { id, kind, name, limits, retentionDays, createdAt, erasingAt } = channels;
  return directory(env)
    .select({
      channel: { id, kind, name, limits, retentionDays, createdAt, erasingAt },
      organization: { limits: organizations.limits, erasingAt: organizations.erasingAt },
    })
    .from(channels)
    .innerJoin(organizations, eq(organizations.id, channels.organizationId))
    .where(and(eq(channels.id, channelId), eq(channels.organizationId, organizationId)))
    .get();
}

/** The names, limits and retentions of an organization's channels, the organization's limits and its webhooks, in one round trip. */
export async function readConfiguration(env: Env, organizationId: string) {
  const db = directory(env);
  const { id, name, limits, retentionDays } = channels;
  const [rows, [organization], hooks] = await db.batch([
    db.select({ id, name, limits, retentionDays }).from(channels).where(eq(channels.organizationId, organizationId)),
    db.select({ limits: organizations.limits }).from(organizations).where(eq(organizations.id, organizationId)),
    db
      .select({ id: webhooks.id, version: webhooks.version, types: webhooks.types, channels: webhooks.channels })
      .from(webhooks)
      .where(and(eq(webhooks.organizationId, organizationId), isNull(webhooks.erasingAt)))
      .orderBy(webhooks.id),
  ]);
  return { channels: rows, organization, webhooks: hooks };
}
