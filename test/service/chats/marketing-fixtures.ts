import type { Chat } from "../../../src/model/chat.ts";
import { type Answer, client, newKey } from "../../support/harness.ts";
import { CREDENTIALS } from "../../support/world/factories.ts";
import { chatWithTemplates, listed } from "../channels/templates/waba.ts";
import { metadata, signed, whatsappText } from "../inbound/webhook-calls.ts";
import { chatPlace } from "./object/scheduled/fixtures.ts";

const plain = (name: string, category: string) =>
  listed(name, { category, components: [{ type: "BODY", text: `About ${name}` }] });

/** A chat with a template of each category, and what its contact and its network say. */
export async function place(kind: "whatsapp" | "telegram" | "web" = "whatsapp") {
  const templates = ["MARKETING", "UTILITY", "AUTHENTICATION"].map((category) =>
    plain(category.toLowerCase(), category),
  );
  const organization = await chatWithTemplates(kind, templates);
  const { chat, contact, idOf, channelId, organizationId } = organization;
  const key = async (permissions: string[]) => client((await newKey(organizationId, { permissions })).secret);
  const api = await key(["chats:read", "chats:write", "messages:read", "messages:send", "events:read"]);
  const chatOf = async (): Promise<Chat> => (await api("GET", `/chats/${chat.id}`)).body.chat;
  const template = (name: string, more: object = {}) => ({ content: "-", templateId: idOf(name), ...more });
  const chats = chatPlace(api, chat.id);
  /** Meta's report of a contact's choice; `at` in seconds. */
  const choose = (value: string, at: number | string = seconds(), fields: object = { wa_id: contact }) =>
    preferences(channelId, [{ category: "marketing_messages", value, timestamp: at, detail: "…", ...fields }]);
  const says = (text: string) => fromMeta(channelId, "messages", whatsappText({ wa_id: contact }, text));
  const patch = (body: object, as = api) => as("PATCH", `/chats/${chat.id}`, body);
  const consents = async () => (await chats.events()).filter(({ type }) => type === "chat.consent");
  return {
    ...{
      ...organization,
      ...chats,
      api,
      chatId: chat.id,
      chatOf,
      template,
      choose,
      says,
      change: patch,
      consents,
      key,
    },
    marketing: async () => (await chatOf()).marketing,
  };
}

export const seconds = (ms = Date.now()) => Math.floor(ms / 1_000);
export const iso = (at: number) => new Date(at * 1_000).toISOString();

export function fromMeta(channelId: string, field: string, value: object): Promise<Answer> {
  const { phoneNumberId, appSecret } = CREDENTIALS.whatsapp;
  const changes = [{ field, value: { ...metadata(phoneNumberId), ...value } }];
  const body = JSON.stringify({ object: "whatsapp_business_account", entry: [{ id: "1", changes }] });
  return signed({ id: channelId }, body, appSecret);
}

export const preferences = (channelId: string, user_preferences: object[], contacts: object[] = []) =>
  fromMeta(channelId, "user_preferences", { contacts, user_preferences });
