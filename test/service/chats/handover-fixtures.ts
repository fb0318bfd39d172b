import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { Chat } from "../../../src/model/chat.ts";
import type { Message } from "../../../src/model/message.ts";
import { admin, client, created, newChat, newKey, newOrganization } from "../../support/harness.ts";
import { report, writeAsContact } from "./inbound.ts";
import { type Kind, newNetworkChannel } from "./object/delivery/conversation.ts";
import { chatPlace } from "./object/scheduled/fixtures.ts";

/** After this time a silent bot hands over. */
export const SILENT_AFTER = 60_000;

const ALL = ["chats:read", "chats:write", "messages:read", "messages:send", "notes:read", "notes:write", "events:read"];

/** A channel with a bot, a key of its bot and one of another program. */
export async function botPlace(kind: Kind | "web" = "web") {
  const organization = await newOrganization();
  const { organizationId } = organization;
  const api = client((await newKey(organizationId, { permissions: ALL })).secret);
  const channelId = kind === "web" ? organization.channelId : (await newNetworkChannel(organizationId, kind)).id;
  const { key: botKey, secret } = await newKey(organizationId, { name: "Bot", permissions: ALL });
  const { secret: otherSecret } = await newKey(organizationId, { name: "CRM" });
  const setBot = async (bot: object | null, channel = channelId) => {
    const set = await admin("PATCH", `/channels/${channel}`, { settings: { bot } });
    expect(set.status, set.text).toBe(200);
    return set.body.channel;
  };
  await setBot({ keyId: botKey.id, handOverAfterSeconds: SILENT_AFTER / 1_000 });
  const member = created(await admin("POST", `/organizations/${organizationId}/members`, { name: "Ann" })).member;
  return {
    ...organization,
    api,
    channelId,
    botKey,
    setBot,
    secret,
    ann: member.id as string,
    bot: client(secret),
    /** A program that is not the bot. */
    other: client(otherSecret),
    newChat: () => newChat(api, channelId, `49${String(Math.floor(Math.random() * 1e10)).padStart(10, "0")}`),
  };
}

/** A chat that the bot of its channel has. */
export async function handoverPlace(kind: Kind | "web" = "web") {
  const place = await botPlace(kind);
  const { api, organizationId } = place;
  const { id: chatId } = await place.newChat();
  return {
    ...place,
    chatId,
    ...inChat(place, chatId),
    says: (text?: string) => writeAsContact(organizationId, chatId, text),
    api,
  };
}

/** What a test does in one chat of a bot. */
export function inChat({ api, bot }: Pick<Awaited<ReturnType<typeof botPlace>>, "api" | "bot">, chatId: string) {
  const place = chatPlace(api, chatId);
  const shown = async (): Promise<Chat> => (await api("GET", `/chats/${chatId}`)).body.chat;
  return {
    ...place,
    shown,
    /** The chat as the organization's object lists it. */
    listed: async (): Promise<Chat> => (await api("GET", "/chats")).body.chats.find(({ id }: Chat) => id === chatId),
    handOver: (body: object, as = api, headers = {}) => as("POST", `/chats/${chatId}/handover`, body, headers),
    /** The bot sends, which must be accepted. */
    answers: async (content = "I am a bot"): Promise<Message> =>
      created(await bot("POST", `/chats/${chatId}/messages`, { content })).message,
    /** A person sends, which must be accepted. */
    personWrites: async (senderId: string, more: object = {}): Promise<Message> =>
      created(await api("POST", `/chats/${chatId}/messages`, { content: "I am Ann", senderId, ...more })).message,
    sendsAs: (as: typeof api, more: object = {}) => as("POST", `/chats/${chatId}/messages`, { content: "Hi", ...more }),
    report: () => report(chatId),
    /** What the events of its handovers say, without the chat. */
    handovers: async (): Promise<object[]> =>
      (await place.events())
        .filter(({ type }) => type === "chat.handover")
        .map(({ data: { chat: _chat, ...data } }) => data),
    object: () => env.CHATS.getByName(chatId),
  };
}
