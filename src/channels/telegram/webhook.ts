import type { Credentials } from "../../model/channel.ts";
import type { ParsedWebhook } from "../../model/network.ts";
import { isSameSecret } from "../../secrets/compare.ts";
import type { ReceivedCall } from "../network/adapter.ts";
import { readUpdate } from "./update.ts";

/**
 * Verifies and parses a webhook. Telegram sends the secret that the webhook was registered with; it does not sign the
 * body. A channel without a secret accepts nothing. A genuine body that can't be parsed is accepted with a note, because
 * Telegram would repeat it forever otherwise.
 */
export async function receiveFromTelegram(
  { headers, readBody }: ReceivedCall,
  { botToken = "" }: Credentials,
  verifyToken: string,
): Promise<ParsedWebhook> {
  const token = headers.get("X-Telegram-Bot-Api-Secret-Token");
  if (!token || !verifyToken) return { genuine: false };
  if (!(await isSameSecret(token, verifyToken))) return { genuine: false };
  const body = await readBody();
  try {
    return { genuine: true, ...readUpdate(JSON.parse(new TextDecoder().decode(body)), botToken) };
  } catch {
    return { genuine: true, items: [], notes: ["body is not JSON"] };
  }
}
