import type { Credentials, Network, Registration } from "../adapter.ts";
import { call } from "./call.ts";

const DEADLINE_MS = 15_000;

/** Registers `url` as the webhook for new messages. Telegram sends `verifyToken` in a header. Never throws. */
export async function registerWebhook(
  url: string,
  verifyToken: string,
  { botToken = "" }: Credentials,
  network: Network,
): Promise<Registration> {
  const body = { url, secret_token: verifyToken, allowed_updates: ["message"] };
  const answer = await call("setWebhook", body, botToken, network, AbortSignal.timeout(DEADLINE_MS));
  if (answer.answer === "ok") return { ok: true, code: null, description: answer.description };
  return { ok: false, code: answer.answer === "refused" ? answer.code : null, description: answer.description };
}
