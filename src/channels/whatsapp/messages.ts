import * as z from "zod/mini";
import type { MessageType } from "../../model/content.ts";
import type { InboundItem, InboundMessage } from "../../model/network.ts";
import { lenient, textField } from "../network/lenient.ts";
import { receivedContentType } from "../network/network-response.ts";
import {
  receivedAt,
  receivedCards,
  receivedEmoji,
  receivedFileName,
  receivedLocation,
  receivedTap,
} from "../network/received.ts";
import { describe, fieldAt, listAt } from "./describe.ts";
import { distinct, type MetaContact, networkId, person } from "./fields.ts";
import { addressChange } from "./system-notice.ts";

/** A message from a contact. The field that its type names has what it says. */
export const message = z.looseObject({
  id: networkId,
  type: z.string(),
  from: person,
  from_user_id: person,
  from_parent_user_id: person,
  timestamp: z.optional(z.unknown()),
  context: lenient(z.object({ id: lenient(networkId) })),
});
type Received = z.output<typeof message>;

const textBody = z.object({ body: z.string() });
const mediaBody = z.object({ id: networkId, caption: textField, mime_type: textField, filename: textField });
const reaction = z.object({ message_id: networkId, emoji: z.nullish(z.string()) });
const original = z.object({ original_message_id: networkId });
const editedBody = z.looseObject({ type: z.string() });
const stickerBody = z.object({ id: networkId });

const MEDIA_TYPES: ReadonlyMap<string, MessageType> = new Map([
  ["image", "IMAGE"],
  ["video", "VIDEO"],
  ["audio", "AUDIO"],
  ["document", "DOCUMENT"],
]);

type Content = Pick<InboundMessage, "type" | "content" | "media" | "tap" | "location" | "contacts" | "sticker">;

/** The items of a message from a contact, or the note that it leaves. */
export function messageItems(received: Received, contact: MetaContact | undefined): InboundItem["item"][] | string {
  if (received.type === "system") return noticeOf(received);
  const [address, ...addresses] = distinct([
    received.from,
    contact?.wa_id,
    received.from_user_id,
    contact?.user_id,
    received.from_parent_user_id,
    contact?.parent_user_id,
  ]);
  if (address === undefined) return "message without a sender";
  const { id, type, context } = received;
  const part = partOf(received, type);
  if (type === "edit" || type === "revoke") return changeOf(received, address) ?? `${type} not understood`;
  const reacted = type === "reaction" ? reactionOf(received, address) : null;
  if (reacted) return [reacted];
  const name = contact?.profile?.name || contact?.profile?.username || null;
  const quote = context?.id !== undefined && { quote: context.id };
  const username = contact?.profile?.username;
  const item = {
    kind: "message",
    networkId: id,
    address,
    addresses: distinct([...addresses, ...verifiedNumbers(type, part)]),
    name,
    ...(username && { username }),
    ...contentOf(type, part),
    ...quote,
  } as const;
  return [item];
}

/** What WhatsApp itself says of a contact: no message, and perhaps other addresses. */
function noticeOf(received: Received): InboundItem["item"][] | string {
  const change = addressChange(received);
  return change ? [change] : "system without an address";
}

/** The contact's own number, which WhatsApp has verified: the contact shared it when the company asked. */
function verifiedNumbers(type: string, part: unknown): string[] {
  if (type !== "contacts") return [];
  return listAt(part)
    .filter((card) => fieldAt(card, "origin") === "contact_request")
    .flatMap((card) => listAt(card, "phones"))
    .map((phone) => fieldAt(phone, "wa_id"))
    .filter((number): number is string => typeof number === "string" && /^\d{1,20}$/.test(number));
}

/** The field that has the content of a message of a type, not validated. */
function partOf(value: Record<string, unknown>, type: string): unknown {
  return Object.hasOwn(value, type) ? value[type] : undefined;
}

function contentOf(type: string, part: unknown): Content {
  if (type === "text") {
    const body = textBody.safeParse(part);
    if (body.success) return { type: "TEXT", content: body.data.body, media: null };
  }
  const mediaType = MEDIA_TYPES.get(type);
  const file = mediaType && mediaBody.safeParse(part).data;
  if (file) {
    const { id, caption, mime_type, filename } = file;
    const media = { id, contentType: receivedContentType(mime_type), fileName: receivedFileName(filename) };
    return { type: mediaType, content: caption ?? "", media };
  }
  return { type: "TEXT", content: describe(type, part), media: null, ...moreThanText(type, part) };
}

/** What a message has besides its description. */
function moreThanText(type: string, part: unknown): Partial<Content> {
  switch (type) {
    case "button":
    case "interactive": {
      const tap = tapOf(type, part);
      return tap ? { tap, ...(tap.title && { content: tap.title }) } : {};
    }
    case "location": {
      const location = receivedLocation(Object(part));
      return location ? { location } : {};
    }
    case "contacts": {
      const contacts = receivedCards(listAt(part).map(cardOf));
      return contacts ? { contacts } : {};
    }
    case "sticker": {
      const sticker = stickerBody.safeParse(part).data;
      const media = sticker && { id: sticker.id, contentType: "image/webp", fileName: null };
      return media ? { type: "IMAGE", media, sticker: { emoji: null } } : {};
    }
    default:
      return {};
  }
}

/** A tap on a button or list entry that the service sent, or on a button of a template. */
function tapOf(type: string, part: unknown): InboundMessage["tap"] {
  if (type === "button") return receivedTap(fieldAt(part, "payload"), fieldAt(part, "text"));
  const kind = fieldAt(part, "type");
  if (kind !== "button_reply" && kind !== "list_reply") return undefined;
  return receivedTap(fieldAt(part, kind, "id"), fieldAt(part, kind, "title"));
}

function cardOf(card: unknown): { name: unknown; phones: unknown[] } {
  const phones = listAt(card, "phones").map((phone) => fieldAt(phone, "phone"));
  return { name: fieldAt(card, "name", "formatted_name"), phones };
}

function reactionOf({ reaction: part, timestamp }: Received, address: string): InboundItem["item"] | null {
  const read = reaction.safeParse(part).data;
  if (!read) return null;
  const emoji = receivedEmoji(read.emoji);
  // What is not an emoji is described: it must not take a reaction back.
  if (read.emoji && emoji === null) return null;
  return { kind: "reaction", networkId: read.message_id, address, emoji, at: receivedAt(timestamp) };
}

/** An edit or a deletion. An edit is of a text or a caption. */
function changeOf(received: Received, address: string): InboundItem["item"][] | null {
  const { type, timestamp } = received;
  const part = partOf(received, type);
  const networkId = original.safeParse(part).data?.original_message_id;
  if (networkId === undefined) return null;
  if (type === "revoke") return [{ kind: "revoke", networkId, address }];
  const content = wordsOf(fieldAt(part, "message"));
  return content === null ? null : [{ kind: "edit", networkId, address, content, at: receivedAt(timestamp) }];
}

function wordsOf(edited: unknown): string | null {
  const body = editedBody.safeParse(edited).data;
  if (!body) return null;
  const part = partOf(body, body.type);
  const words = fieldAt(part, body.type === "text" ? "body" : "caption");
  if (typeof words === "string") return words;
  // An edit can remove the caption of media.
  return MEDIA_TYPES.has(body.type) && part instanceof Object ? "" : null;
}
