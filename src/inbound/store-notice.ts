import { and, eq, isNull, sql } from "drizzle-orm";
import { callObject } from "../calls/call-object.ts";
import type { ChannelRecord } from "../calls/channel-record.ts";
import { storeTemplateNews } from "../channels/templates/sync.ts";
import { directory } from "../db/client.ts";
import { channels } from "../db/schema.ts";
import type { AccountNotice, TemplateNotice } from "../model/network.ts";
import { doEach } from "../platform/concurrency.ts";

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
  const isOurs = called.settings.wabaId === notice.wabaId;
  const [channelId] = isOurs ? [called.id] : await channelsOf(env, called, notice.wabaId);
  if (channelId === undefined) return "unknown_template";
  await callObject(env.CHANNELS, channelId, (channel) => channel.syncTemplatesSoon(channelId), called.region);
  return "applied";
}

/**
 * Tells the channels of an account what the network reports about it.
 * @param called the channel whose webhook was called. Without an account in its settings, the report may be about it
 */
export async function storeAccountNotice(
  env: Env,
  called: ChannelRecord,
  { wabaId, news }: AccountNotice,
): Promise<"applied" | "unknown_account"> {
  const newsOf = new Map((await channelsOf(env, called, wabaId)).map((id) => [id, news]));
  if (called.settings.wabaId === undefined) {
    // An app's URL gets the reports of all its accounts. So the channel asks whether it was meant.
    const { state, ...rest } = news;
    newsOf.set(called.id, { ...rest, ...(state !== undefined && { isAskWorthy: true }) });
  }
  await doEach(newsOf, ([id, told]) =>
    callObject(env.CHANNELS, id, (channel) => channel.takeNews(id, told), called.region),
  );
  return newsOf.size > 0 ? "applied" : "unknown_account";
}

/** The channels of the organization that have the account, oldest first. */
async function channelsOf(env: Env, called: ChannelRecord, wabaId: string): Promise<string[]> {
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
    .orderBy(channels.createdAt, channels.id);
  return found.map(({ id }) => id);
}
