import * as z from "zod/mini";
import type { AddressChange, InboundItem, InboundMessage } from "../adapter.ts";
import { safeContentType } from "../network-response.ts";
import { networkIdOf } from "./network-id.ts";

const MAX_NAME = 200;
const MAX_DETAIL = 300;
/** Telegram's ids have about 80 characters. The limit keeps a row small, even if a webhook is huge. */
const MAX_FILE_ID = 512;

/** A field that may be absent. A value of another type counts as absent, so that no message is lost if Telegram changes it. */
function lenient<T extends z.ZodMiniType>(schema: T) {
  return z.catch(z.optional(schema), undefined);
}

const text = lenient(z.string());
const names = { title: text, first_name: text, last_name: text, username: text };
const fileId = z.string().check(z.minLength(1), z.maxLength(MAX_FILE_ID));
const file = lenient(z.object({ file_id: fileId, mime_type: text, file_name: text }));
const integer = lenient(z.int());

const message = z.object({
  message_id: z.int(),
  ephemeral_message_id: integer,
  date: integer,
  chat: z.object({ id: z.int(), ...names }),
  from: lenient(z.object(names)),
  text,
  caption: text,
  photo: lenient(z.array(z.object({ file_id: fileId, width: z.number(), height: z.number() }))),
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

/** Unsupported kinds, with the fields that their description contains. A venue also has a `location`, so it comes first. */
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

/** Reads an update: at most one message or change of address. Other updates only leave a note with their kind. */
export function readUpdate(update: unknown, token: string): { items: InboundItem[]; notes: string[] } {
  const { update_id: _, ...fields } = objectOf(update);
  const raw = objectOf(fields.message);
  const read = message.safeParse(raw);
  if (read.success) {
    return { items: [{ account: null, item: changeIn(read.data) ?? itemOf(read.data, raw, token) }], notes: [] };
  }
  const kinds = Object.keys(fields).filter((name) => /^[a-z_]{1,40}$/.test(name));
  return { items: [], notes: [`update not stored: ${kinds.slice(0, 3).join(", ") || "empty"}`] };
}

/** The change of a group's id when it becomes a supergroup. Telegram reports it in both the old and the new group. */
function changeIn({ chat, migrate_to_chat_id: to, migrate_from_chat_id: from }: Message): AddressChange | null {
  if (to !== undefined) return { kind: "address", from: String(chat.id), to: String(to) };
  return from === undefined ? null : { kind: "address", from: String(from), to: String(chat.id) };
}

function itemOf(message: Message, raw: Record<string, unknown>, token: string): InboundMessage {
  const { chat, from, message_id: id } = message;
  const address = String(chat.id);
  const attached = mediaOf(message);
  return {
    kind: "message",
    // Ephemeral messages have the id 0 and a second id that Telegram reuses. The date makes them unique.
    networkId: networkIdOf(token, address, id || `0.${message.ephemeral_message_id}.${message.date}`),
    address,
    addresses: [],
    // A group's name takes precedence over the name of the member who wrote.
    name: nameOf(chat) ?? (from ? nameOf(from) : null),
    type: attached?.type ?? "TEXT",
    content: attached
      ? (message.caption ?? "")
      : message.text || [describe(raw), message.caption].filter(Boolean).join(" "),
    media: attached?.media ?? null,
  };
}

function mediaOf(message: Message): Pick<InboundMessage, "type" | "media"> | null {
  const largest = message.photo?.reduce<(typeof message.photo)[number] | null>(
    (best, size) => (best && best.width * best.height >= size.width * size.height ? best : size),
    null,
  );
  if (largest) return { type: "IMAGE", media: { id: largest.file_id, contentType: "image/jpeg", fileName: null } };
  for (const [kind, type, defaultType] of FILES) {
    const file = message[kind];
    if (!file) continue;
    const fileName = clip(file.file_name ?? "", MAX_NAME) || null;
    return { type, media: { id: file.file_id, contentType: safeContentType(file.mime_type) ?? defaultType, fileName } };
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

/** Truncates to `max` UTF-16 units and replaces a surrogate that was cut in half. */
function clip(text: string, max: number): string {
  return text.trim().slice(0, max).toWellFormed();
}
