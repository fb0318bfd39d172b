import { expect } from "vitest";
import type { Chat } from "../../../src/chats/directory.ts";
import type { Message } from "../../../src/chats/message.ts";
import { type Client, newOrganization } from "../../support/harness.ts";
import { type Kind, newNetworkChannel } from "../delivery/conversation.ts";

let numbers = 4_917_000_000;
/** A contact whom nobody has met: a number of WhatsApp's, and a chat of Telegram's. */
export const newContact = () => String(++numbers);

/** An organization with a channel of a network, and what there is in it. */
export async function place(kind: Kind) {
  const organization = await newOrganization();
  const channel = await newNetworkChannel(organization.organizationId, kind);
  return { ...organization, channel, ...reader(organization, channel.id) };
}

export type Place = Awaited<ReturnType<typeof place>>;

/** What there is in a channel, as the API shows it. */
export function reader({ api }: { api: Client }, channelId: string) {
  const chats = async (): Promise<Chat[]> => (await api("GET", `/chats?channel=${channelId}&limit=100`)).body.chats;
  return {
    chats,
    /** The one chat that there is. */
    chat: async (): Promise<Chat> => {
      const [only, ...others] = await chats();
      expect(others).toEqual([]);
      return only as Chat;
    },
    /** The texts of each chat, in the order of their numbers. */
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
