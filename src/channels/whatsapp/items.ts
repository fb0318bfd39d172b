import * as z from "zod/mini";
import type { AddressChange, InboundItem, InboundMessage, MessageType, StatusUpdate } from "../adapter.ts";
import { safeContentType } from "../network-response.ts";
import { describe } from "./describe.ts";
import { failureOf, metaError } from "./errors.ts";

/** The maximum length of a file name. It keeps a row small, even if a webhook is huge. */
const MAX_NAME = 255;

const anything = z.catch(z.array(z.unknown()), []);
const text = z.catch(z.optional(z.string()), undefined);
/** A phone number or a user id in Meta's form. */
const person = z.catch(z.optional(z.string().check(z.regex(/^[\w.:-]{1,160}$/))), undefined);
const networkId = z.string().check(z.minLength(1), z.maxLength(512));

const envelope = z.object({ object: z.literal("whatsapp_business_account"), entry: z.array(z.unknown()) });
const entry = z.object({ changes: z.array(z.unknown()) });
const change = z.object({
  field: z.string(),
  value: z.object({
    metadata: z.catch(z.optional(z.object({ phone_number_id: z.string() })), undefined),
    contacts: anything,
    messages: anything,
    statuses: anything,
    errors: anything,
  }),
});

const contact = z.object({
  wa_id: person,
  user_id: person,
  parent_user_id: person,
  profile: z.catch(z.optional(z.object({ name: text, username: text })), undefined),
});
type Contact = z.output<typeof contact>;

const message = z.looseObject({
  id: networkId,
  type: z.string(),
  from: person,
  from_user_id: person,
  from_parent_user_id: person,
});
const textBody = z.object({ body: z.string() });
const mediaBody = z.object({ id: networkId, caption: text, mime_type: text, filename: text });
const systemBody = z.object({ wa_id: person, customer: person, user_id: person, previous_user_id: person });

const status = z.object({
  id: networkId,
  status: z.string(),
  recipient_id: person,
  recipient_user_id: person,
  recipient_parent_user_id: person,
  biz_opaque_callback_data: text,
  errors: anything,
});

const MEDIA_TYPES: ReadonlyMap<string, MessageType> = new Map([
  ["image", "IMAGE"],
  ["video", "VIDEO"],
  ["audio", "AUDIO"],
  ["document", "DOCUMENT"],
]);

/** Meta's statuses. `played` is the `read` of voice messages. */
const STATUSES: ReadonlyMap<string, StatusUpdate["status"]> = new Map([
  ["sent", "SENT"],
  ["delivered", "DELIVERED"],
  ["read", "READ"],
  ["played", "READ"],
  ["failed", "FAILED"],
]);

/** The service's ids, as `wire.ts` sends them: `<chatId>.<messageId>`. */
const OUR_IDS = /^([\w-]{1,64})\.([\w-]{1,64})$/;

/** The items of a verified webhook. Each item is parsed separately; an item that can't be parsed leaves a note. */
export function itemsOf(body: Uint8Array): { items: InboundItem[]; notes: string[] } {
  const received: InboundItem[] = [];
  const notes: string[] = [];
  function read<T extends z.ZodMiniType>(what: string, schema: T, value: unknown, use: (read: z.output<T>) => void) {
    const result = schema.safeParse(value);
    if (result.success) use(result.data);
    else notes.push(`${what} not understood`);
  }

  read("body", envelope, parseBody(body), (call) => {
    for (const each of call.entry) read("entry", entry, each, ({ changes }) => changes.forEach(readChange));
  });
  return { items: received, notes };

  function readChange(each: unknown): void {
    read("change", change, each, ({ field, value }) => {
      if (field !== "messages") return void notes.push(`field ${loggable(field)} ignored`);
      const account = value.metadata?.phone_number_id ?? null;
      const add = (...added: InboundItem["item"][]) => received.push(...added.map((item) => ({ account, item })));
      const contacts: Contact[] = [];
      for (const one of value.contacts) read("contact", contact, one, (known) => contacts.push(known));
      const byId = new Map(contacts.flatMap((one) => distinct([one.wa_id, one.user_id]).map((id) => [id, one])));
      const isAlone = value.messages.length + value.statuses.length === 1;
      const only = isAlone && contacts.length === 1 ? contacts[0] : undefined;
      /** The contact of an item: found by its ids, or the only contact if there is only one item. */
      const contactOf = (...ids: (string | undefined)[]) =>
        distinct(ids)
          .map((id) => byId.get(id))
          .find((known) => known) ?? only;
      for (const one of value.messages) {
        read("message", message, one, (parsed) => {
          const items = messageItems(parsed, contactOf(parsed.from, parsed.from_user_id));
          if (items) add(...items);
          else notes.push("message without a sender");
        });
      }
      for (const one of value.statuses) {
        read("status", status, one, (parsed) => {
          const item = statusItem(parsed, contactOf(parsed.recipient_id, parsed.recipient_user_id));
          if (item) add(item);
          else notes.push(`status ${loggable(parsed.status)} ignored`);
        });
      }
      for (const one of value.errors) read("error", metaError, one, ({ code }) => notes.push(`error ${code}`));
    });
  }
}

