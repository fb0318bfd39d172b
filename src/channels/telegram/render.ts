import type { Outgoing } from "../adapter.ts";

const MAX_CAPTION = 1_024;

const FIELDS = { IMAGE: "photo", DOCUMENT: "document", AUDIO: "audio", VIDEO: "video" } as const;
const METHODS = { photo: "sendPhoto", document: "sendDocument", audio: "sendAudio", video: "sendVideo" } as const;

/** A call of the Bot API. */
export interface TelegramPart {
  method: string;
  body: { chat_id: string; caption?: string } & Record<string, string>;
}

/** The calls for a message, in order. A text too long for a caption is a second call. */
export function renderForTelegram({ address, body }: Outgoing): TelegramPart[] {
  if (body.kind !== "media") return [textPart(address, body.text)];
  const { type, link, caption } = body;
  const field = FIELDS[type];
  const media: TelegramPart = { method: METHODS[field], body: { chat_id: address, [field]: link } };
  if (caption === null) return [media];
  if (caption.length > MAX_CAPTION) return [media, textPart(address, caption)];
  media.body.caption = caption.toWellFormed();
  return [media];
}

/** No parse_mode, because the text is not markup. `toWellFormed`, because Telegram refuses lone surrogates. */
function textPart(address: string, text: string): TelegramPart {
  return { method: "sendMessage", body: { chat_id: address, text: text.toWellFormed() } };
}
