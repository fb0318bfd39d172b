import { and, eq, isNull, sql } from "drizzle-orm";
import { callObject } from "../calls/call-object.ts";
import type { ChannelRecord } from "../calls/channel-record.ts";
import { storeTemplateNews } from "../channels/templates/sync.ts";
import { directory } from "../db/client.ts";
import { channels } from "../db/schema.ts";
import type { TemplateNotice } from "../model/network.ts";

/**
 * Stores what a network reports about a template of an organization's account. If the report does not give the current
 * state, or the template is not known, the account is read again soon.
 * @param called the channel whose webhook was called. Its organization is the only one whose templates can change
 */
export async function storeTemplateNotice(
  env: Env,
  called: ChannelRecord,
  { change, ...notice }: TemplateNotice,
): Promise<"applied" | "unknown_template"> {
  if (change && (await storeTemplateNews(env, called.organizationId, { ...notice, change }))) return "applied";
  const channelId = await channelOf(env, called, notice.wabaId);
  if (channelId === null) return "unknown_template";
  await callObject(env.CHANNELS, channelId, (channel) => channel.syncTemplatesSoon(channelId));
  return "applied";
}

/** A channel of the organization that has the account; null if there is none. */
async function channelOf(env: Env, called: ChannelRecord, wabaId: string): Promise<string | null> {
  if (called.settings.wabaId === wabaId) return called.id;
  const found = await directory(env)
    .select({ id: channels.id })
    .from(channels)
    .where(
      and(
        eq(channels.organizationId, called.organizationId),
        eq(channels.kind, called.kind),
        sql`${channels.settings} ->> '$.wabaId' = ${wabaId}`,
        isNull(channels.erasingAt),
      ),
    )
    .orderBy(channels.createdAt, channels.id)
    .limit(1)
    .get();
  return found?.id ?? null;
}
