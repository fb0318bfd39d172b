import { channelRecord } from "../channels/record.ts";
import { networkOf } from "../channels/registry.ts";
import { registerWebhook } from "../channels/telegram/register.ts";
import { ApiError } from "../http/errors.ts";
import { fault } from "../http/validation.ts";

/**
 * Has Telegram call us with what comes for a channel.
 * @returns the address that Telegram is to call, and what it said
 * @throws ApiError `channel_not_found`; `validation_failed` for a channel that is not Telegram's
 */
export async function registerChannel(env: Env, origin: string, id: string) {
  const record = await channelRecord(env, id, { fresh: "now" });
  if (!record) throw new ApiError("channel_not_found");
  if (record.kind !== "telegram") throw fault("id", "is no telegram channel");
  const url = `${origin}/hooks/telegram/${id}`;
  const said = await registerWebhook(url, record.verifyToken ?? "", record.credentials, networkOf(env, "telegram"));
  return { webhook: { url, ...said } };
}
