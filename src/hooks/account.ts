import { and, eq } from "drizzle-orm";
import { type ChannelRecord, channelRecord } from "../channels/record.ts";
import { ADAPTERS } from "../channels/registry.ts";
import { directory } from "../db/client.ts";
import { channels } from "../db/schema.ts";

/**
 * The channel that an item of a webhook is for. A network may call one address for several accounts: an item for
 * another account than the channel's goes to the channel of that account, if the same organization has one.
 * @returns null when there is none
 * @throws when there is none among those that could be read, and one could not
 */
export async function findAccount(
  env: Env,
  channel: ChannelRecord,
  account: string | null,
): Promise<ChannelRecord | null> {
  if (account === null || channel.kind === "web") return channel;
  const adapter = ADAPTERS[channel.kind];
  const isIts = ({ credentials }: ChannelRecord) => adapter.isFor?.(account, credentials, channel.credentials) ?? true;
  if (isIts(channel)) return channel;
  const siblings = await directory(env)
    .select({ id: channels.id })
    .from(channels)
    .where(and(eq(channels.organizationId, channel.organizationId), eq(channels.kind, channel.kind)));
  let unread: unknown = null;
  for (const { id } of siblings) {
    try {
      const sibling = await channelRecord(env, id);
      if (sibling && isIts(sibling)) return sibling;
    } catch (error) {
      // It may be the one; but another, that can be read, may be it as well.
      unread = error;
    }
  }
  if (unread) throw unread;
  return null;
}
