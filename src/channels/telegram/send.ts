import * as z from "zod/mini";
import { type Credentials, MEDIA_URL_REQUIRED, type Network, type Outbound, type Outcome } from "../adapter.ts";
import { linkedMedia } from "../link.ts";
import { call } from "./call.ts";
import { outcomeOf } from "./errors.ts";
import { networkIdOf } from "./network-id.ts";

const MAX_CAPTION = 1_024;

const FIELDS = { IMAGE: "photo", DOCUMENT: "document", AUDIO: "audio", VIDEO: "video" } as const;
const METHODS = { photo: "sendPhoto", document: "sendDocument", audio: "sendAudio", video: "sendVideo" } as const;

interface Call {
  method: string;
  body: { chat_id: string; caption?: string } & Record<string, string>;
}

const sentMessage = z.object({ message_id: z.int() });

/** Sends what of a message has not gone out, as one call or two; never throws. */
export async function sendToTelegram(
  message: Outbound,
  { botToken = "" }: Credentials,
  network: Network,
  signal: AbortSignal,
  onPart?: (networkId: string) => void,
): Promise<Outcome> {
  const parts = [...message.partsSent];
  const calls = callsOf(message);
  if (!calls) {
    const text = `A message of type ${message.type} needs mediaUrl, or content that is an https URL`;
    return { outcome: "failed", code: MEDIA_URL_REQUIRED, message: text, parts };
  }
  for (const { method, body } of calls.slice(parts.length)) {
    const answer = await call(method, body, botToken, network, signal);
    if (answer.answer !== "ok") return outcomeOf(answer, message.address, parts);
    const sent = sentMessage.safeParse(answer.result);
    if (!sent.success) return { outcome: "unknown", message: "Telegram's answer names no message", parts };
    const id = networkIdOf(botToken, message.address, sent.data.message_id);
    parts.push(id);
    onPart?.(id);
  }
  return { outcome: "sent", parts, addresses: [] };
}

/** How many calls a message takes. */
export function countTelegramParts(message: Outbound): number {
  return callsOf(message)?.length ?? 1;
}

/** The calls that a message takes, in order; null for media without a link. Text that no caption holds follows it. */
function callsOf({ type, address, content, mediaUrl, text }: Outbound): Call[] | null {
  // No parse_mode: the text is the user's. A lone surrogate would make Telegram refuse the whole body.
  const asText = { method: "sendMessage", body: { chat_id: address, text: text.toWellFormed() } };
  if (type === "TEXT" || type === "TEMPLATE") return [asText];
  const linked = linkedMedia({ content, mediaUrl });
  if (!linked) return null;
  const field = FIELDS[type];
  const asMedia: Call = { method: METHODS[field], body: { chat_id: address, [field]: linked.link } };
  if (linked.caption === null) return [asMedia];
  if (text.length > MAX_CAPTION) return [asMedia, asText];
  asMedia.body.caption = asText.body.text;
  return [asMedia];
}