function parseBody(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}

/** A name from the webhook if it is safe to log. */
function loggable(name: string): string {
  return /^[a-z_]{1,40}$/.test(name) ? name : "with an unknown name";
}

function distinct(ids: (string | undefined)[]): string[] {
  return [...new Set(ids.filter((id) => id !== undefined))];
}

function messageItems(parsed: z.output<typeof message>, contact: Contact | undefined): InboundItem["item"][] | null {
  const [address, ...addresses] = distinct([
    parsed.from,
    contact?.wa_id,
    parsed.from_user_id,
    contact?.user_id,
    parsed.from_parent_user_id,
    contact?.parent_user_id,
  ]);
  if (address === undefined) return null;
  const { type } = parsed;
  const part = Object.hasOwn(parsed, type) ? parsed[type] : undefined;
  const name = contact?.profile?.name || contact?.profile?.username || null;
  const item = { kind: "message", networkId: parsed.id, address, addresses, name, ...contentOf(type, part) } as const;
  // The message comes first, because it may create the chat whose address changes.
  return type === "system" ? [item, ...addressChanges(part, parsed.from)] : [item];
}

function contentOf(type: string, part: unknown): Pick<InboundMessage, "type" | "content" | "media"> {
  if (type === "text") {
    const body = textBody.safeParse(part);
    if (body.success) return { type: "TEXT", content: body.data.body, media: null };
  }
  const mediaType = MEDIA_TYPES.get(type);
  const file = mediaType && mediaBody.safeParse(part);
  if (!file?.success) return { type: "TEXT", content: describe(type, part), media: null };
  const { id, caption, mime_type, filename } = file.data;
  const media = { id, contentType: safeContentType(mime_type), fileName: filename?.slice(0, MAX_NAME) ?? null };
  return { type: mediaType ?? "TEXT", content: caption ?? "", media };
}

/** The changes of a contact's phone number or user id. */
function addressChanges(part: unknown, from: string | undefined): AddressChange[] {
  const system = systemBody.safeParse(part);
  if (!system.success) return [];
  const { wa_id, customer, user_id, previous_user_id } = system.data;
  const pairs = [
    [customer ?? from, wa_id],
    [previous_user_id, user_id],
  ] as const;
  return pairs.flatMap(([old, to]) => (old && to && old !== to ? [{ kind: "address", from: old, to }] : []));
}

function statusItem(parsed: z.output<typeof status>, contact: Contact | undefined): StatusUpdate | null {
  const state = STATUSES.get(parsed.status);
  if (!state) return null;
  const [address = null, ...addresses] = distinct([
    parsed.recipient_id,
    contact?.wa_id,
    parsed.recipient_user_id,
    contact?.user_id,
    parsed.recipient_parent_user_id,
    contact?.parent_user_id,
  ]);
  const [, chatId = null, messageId = null] = OUR_IDS.exec(parsed.biz_opaque_callback_data ?? "") ?? [];
  const error = state === "FAILED" ? errorOf(parsed.errors[0]) : null;
  return { kind: "status", chatId, messageId, networkId: parsed.id, address, addresses, status: state, error };
}

function errorOf(value: unknown): NonNullable<StatusUpdate["error"]> {
  const error = metaError.safeParse(value);
  if (!error.success) return { code: "network_error", message: "The network gave no reason" };
  return failureOf(error.data);
}
