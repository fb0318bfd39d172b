import { isSameSecret } from "../../secrets/compare.ts";
import type { Credentials, ParsedWebhook } from "../adapter.ts";
import { readUpdate } from "./update.ts";

/**
 * Telegram sends back the secret that the webhook was registered with; it signs nothing. A channel without a secret
 * takes nothing. What is genuine and can't be read has a note alone, else Telegram would send it for ever.
 */
export async function receiveFromTelegram(
  { headers, body }: { headers: Headers; body: Uint8Array<ArrayBuffer> },
  { botToken = "" }: Credentials,
  verifyToken: string,
): Promise<ParsedWebhook> {
  const given = headers.get("X-Telegram-Bot-Api-Secret-Token");
  if (!given || !verifyToken) return { genuine: false };
  if (!(await isSameSecret(given, verifyToken))) return { genuine: false };
  try {
    return { genuine: true, ...readUpdate(JSON.parse(new TextDecoder().decode(body)), botToken) };
  } catch {
    return { genuine: true, items: [], notes: ["a body that is no JSON"] };
  }
}
