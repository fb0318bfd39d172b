import * as z from "zod/mini";
import type { MessageType } from "../../model/content.ts";
import type { InboundItem, InboundMessage } from "../../model/network.ts";
import {
  cutField,
  type Form,
  MAX_FIELD_BYTES,
  type Order,
  type ReceivedMarks,
  type ReceivedWords,
  type Referral,
} from "../../model/received.ts";
import { lenient, textField } from "../network/lenient.ts";
import { parseJson, receivedContentType } from "../network/network-response.ts";
import {
  receivedAt,
  receivedCards,
  receivedDecimal,
  receivedEmoji,
  receivedFileName,
  receivedLocation,
  receivedTap,
  receivedTerm,
  receivedTime,
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
  context: lenient(z.looseObject({ id: lenient(networkId) })),
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

type Content = Pick<InboundMessage, "type" | "content" | "media" | "tap" | "location" | "contacts" | "sticker"> &
  ReceivedWords &
  ReceivedMarks;

/** The note of what belongs to a group. */
export const IN_A_GROUP = "groups_not_supported";
/** More than fit into an order's size. */
const MAX_ITEMS = 300;

/** The items of a message from a contact, or the note that it leaves. */
export function messageItems(received: Received, contact: MetaContact | undefined): InboundItem["item"][] | string {
  const { id, type, context, timestamp } = received;
  // The sender is a member, whose own chat must not get what the group says.
  if (received.group_id) return IN_A_GROUP;
  if (type === "request_welcome") return `${type} ignored`;
  if (type === "system") return noticeOf(received);
  const part = partOf(received, type);
  const [address, ...addresses] = distinct([
    received.from,
    contact?.wa_id,
    received.from_user_id,
    contact?.user_id,
    received.from_parent_user_id,
    contact?.parent_user_id,
  ]);
  if (address === undefined) return "message without a sender";
  if (type === "edit" || type === "revoke") return changeOf(received, address) ?? `${type} not understood`;
  const reacted = type === "reaction" ? reactionOf(received, address) : null;
  if (reacted) return [reacted];
  const name = contact?.profile?.name || contact?.profile?.username || null;
  const quote = context?.id !== undefined && { quote: context.id };
  const username = contact?.profile?.username;
  const said = { ...contentOf(type, part, received), ...besides(received), ...receivedTime(timestamp), ...quote };
  return [
    {
      kind: "message",
      networkId: id,
      address,
      addresses: distinct([...addresses, ...verifiedNumbers(type, part)]),
      name,
      ...(username && { username }),
      ...said,
    },
  ];
}

/** What a message of any type can have. */
function besides({ context, referral }: Received): ReceivedWords & ReceivedMarks {
  const isForwardedOften = context?.frequently_forwarded === true;
  const product = context?.referred_product;
  return {
    ...((isForwardedOften || context?.forwarded === true) && { forwarded: isForwardedOften ? "many" : "once" }),
    ...(product instanceof Object && {
      product: {
        catalogId: receivedTerm(fieldAt(product, "catalog_id")),
        productId: receivedTerm(fieldAt(product, "product_retailer_id")),
      },
    }),
    ...(referral instanceof Object && { referral: referralOf(referral) }),
  };
}

function referralOf(referral: unknown): Referral {
  const at = (name: string) => receivedTerm(fieldAt(referral, name), MAX_FIELD_BYTES);
  return cutField({
    type: at("source_type"),
    id: at("source_id"),
    url: at("source_url"),
    headline: at("headline"),
    text: at("body"),
    clickId: at("ctwa_clid"),
    ref: at("ref"),
  });
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

/** @param received for what stands beside the field of its type */
function contentOf(type: string, part: unknown, received: Received): Content {
  if (type === "text") {
    const body = textBody.safeParse(part);
    if (body.success) return { type: "TEXT", content: body.data.body, media: null };
  }
  const mediaType = MEDIA_TYPES.get(type);
  const file = mediaType && mediaBody.safeParse(part).data;
  if (file) {
    const { id, caption, mime_type, filename } = file;
    const media = { id, contentType: receivedContentType(mime_type), fileName: receivedFileName(filename) };
    const isVoice = type === "audio" && fieldAt(part, "voice") === true;
    return { type: mediaType, content: caption ?? "", media, ...(isVoice && { voice: true }) };
  }
  const content = describe(type, part, received.errors);
  return { type: "TEXT", content, media: null, ...moreThanText(type, part) };
}

/** What a message has besides its description. */
function moreThanText(type: string, part: unknown): Partial<Content> {
  switch (type) {
    case "button":
    case "interactive": {
      const form = formOf(part);
      if (form) return form;
      const tap = tapOf(type, part);
      const title = tap?.title && [tap.title, fieldAt(part, "list_reply", "description")].filter(isText).join("\n");
      return tap ? { tap, ...(title && { content: title }) } : {};
    }
    case "location": {
      const location = receivedLocation(Object(part));
      return location ? { location } : {};
    }
    case "order":
      return { order: orderOf(part) };
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

/** The answers of a form, and its text: a line for each. Meta sends the answers as the app's own JSON. */
function formOf(part: unknown): Pick<Content, "form" | "content"> | undefined {
  const reply = fieldAt(part, "nfm_reply");
  if (!(reply instanceof Object)) return undefined;
  const json = fieldAt(reply, "response_json");
  const parsed = typeof json === "string" ? parseJson(json) : json;
  const isForm = parsed instanceof Object && !Array.isArray(parsed);
  const answers = isForm ? (parsed as Form["answers"]) : json === undefined ? {} : { text: json };
  const form = cutField({ name: receivedTerm(fieldAt(reply, "name")), answers });
  const lines = Object.entries(form.answers).map(([key, value]) => `${key}: ${answerText(value)}`);
  return { form, content: ["[Form]", ...lines].join("\n") };
}

function answerText(value: unknown): string {
  if (Array.isArray(value) && value.every(isText)) return value.join(", ");
  return isText(value) ? value : JSON.stringify(value);
}

function orderOf(part: unknown): Order {
  const items = listAt(part, "product_items").slice(0, MAX_ITEMS);
  return cutField({
    catalogId: receivedTerm(fieldAt(part, "catalog_id")),
    items: items.map((item) => ({
      productId: receivedTerm(fieldAt(item, "product_retailer_id")),
      quantity: countOf(fieldAt(item, "quantity")),
      price: receivedDecimal(fieldAt(item, "item_price")),
      currency: receivedTerm(fieldAt(item, "currency")),
    })),
  });
}

/** A count, which may come as text. */
function countOf(value: unknown): number | null {
  if (typeof value === "string" && /^\d{1,9}$/.test(value)) return Number(value);
  return typeof value === "number" ? value : null;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
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
