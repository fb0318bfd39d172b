import { client, created, newKey } from "../../support/harness.ts";
import { fakeNetworks, type Script } from "../../support/networks.ts";
import { textOf } from "../inbound/webhook-calls.ts";
import { report } from "./inbound.ts";
import { conversation, type Kind } from "./object/delivery/conversation.ts";
import { chatPlace } from "./object/scheduled/fixtures.ts";

export const HOUR = 3_600_000;
export const TEXT = "We are back tomorrow";
/** Without a day, a company is always closed. */
export const CLOSED = { hours: { timeZone: "UTC", week: {} }, away: { text: TEXT } };

/** A chat of a channel that is closed, unless the settings say otherwise, and what its contact does. */
export async function awayPlace(kind: Kind, settings: object = CLOSED, script?: Script) {
  const calls = fakeNetworks(script);
  const chat = await conversation(kind, { perSecond: 1_000, ...settings });
  const permissions = ["chats:read", "chats:write", "messages:read", "messages:send", "events:read"];
  const api = client((await newKey(chat.organizationId, { permissions })).secret);
  const place = chatPlace(api, chat.chatId);
  const shown = async () => (await api("GET", `/chats/${chat.chatId}`)).body.chat;
  return {
    ...chat,
    ...place,
    api,
    /** The texts that the contact got. */
    told: () => calls.flatMap(({ text }) => (text === "" ? [] : [text])),
    says: (text = "Hello?") => textOf(chat, kind, chat.address, text)(),
    shown,
    answer: async (more: object = {}) => created(await place.post(more)).message,
    report: () => report(chat.chatId),
    /** Who wrote the messages, and which are the channel's own. */
    turns: async () => (await place.messages()).map(({ direction, origin }) => origin ?? direction),
  };
}
