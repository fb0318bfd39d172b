import type { Credentials, Network } from "../adapter.ts";
import { call } from "./call.ts";

const DEADLINE_MS = 15_000;

/** What Telegram said; `code` is its error code, null for a success and where no answer came. */
export interface Registration {
  ok: boolean;
  code: number | null;
  description: string;
}

/** Has Telegram call `url` with each new message, with `verifyToken` in a header; never throws. */
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
