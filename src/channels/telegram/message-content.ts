import * as z from "zod/mini";
import type { InboundMessage, ReceivedMedia } from "../../model/network.ts";
import { cutField } from "../../model/received.ts";
import { lenient, textField } from "../network/lenient.ts";
import { receivedContentType } from "../network/network-response.ts";
import { receivedCards, receivedEmoji, receivedFileName, receivedLocation, receivedTerm } from "../network/received.ts";
import { fields } from "./fields.ts";
import { isNotice, newFieldsIn } from "./known-fields.ts";
import { richWords, withLinks } from "./rich-text.ts";

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

type Content = Pick<
  InboundMessage,
  "type" | "content" | "media" | "location" | "contacts" | "sticker" | "voice" | "submitted"
>;

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

/** What the contact's app hands over, and what kind of submission it is. */
const SUBMITTED = {
  web_app_data: "web_app",
  successful_payment: "payment",
  refunded_payment: "payment",
  users_shared: "users",
  chat_shared: "chat",
} as const;

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
  gift: [],
  unique_gift: [],
  giveaway: ["prize_description"],
  giveaway_winners: ["prize_description"],
  story: [],
  paid_media: [],
  photo: [],
  live_photo: [],
  rich_message: [],
  web_app_data: ["button_text", "data"],
  successful_payment: ["amount"],
  refunded_payment: ["amount"],
  users_shared: ["names"],
  chat_shared: ["title", "username", "chat_id"],
  ...Object.fromEntries(FILES.map(([kind]) => [kind, ["file_name"]])),
};

/** What a message says. @param raw its fields, not validated: what it has besides is described */
export function contentOf(message: z.output<typeof content>, raw: Record<string, unknown>): Content {
  const { sticker } = message;
  const attached = mediaOf(message);
  const text = withLinks(message.text ?? "", raw.entities) || richWords(raw.rich_message);
  const caption = withLinks(message.caption ?? "", raw.caption_entities);
  const said = attached ? caption : text || [describe(raw), caption].filter(Boolean).join(" ");
  const content = [said, ...answered(raw)].filter(Boolean).join("\n");
  if (attached) return { ...attached, content, ...(!message.audio && message.voice && { voice: true }) };
  if (!text && sticker) return { ...stickerOf(sticker), content };
  return { type: "TEXT", content, media: null, ...(!text && { ...placeOrCard(raw), ...submittedIn(raw) }) };
}

/** Whether a message has a text or a caption, or may have had a caption: an edit changes nothing else. */
export function hasWords(message: z.output<typeof content>, raw: Record<string, unknown>): boolean {
  return Boolean(message.text || message.caption || mediaOf(message) || richWords(raw.rich_message));
}

/** Whether a message only says what happened in its chat. @param raw its fields, not validated */
export function isService(message: z.output<typeof content>, raw: Record<string, unknown>): boolean {
  return !hasWords(message, raw) && kindIn(raw) === undefined && Object.keys(raw).some(isNotice);
}

/** What a message answers besides a message of its chat: the words that the contact chose, another chat's message, a story. */
function answered({ quote, external_reply, reply_to_story }: Record<string, unknown>): string[] {
  const { text, is_manual } = fields(quote);
  return [
    is_manual === true ? described("quote", [text]) : "",
    external_reply === undefined ? "" : described("external_reply", [kindIn(fields(external_reply))]),
    reply_to_story === undefined ? "" : described("reply_to_story", []),
  ];
}

function submittedIn(raw: Record<string, unknown>): Pick<Content, "submitted"> {
  for (const [name, kind] of Object.entries(SUBMITTED)) {
    if (raw[name] === undefined) continue;
    // Pictures are files for minutes, and no words.
    const { photo: _, users, ...value } = fields(raw[name]);
    const people = Array.isArray(users) && { users: users.map(fields).map(({ photo: __, ...user }) => user) };
    const isRefund = name === "refunded_payment" && { refunded: true };
    return { submitted: cutField({ kind, data: { ...isRefund, ...value, ...people } }) };
  }
  return {};
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

function kindIn(raw: Record<string, unknown>): string | undefined {
  return Object.keys(DESCRIBED).find((name) => raw[name] !== undefined);
}

function describe(raw: Record<string, unknown>): string {
  const kind = kindIn(raw);
  if (kind === undefined) return described(newKindIn(raw), []);
  const value = fields(raw[kind]);
  const { users, total_amount, currency } = value;
  const people = Array.isArray(users) ? users.map(fields) : [];
  const names = people
    .map(({ first_name, username, user_id }) => receivedTerm(first_name ?? username ?? user_id))
    .filter(Boolean)
    .join(", ");
  // How many of these make one unit differs between currencies. Telegram's own Stars have no smaller unit.
  const unit = currency === "XTR" ? " XTR" : ` of the smallest unit of ${receivedTerm(currency) ?? "a currency"}`;
  const amount = `${receivedTerm(total_amount) ?? "?"}${unit}`;
  const shown: Record<string, unknown> = { ...value, names, amount };
  return described(kind, DESCRIBED[kind]?.map((field) => shown[field]) ?? []);
}

/** A kind in brackets, with its details. */
function described(kind: string, details: unknown[]): string {
  const texts = details
    .filter((detail) => (typeof detail === "string" && detail !== "") || typeof detail === "number")
    .map((detail) => String(detail).trim().slice(0, MAX_DETAIL).toWellFormed());
  return `[${[kind.replaceAll("_", " "), texts.join(", ")].filter(Boolean).join(": ")}]`;
}

/** The name of a field that nobody here knows: it is what the message says. */
function newKindIn(raw: Record<string, unknown>): string {
  const [name = ""] = newFieldsIn(raw);
  return /^[a-z][a-z_]{0,39}$/.test(name) ? name : "unsupported message";
}
