import { channelRecord } from "../channels/record.ts";
import { ADAPTERS, networkOf } from "../channels/registry.ts";
import { ApiError } from "../http/errors.ts";
import { fault } from "../http/validation.ts";

/**
 * Has a channel's network call us with what comes for it.
 * @returns the address that the network is to call, and what it said
 * @throws ApiError `channel_not_found`; `validation_failed` for a channel whose network is told by hand
 */
export async function registerChannel(env: Env, origin: string, id: string) {
  const record = await channelRecord(env, id, { fresh: "now" });
  if (!record) throw new ApiError("channel_not_found");
  const { kind, verifyToken, credentials } = record;
  const register = kind === "web" ? undefined : ADAPTERS[kind].registerWebhook;
  if (kind === "web" || !register) throw fault("id", "is a channel whose webhook can't be registered from here");
  const url = `${origin}/hooks/${kind}/${id}`;
  return { webhook: { url, ...(await register(url, verifyToken ?? "", credentials, networkOf(env, kind))) } };
}
