import type { Credentials } from "../../model/channel.ts";
import type { Registration } from "../../model/network.ts";
import type { Network } from "../network/adapter.ts";
import { call } from "./call.ts";

const DEADLINE_MS = 15_000;

/** The updates that the service reads. `my_chat_member`, that a contact blocks the bot, is only noted. */
export const UPDATES = ["message", "edited_message", "callback_query", "message_reaction", "my_chat_member"] as const;

/** Registers `url` as the webhook for these updates. Telegram sends `verifyToken` in a header. Never throws. */
export async function registerWebhook(
  url: string,
  verifyToken: string,
  { botToken = "" }: Credentials,
  network: Network,
): Promise<Registration> {
  const body = { url, secret_token: verifyToken, allowed_updates: UPDATES };
  const answer = await call("setWebhook", body, botToken, network, AbortSignal.timeout(DEADLINE_MS));
  if (answer.answer === "ok") return { ok: true, code: null, description: answer.description };
  return { ok: false, code: answer.answer === "refused" ? answer.code : null, description: answer.description };
}
