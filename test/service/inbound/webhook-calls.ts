import { expect } from "vitest";
import { type Answer, call } from "../../support/harness.ts";
import { signatureOf } from "../../unit/channels/whatsapp/network.ts";
import { APP_SECRET, type Conversation, type Kind, PHONE_ID } from "../chats/object/delivery/conversation.ts";

type Channel = Conversation["channel"];

/** A call from Telegram, by default with the channel's secret. */
export function fromTelegram(
  channel: Channel,
  update: unknown,
  headers: Record<string, string> = { "X-Telegram-Bot-Api-Secret-Token": channel.webhook.verifyToken },
): Promise<Answer> {
  return call("POST", `/hooks/telegram/${channel.id}`, { body: update, headers });
}

let ids = 0;

/** An update with a message in a private chat. */
export function telegramText(from: string | number, text: string, fields: object = {}) {
  const id = ++ids;
  const chat = { id: Number(from), type: "private", first_name: "Ada", last_name: "L" };
  return { update_id: 7_000 + id, message: { message_id: id, date: 1_790_000_000, chat, from: chat, text, ...fields } };
}

/** A call from Meta with one change of a field for each value, by default signed with the app's secret. */
export async function fromMeta(
  channel: { id: string },
  values: object[],
  { secret = APP_SECRET, field = "messages" } = {},
): Promise<Answer> {
  const changes = values.map((value) => ({ field, value: { ...metadata(PHONE_ID), ...value } }));
  const body = JSON.stringify({ object: "whatsapp_business_account", entry: [{ id: "1", changes }] });
  return signed(channel, body, secret);
}

export async function signed({ id }: { id: string }, body: string, secret = APP_SECRET): Promise<Answer> {
  const headers = { "X-Hub-Signature-256": await signatureOf(body, secret) };
  return call("POST", `/hooks/whatsapp/${id}`, { body, headers });
}

export function metadata(phoneNumberId: string) {
  return { metadata: { display_phone_number: phoneNumberId, phone_number_id: phoneNumberId } };
}

/** A contact's text. `who` are the ids that Meta sends for the contact. */
export function whatsappText(
  who: { wa_id?: string; user_id?: string },
  body: string,
  { id = `wamid.in.${++ids}`, name = "Ada" } = {},
) {
  const message = {
    from: who.wa_id,
    from_user_id: who.user_id,
    id,
    timestamp: "1790000000",
    type: "text",
    text: { body },
  };
  return { contacts: [{ profile: { name }, ...who }], messages: [message] };
}

/** A status from Meta for one of our messages. */
export function whatsappStatus(
  status: string,
  fields: { id: string; recipient_id?: string; [field: string]: unknown },
) {
  return { statuses: [{ status, timestamp: "1790000000", ...fields }] };
}

/** A call from Meta with a status for one of our messages, by default with our ids. */
export function tellStatus(
  { channel, chatId, address }: Pick<Conversation, "channel" | "chatId" | "address">,
  messageId: string,
  status: string,
  fields: { id: string; [field: string]: unknown },
): Promise<Answer> {
  const ours = { recipient_id: address, biz_opaque_callback_data: `${chatId}.${messageId}` };
  return fromMeta(channel, [whatsappStatus(status, { ...ours, ...fields })]);
}

/** Asserts that a webhook was accepted. */
export function taken(answer: Answer): void {
  expect([answer.status, answer.body], answer.text).toEqual([200, { ok: true }]);
}

export const KINDS = ["telegram", "whatsapp"] as const;

/** Sends a contact's text as each network does. Repeated calls send the same message. */
export function textOf(
  { channel }: { channel: Channel },
  kind: Kind,
  from: string,
  text: string,
): () => Promise<Answer> {
  const update = telegramText(from, text);
  const value = whatsappText({ wa_id: from }, text);
  return () => (kind === "telegram" ? fromTelegram(channel, update) : fromMeta(channel, [value]));
}
