import * as z from "zod/mini";
import type { InboundMessage, ReceivedMedia } from "../../model/network.ts";
import { lenient, textField } from "../network/lenient.ts";
import { receivedContentType } from "../network/network-response.ts";
import { receivedCards, receivedEmoji, receivedFileName, receivedLocation } from "../network/received.ts";
import { fields } from "./fields.ts";

const MAX_DETAIL = 300;
/** Telegram's ids have about 80 characters. The limit keeps a row small, even if a webhook is huge. */
const MAX_FILE_ID = 512;

const fileId = z.string().check(z.minLength(1), z.maxLength(MAX_FILE_ID));
const count = lenient(z.int().check(z.gte(0)));
const measures = { file_size: count, width: count, height: count };
/** A round video has the `length` of its sides. */
const file = lenient(
  z.object({ file_id: fileId, mime_type: textField, file_name: textField, length: count, ...measures }),
);
const flag = lenient(z.boolean());

export const contentShape = {
  text: textField,
  caption: textField,
  photo: lenient(z.array(z.object({ ...measures, file_id: fileId, width: z.number(), height: z.number() }))),
  sticker: lenient(z.object({ file_id: fileId, is_animated: flag, is_video: flag, emoji: textField, ...measures })),
  animation: file,
  video: file,
  video_note: file,
  audio: file,
  voice: file,
  document: file,
};
const content = z.object(contentShape);

type Content = Pick<InboundMessage, "type" | "content" | "media" | "location" | "contacts" | "sticker">;

/**
 * Telegram's file fields, their message types, and the content type if Telegram sends none. An animation also has a
 * `document` field for older clients, so `animation` comes first.
 */
const FILES = [
  ["animation", "VIDEO", null],
  ["video", "VIDEO", null],
  ["video_note", "VIDEO", "video/mp4"],
  ["audio", "AUDIO", null],
  ["voice", "AUDIO", "audio/ogg"],
  ["document", "DOCUMENT", null],
] as const;

/** Kinds other than text, with the fields of their description. A venue also has a `location`, so it comes first. */
const DESCRIBED: Record<string, string[]> = {
  sticker: ["emoji"],
  venue: ["title", "address"],
  location: ["latitude", "longitude"],
  contact: ["first_name", "last_name", "phone_number"],
  poll: ["question"],
  dice: ["emoji", "value"],
  game: ["title"],
  checklist: ["title"],
  invoice: ["title"],
  rich_message: [],
  gift: [],
  story: [],
  paid_media: [],
  photo: [],
  ...Object.fromEntries(FILES.map(([kind]) => [kind, ["file_name"]])),
  new_chat_members: [],
  left_chat_member: ["first_name", "last_name"],
};

/** What a message says. @param raw its fields, not validated: what it has besides is described */
export function contentOf(message: z.output<typeof content>, raw: Record<string, unknown>): Content {
  const { text, caption, sticker } = message;
  const attached = mediaOf(message);
  if (attached) return { ...attached, content: caption ?? "" };
  if (text) return { type: "TEXT", content: text, media: null };
  const described = [describe(raw), caption].filter(Boolean).join(" ");
  if (sticker) return { ...stickerOf(sticker), content: described };
  return { type: "TEXT", content: described, media: null, ...placeOrCard(raw) };
}

/** Whether a message has a text or a caption, or may have had a caption: an edit changes nothing else. */
export function hasWords(message: z.output<typeof content>): boolean {
  return Boolean(message.text || message.caption || mediaOf(message));
}

function mediaOf(message: z.output<typeof content>): Pick<Content, "type" | "media"> | null {
  const largest = message.photo?.reduce<(typeof message.photo)[number] | null>(
    (best, size) => (best && best.width * best.height >= size.width * size.height ? best : size),
    null,
  );
  if (largest) return { type: "IMAGE", media: mediaOfFile(largest, "image/jpeg", null) };
  for (const [kind, type, defaultType] of FILES) {
    const file = message[kind];
    if (!file) continue;
    const fileName = receivedFileName(file.file_name);
    const { length } = file;
    const measured = length ? { ...file, width: length, height: length } : file;
    return { type, media: mediaOfFile(measured, receivedContentType(file.mime_type) ?? defaultType, fileName) };
  }
  return null;
}

interface TelegramFile {
  file_id: string;
  file_size?: number | undefined;
  width?: number | undefined;
  height?: number | undefined;
}

/** Sides of 0 are unknown ones. */
function mediaOfFile(
  { file_id: id, file_size: size, width, height }: TelegramFile,
  contentType: string | null,
  fileName: string | null,
): ReceivedMedia {
  return {
    id,
    contentType,
    fileName,
    ...(size !== undefined && { size }),
    ...(width && height && { width, height }),
  };
}

function stickerOf(sticker: NonNullable<z.output<typeof content>["sticker"]>) {
  const { is_animated, is_video, emoji } = sticker;
  const [type, contentType] = is_video
    ? (["VIDEO", "video/webm"] as const)
    : is_animated
      ? (["DOCUMENT", "application/x-tgsticker"] as const)
      : (["IMAGE", "image/webp"] as const);
  return { type, media: mediaOfFile(sticker, contentType, null), sticker: { emoji: receivedEmoji(emoji) } };
}

function placeOrCard(raw: Record<string, unknown>): Pick<Content, "location" | "contacts"> {
  const venue = fields(raw.venue);
  const location = receivedLocation({
    ...fields(venue.location ?? raw.location),
    name: venue.title,
    address: venue.address,
  });
  if (location) return { location };
  const { first_name, last_name, phone_number } = fields(raw.contact);
  const name = [first_name, last_name].filter((part) => typeof part === "string" && part !== "").join(" ");
  const contacts = receivedCards([{ name, phones: [phone_number] }]);
  return contacts ? { contacts } : {};
}

function describe(raw: Record<string, unknown>): string {
  const kind = Object.keys(DESCRIBED).find((name) => raw[name] !== undefined);
  if (kind === undefined) return "[unsupported message]";
  const value = fields(raw[kind]);
  const details = DESCRIBED[kind]
    ?.map((field) => value[field])
    .filter((detail) => (typeof detail === "string" && detail !== "") || typeof detail === "number")
    .map((detail) => String(detail).trim().slice(0, MAX_DETAIL).toWellFormed());
  return `[${[kind.replaceAll("_", " "), details?.join(", ")].filter(Boolean).join(": ")}]`;
}
