import { createHmac } from "node:crypto";
import { createChannel, createKey, createOrganization } from "../support/world/factories.ts";
import { hashOf } from "../support/world/identity.ts";
import { caller, worldAt } from "../support/world/world.ts";
import { adminToken, base } from "./running-server.ts";

interface Message {
  id: string;
  seq: number;
  direction: "INBOUND" | "OUTBOUND";
  content: string;
  status: string;
  replyTo?: string;
  reactions?: { by: string; emoji: string }[];
}

interface Chat {
  id: string;
  contact: { address: string; name: string | null };
  metadata: Record<string, unknown>;
}

/** A web channel of the real service, and the company's actions through its API key and its operator. */
export interface Place {
  base: string;
  channelId: string;
  /** The member who writes if a message names them. */
  memberId: string;
  /** The name at the top of the page. */
  name: string;
  /** The fragment that identifies a user. */
  hashOf(user: string): string;
  /** The expiring form. `expires` is in Unix seconds. */
  hashUntil(user: string, expires: string): string;
  /** The company's chat with a user. Creates it if needed, because visitors can only create a few. */
  meet(user: string): Promise<string>;
  /** The company writes to a user. @returns the message's id */
  say(user: string, content: string, fields?: Record<string, unknown>): Promise<string>;
  /** Writes `count` messages of the company. */
  fill(user: string, count: number): Promise<void>;
  /** A user's stored messages, oldest first. */
  heard(user: string): Promise<string[]>;
  /** All messages of the chat with a user, oldest first. */
  messages(user: string): Promise<Message[]>;
  /** The status of each message to a user, oldest first. */
  statuses(user: string): Promise<string[]>;
  /** The company's chats. */
  chats(): Promise<Chat[]>;
  /** The contacts of the company's chats. */
  contacts(): Promise<string[]>;
  /** The names and email addresses that contacts gave. */
  people(): Promise<[string, unknown][]>;
  /** The company reacts to a message. */
  react(user: string, content: string, emoji: string): Promise<void>;
  /** The operator redacts a message. */
  redact(user: string, content: string): Promise<void>;
  /** The operator deletes the chat. */
  erase(user: string): Promise<void>;
  /** The response status of a message with these fields. */
  trySaying(user: string, body: object): Promise<number>;
}

/** A channel of a new organization, on the service that all tests share. */
export async function openPlace(settings: Record<string, unknown> = {}): Promise<Place> {
  const name = "Acme support";
  const world = worldAt(base, adminToken);
  const operator = caller(world, "/admin/v1", adminToken);
  const organization = await createOrganization(world, { name });
  const channel = await createChannel(organization, { name, settings });
  const { secret } = await createKey(organization);
  const company = caller(world, "/api/v1", secret);

  const met = new Map<string, Promise<string>>();
  const meet = (user: string) => {
    const contact = { address: user };
    const chatId = met.get(user) ?? company("POST", "/chats", { channelId: channel.id, contact }).then(idOfChat);
    met.set(user, chatId);
    return chatId;
  };
  const messagesOf = async (user: string): Promise<Message[]> =>
    (await company("GET", `/chats/${await meet(user)}/messages?limit=100`)).messages.reverse();
  const say: Place["say"] = async (user, content, fields = { type: "TEXT" }) => {
    const { message } = await company("POST", `/chats/${await meet(user)}/messages`, { content, ...fields });
    return message.id;
  };

  return {
    base,
    channelId: channel.id,
    memberId: organization.memberId,
    name,
    hashOf: (user) => hashOf(channel, user),
    hashUntil: (user, expires) =>
      createHmac("sha512", channel.identitySecret).update(`${expires}.${user}`).digest("hex"),
    meet,
    say,
    fill: async (user, count) => {
      for (let n = 1; n <= count; n++) await say(user, `Message ${n} of ${count}`);
    },
    messages: messagesOf,
    heard: async (user) =>
      (await messagesOf(user)).flatMap(({ direction, content }) => (direction === "INBOUND" ? [content] : [])),
    statuses: async (user) =>
      (await messagesOf(user)).flatMap(({ direction, status }) => (direction === "OUTBOUND" ? [status] : [])),
    chats: async () => (await company("GET", `/chats?channel=${channel.id}&limit=100`)).chats,
    contacts: async () => {
      const { chats } = await company("GET", `/chats?channel=${channel.id}&limit=100`);
      return chats.map(({ contact }: Chat) => contact.address);
    },
    people: async () => {
      const { chats } = await company("GET", `/chats?channel=${channel.id}&limit=100`);
      return chats.flatMap(({ contact, metadata }: Chat) => (contact.name ? [[contact.name, metadata.email]] : []));
    },
    redact: async (user, content) => {
      const message = (await messagesOf(user)).find((one) => one.content === content);
      await operator("POST", `/chats/${await meet(user)}/messages/${message?.id}/redact`);
    },
    react: async (user, content, emoji) => {
      const message = (await messagesOf(user)).find((one) => one.content === content);
      await company("PUT", `/chats/${await meet(user)}/messages/${message?.id}/reaction`, { emoji });
    },
    erase: async (user) => {
      await operator("DELETE", `/chats/${await meet(user)}`);
      met.delete(user);
    },
    trySaying: async (user, body) => {
      const { status } = await world.call(secret, "POST", `/api/v1/chats/${await meet(user)}/messages`, body);
      return status;
    },
  };
}

/** The URL of a user's chat page. Other options go to the fragment. */
export function pageUrl(place: Place, user: string, wishes: Record<string, string> = {}): string {
  const fragment = new URLSearchParams({ user, hash: place.hashOf(user), ...wishes });
  return `${place.base}/web/${place.channelId}#${String(fragment)}`;
}

/** The URL of a visitor's socket. */
export function socketUrl({ base, channelId }: Place): string {
  return `${base.replace("http", "ws")}/web/${channelId}/socket?after=0`;
}

function idOfChat({ chat }: { chat: Chat }): string {
  return chat.id;
}
