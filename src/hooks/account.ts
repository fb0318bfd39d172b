import { and, eq } from "drizzle-orm";
import { type ChannelRecord, channelRecord } from "../channels/record.ts";
import { directory } from "../db/client.ts";
import { channels } from "../db/schema.ts";

/**
 * The channel that an item of a webhook is for. Meta calls one address for all the numbers of an app: an item for
 * another number goes to the channel of that number, if that is the same organization's and has the same app's secret.
 * @returns null when there is none
 * @throws when there is none among those that could be read, and one could not
 */
export async function findAccount(
  env: Env,
  channel: ChannelRecord,
  account: string | null,
): Promise<ChannelRecord | null> {
  if (account === null || account === channel.credentials.phoneNumberId) return channel;
  const siblings = await directory(env)
    .select({ id: channels.id })
    .from(channels)
    .where(and(eq(channels.organizationId, channel.organizationId), eq(channels.kind, channel.kind)));
  let unread: unknown = null;
  for (const { id } of siblings) {
    try {
      const sibling = await channelRecord(env, id);
      const { phoneNumberId, appSecret } = sibling?.credentials ?? {};
      if (sibling && phoneNumberId === account && appSecret === channel.credentials.appSecret) return sibling;
    } catch (error) {
      // It may be the one; but another, that can be read, may be it as well.
      unread = error;
    }
  }
  if (unread) throw unread;
  return null;
}
