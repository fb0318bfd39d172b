import * as z from "zod/mini";
import type { AddressChange, InboundItem, InboundMessage } from "../adapter.ts";
import { safeContentType } from "../network-response.ts";
import { networkIdOf } from "./network-id.ts";

const MAX_NAME = 200;
const MAX_DETAIL = 300;
/** Telegram's have about 80 characters; a row of the chat can't hold all that a webhook can. */
const MAX_FILE_ID = 512;

/** A field of Telegram's that may be absent, or be some day what it is not today: no message is lost for it. */
function maybe<T extends z.ZodMiniType>(schema: T) {
  return z.catch(z.optional(schema), undefined);
}

const text = maybe(z.string());
const names = { title: text, first_name: text, last_name: text, username: text };
const fileId = z.string().check(z.minLength(1), z.maxLength(MAX_FILE_ID));
const file = maybe(z.object({ file_id: fileId, mime_type: text, file_name: text }));
const integer = maybe(z.int());

const message = z.object({
  message_id: z.int(),
  ephemeral_message_id: integer,
  date: integer,
  chat: z.object({ id: z.int(), ...names }),
  from: maybe(z.object(names)),
  text,
  caption: text,
  photo: maybe(z.array(z.object({ file_id: fileId, width: z.number(), height: z.number() }))),
  animation: file,
  video: file,
  video_note: file,
  audio: file,
  voice: file,
  document: file,
  migrate_to_chat_id: integer,
  migrate_from_chat_id: integer,
});
type Message = z.output<typeof message>;

/**
 * Telegram's kinds of file and ours, with the content type of each where Telegram names none. An animation comes with a
 * `document` too, for clients that know no animations, so it stands before it.
 */
const FILES = [
  ["animation", "VIDEO", null],
  ["video", "VIDEO", null],
  ["video_note", "VIDEO", "video/mp4"],
  ["audio", "AUDIO", null],
  ["voice", "AUDIO", "audio/ogg"],
  ["document", "DOCUMENT", null],
] as const;

/** Kinds without a counterpart here, and what of each is told. A venue comes with its `location`. */
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

/** What one update holds: at most one message or change of address. Of other updates their kinds are noted. */
export function readUpdate(update: unknown, token: string): { items: InboundItem[]; notes: string[] } {
  const { update_id: _, ...fields } = objectOf(update);
  const raw = objectOf(fields.message);
  const read = message.safeParse(raw);
  if (read.success) {
    return { items: [{ account: null, item: changeIn(read.data) ?? itemOf(read.data, raw, token) }], notes: [] };
  }
  const kinds = Object.keys(fields).filter((name) => /^[a-z_]{1,40}$/.test(name));
  return { items: [], notes: [`an update that is not stored: ${kinds.slice(0, 3).join(", ") || "empty"}`] };
}

/** A group that became a supergroup has another id; the old group and the new one each tell. */
function changeIn({ chat, migrate_to_chat_id: to, migrate_from_chat_id: from }: Message): AddressChange | null {
  if (to !== undefined) return { kind: "address", from: String(chat.id), to: String(to) };
  return from === undefined ? null : { kind: "address", from: String(from), to: String(chat.id) };
}

function itemOf(message: Message, raw: Record<string, unknown>, token: string): InboundMessage {
  const { chat, from, message_id: id } = message;
  const address = String(chat.id);
  const found = mediaOf(message);
  return {
    kind: "message",
    // Ephemeral messages have the number 0 and another one that is used again later: the time tells them apart.
    networkId: networkIdOf(token, address, id || `0.${message.ephemeral_message_id}.${message.date}`),
    address,
    addresses: [],
    // A group's own name before that of the member who wrote.
    name: nameOf(chat) ?? (from ? nameOf(from) : null),
    type: found?.type ?? "TEXT",
    content: found
      ? (message.caption ?? "")
      : message.text || [describe(raw), message.caption].filter(Boolean).join(" "),
    media: found?.media ?? null,
  };
}

function mediaOf(message: Message): Pick<InboundMessage, "type" | "media"> | null {
  const largest = message.photo?.reduce<(typeof message.photo)[number] | null>(
    (best, size) => (best && best.width * best.height >= size.width * size.height ? best : size),
    null,
  );
  if (largest) return { type: "IMAGE", media: { id: largest.file_id, contentType: "image/jpeg", fileName: null } };
  for (const [kind, type, usual] of FILES) {
    const file = message[kind];
    if (!file) continue;
    const fileName = clip(file.file_name ?? "", MAX_NAME) || null;
    return { type, media: { id: file.file_id, contentType: safeContentType(file.mime_type) ?? usual, fileName } };
  }
  return null;
}

function nameOf({ title, first_name, last_name, username }: Message["chat"] | NonNullable<Message["from"]>) {
  return clip(title || [first_name, last_name].filter(Boolean).join(" ") || username || "", MAX_NAME) || null;
}

function describe(raw: Record<string, unknown>): string {
  const kind = Object.keys(DESCRIBED).find((name) => raw[name] !== undefined);
  if (kind === undefined) return "[unsupported message]";
  const value = objectOf(raw[kind]);
  const details = DESCRIBED[kind]
    ?.map((field) => value[field])
    .filter((detail) => (typeof detail === "string" && detail !== "") || typeof detail === "number")
    .map((detail) => clip(String(detail), MAX_DETAIL));
  return `[${[kind.replaceAll("_", " "), details?.join(", ")].filter(Boolean).join(": ")}]`;
}

function objectOf(value: unknown): { message?: unknown; update_id?: unknown; [field: string]: unknown } {
  return value instanceof Object ? (value as Record<string, unknown>) : {};
}

/** Cut to `max` UTF-16 units; half a pair at the end is replaced. */
function clip(text: string, max: number): string {
  return text.trim().slice(0, max).toWellFormed();
}
