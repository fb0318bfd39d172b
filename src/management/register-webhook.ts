import { channelRecord } from "../calls/channel-record.ts";
import { ADAPTERS, networkOf } from "../channels/registry.ts";
import { directory } from "../db/client.ts";
import { rowOf } from "../db/rows.ts";
import { channels } from "../db/schema.ts";
import { fault } from "../http/validation.ts";
import { ApiError } from "../model/error.ts";
import type { ChannelView } from "./present-channel.ts";

/**
 * Registers a channel's webhook at its network.
 * @returns the webhook's URL and the network's response
 * @throws ApiError `channel_not_found`; `validation_failed` if the network has no call for it
 */
export async function registerChannel(env: Env, { scope, origin }: ChannelView, id: string) {
  await rowOf(directory(env), scope, channels, id, "channel_not_found");
  const record = await channelRecord(env, id, { fresh: "now" });
  if (!record) throw new ApiError("channel_not_found");
  const { kind, verifyToken, credentials } = record;
  const register = kind === "web" ? undefined : ADAPTERS[kind].registerWebhook;
  if (kind === "web" || !register) throw fault("id", "is a channel whose webhook can't be registered by the service");
  const url = `${origin}/hooks/${kind}/${id}`;
  return { webhook: { url, ...(await register(url, verifyToken ?? "", credentials, networkOf(env, kind))) } };
}
