import type { Answer } from "../../support/harness.ts";
import { chatOf, PHONE_ID } from "../chats/object/delivery/conversation.ts";
import { newContact, place } from "./fixtures.ts";
import { fromMeta, signed, taken, whatsappText } from "./webhook-calls.ts";

type Channel = { id: string };

let ids = 0;

/** A new id at the network. */
export const newWamid = (what = "echo") => `wamid.${what}.${++ids}`;

/** A time of the test's clock as Meta writes it, in seconds. */
export const timestampOf = (at = Date.now()) => String(Math.floor(at / 1_000));

/** A text that was written in the app. */
export function written(to: string, body: string, fields: object = {}) {
  const text = { type: "text", text: { body } };
  return { from: "15550001111", to, id: newWamid(), timestamp: timestampOf(), ...text, ...fields };
}

/** A call with echoes of the WhatsApp Business app. */
export function fromApp(channel: Channel, ...message_echoes: object[]): Promise<Answer> {
  return fromMeta(channel, [{ message_echoes }], { field: "smb_message_echoes" });
}

/** A call with copies of what the contact and Meta's own agent write to each other. */
export function fromStandby(channel: Channel, standby: object): Promise<Answer> {
  return fromMeta(channel, [{ standby }], { field: "standby" });
}

/** A text of the contact to Meta's own agent. */
export function toAgent(channel: Channel, from: string, body: string, at = Date.now()): Promise<Answer> {
  const value = whatsappText({ wa_id: from }, body, { id: newWamid("standby") });
  const messages = value.messages.map((message) => ({ ...message, timestamp: timestampOf(at) }));
  return fromStandby(channel, { ...value, messages });
}

/** A text of Meta's own agent to the contact. */
export function agentText(to: string, body: string, fields: object = {}) {
  return {
    id: newWamid("agent"),
    timestamp: timestampOf(),
    message: { messaging_product: "whatsapp", to, type: "text", text: { body } },
    ...fields,
  };
}

/** A call that says who owns the conversation now. It has no `metadata`. */
export function handover(channel: Channel, contact: string, type = "control_passed", at = Date.now()): Promise<Answer> {
  const roles = { previous_owner_role: "ai_agent", new_owner_role: "escalation" };
  const value = {
    messaging_product: "whatsapp",
    sender: { phone_number: contact },
    recipient: { phone_number_id: PHONE_ID, display_phone_number: "15550001111" },
    timestamp: timestampOf(at),
    type,
    [type]: roles,
  };
  const changes = [{ field: "messaging_handovers", value }];
  return signed(channel, JSON.stringify({ object: "whatsapp_business_account", entry: [{ id: "1", changes }] }));
}

/** A chat on WhatsApp, and what its contact and the company's app write. */
export async function phoneAndChat() {
  const at = await place("whatsapp");
  const chat = await chatOf(at, at.channel.id, newContact());
  const { channel } = at;
  const contactWrites = async (body: string, sentAt = Date.now()) => {
    const value = whatsappText({ wa_id: chat.address }, body);
    const messages = value.messages.map((message) => ({ ...message, timestamp: timestampOf(sentAt) }));
    taken(await fromMeta(channel, [{ ...value, messages }]));
  };
  const appWrites = async (body: string, sentAt = Date.now(), fields: object = {}) => {
    const echo = written(chat.address, body, { timestamp: timestampOf(sentAt), ...fields });
    taken(await fromApp(channel, echo));
    return echo.id;
  };
  const shown = async () => (await at.api("GET", `/chats/${chat.chatId}`)).body.chat;
  const texts = async () => (await chat.messages()).map(({ text }) => text);
  return { ...at, ...chat, contactWrites, appWrites, shown, texts };
}
