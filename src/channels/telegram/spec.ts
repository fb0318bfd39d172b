import * as z from "zod/mini";
import { telegramRendering } from "../../model/channel-kinds/telegram.ts";
import { type FileInfo, MEBIBYTE, type MediaType } from "../../model/file.ts";
import { credential, networkSettings } from "../network/spec.ts";

/** The credentials, settings and addresses of Telegram channels. A contact's address is the id of a Telegram chat. */
export const telegramSpec = {
  // Telegram's form of a bot token: the bot's id, a colon, a secret.
  credentials: z.object({
    botToken: credential(/^\s*\d+:[\w-]{8,}\s*$/, "must be a bot token, such as 123456:ABC-DEF", 128),
  }),
  settings: networkSettings,
  defaults: { perSecond: 25 },
  address(text: string): string | null {
    return /^-?[1-9]\d{0,19}$/.test(text) ? text : null;
  },
  addressError: "must be a chat id: digits without leading zeros, with a leading - for a group",
  renderingOf: telegramRendering,
  takes: takenByTelegram,
  /** @see https://core.telegram.org/bots/api#sendvoice */
  takesVoice: (type: string | null) => type !== null && /^audio\/(?:ogg|opus|mpeg|mp4)$/.test(type),
};

const MAX_IMAGE = 10 * MEBIBYTE;
/** The maximum sum of a photo's width and height, in pixels. */
const MAX_SIDES = 10_000;
const MAX_RATIO = 20;
/** A GIF is not sent as a photo: apps play it as a document. */
const PHOTO = /^image\/(?:jpeg|png|webp)$/;

/**
 * Why Telegram does not take a file as this type; null if it does.
 * @see https://core.telegram.org/bots/api#sendphoto
 */
export function takenByTelegram({ contentType, size, width, height }: FileInfo, type: MediaType): string | null {
  if (type === "AUDIO") return contentType.startsWith("audio/") ? null : "is not an audio file";
  if (type === "VIDEO") return contentType.startsWith("video/") ? null : "is not a video";
  if (type === "DOCUMENT") return null;
  if (!PHOTO.test(contentType)) return "must be a JPEG, PNG or WebP to be an IMAGE on Telegram";
  if (size > MAX_IMAGE) return "must have at most 10 MB to be an IMAGE on Telegram";
  if (width === null || height === null) return null;
  if (width + height > MAX_SIDES) return "must have sides of at most 10,000 pixels together to be an IMAGE on Telegram";
  const isNarrow = Math.max(width, height) > MAX_RATIO * Math.min(width, height);
  return isNarrow ? "must have a longer side of at most 20 times the shorter one to be an IMAGE on Telegram" : null;
}
