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

/** Sends the parts of a message that are not in `partsSent`, one call for each part; never throws. */
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
    const reason = `The ${message.type.toLowerCase()} needs a link: set mediaUrl to an https URL`;
    return { outcome: "failed", code: MEDIA_URL_REQUIRED, message: reason, parts };
  }
  for (const { method, body } of calls.slice(parts.length)) {
    const answer = await call(method, body, botToken, network, signal);
    if (answer.answer !== "ok") return outcomeOf(answer, message.address, parts);
    const sent = sentMessage.safeParse(answer.result);
    if (!sent.success) return { outcome: "unknown", message: "Telegram's answer has no message id", parts };
    const id = networkIdOf(botToken, message.address, sent.data.message_id);
    parts.push(id);
    onPart?.(id);
  }
  return { outcome: "sent", parts, addresses: [] };
}

/** How many calls a message needs. */
export function countTelegramParts(message: Outbound): number {
  return callsOf(message)?.length ?? 1;
}

/** The calls for a message, in order; null for media without a link. A text too long for a caption is a second call. */
function callsOf({ type, address, content, mediaUrl, text }: Outbound): Call[] | null {
  // No parse_mode, because the text is not markup. `toWellFormed`, because Telegram refuses lone surrogates.
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
