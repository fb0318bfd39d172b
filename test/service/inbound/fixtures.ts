import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { Chat } from "../../../src/model/chat.ts";
import type { Message } from "../../../src/model/message.ts";
import { workIsDone } from "../../support/alarms.ts";
import { type Client, newOrganization } from "../../support/harness.ts";
import { type Kind, newNetworkChannel } from "../chats/object/delivery/conversation.ts";

let numbers = 4_917_000_000;
/** A new contact's address, valid as a WhatsApp number and as a Telegram chat id. */
export const newContact = () => String(++numbers);

/** An organization with a channel of a network, and functions that read it. */
export async function place(kind: Kind) {
  const organization = await newOrganization();
  const channel = await newNetworkChannel(organization.organizationId, kind);
  return { ...organization, channel, ...reader(organization, channel.id) };
}

export type Place = Awaited<ReturnType<typeof place>>;

/** Reads a channel's chats and messages through the API. */
export function reader({ api }: { api: Client }, channelId: string) {
  const chats = async (): Promise<Chat[]> => (await api("GET", `/chats?channel=${channelId}&limit=100`)).body.chats;
  return {
    chats,
    /** The channel's only chat. */
    chat: async (): Promise<Chat> => {
      // An object reports its contact's addresses after it has answered.
      for (const { id } of await chats()) await workIsDone(env.CHATS.getByName(id));
      const [only, ...others] = await chats();
      expect(others).toEqual([]);
      return only as Chat;
    },
    /** The texts of each chat, oldest first. */
    texts: async (): Promise<Record<string, string[]>> => {
      const listed = await Promise.all(
        (await chats()).map(async ({ id, contact }): Promise<[string, string[]]> => {
          const messages: Message[] = (await api("GET", `/chats/${id}/messages?limit=100`)).body.messages;
          return [contact.address, messages.toReversed().map((message) => message.content)];
        }),
      );
      return Object.fromEntries(listed);
    },
  };
}
