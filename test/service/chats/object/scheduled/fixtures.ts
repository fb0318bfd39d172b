import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import type { Message, ShownMessage } from "../../../../../src/model/message.ts";
import { runAlarm, workIsDone } from "../../../../support/alarms.ts";
import { admin, type Client, client, created, newChat, newKey, newOrganization } from "../../../../support/harness.ts";
import { type Kind, newNetworkChannel } from "../delivery/conversation.ts";

const PERMISSIONS = ["chats:read", "chats:write", "messages:read", "messages:send", "events:read"];

export const MINUTE = 60_000;
export const DAY = 86_400_000;

/** A time, this many milliseconds from now. */
export function inFuture(ms: number): string {
  return new Date(Date.now() + ms).toISOString();
}

/** An event of a chat, as a client gets it. */
// biome-ignore lint/suspicious/noExplicitAny: a test knows the data of its event
type ChatEvent = { number: number; type: string; data: any };

/** What a test does in one chat. */
export function chatPlace(api: Client, chatId: string) {
  const object = () => env.CHATS.getByName(chatId);
  const path = `/chats/${chatId}/messages`;
  const post = (body: object = {}, headers = {}) => api("POST", path, { content: "Later", ...body }, headers);
  return {
    post,
    /** Schedules a message, which must be accepted. */
    schedule: async (ms: number, body: object = {}): Promise<ShownMessage> =>
      created(await post({ scheduledAt: inFuture(ms), ...body })).message,
    patch: (id: string, body: object) => api("PATCH", `${path}/${id}`, body),
    cancel: (id: string) => api("POST", `${path}/${id}/cancel`),
    read: (id: string) => api("GET", `${path}/${id}`),
    message: async (id: string): Promise<ShownMessage> => (await api("GET", `${path}/${id}`)).body.message,
    /** The messages with a place, in their order. */
    messages: async (): Promise<Message[]> => (await api("GET", `${path}?limit=100`)).body.messages.toReversed(),
    list: (query = "") => api("GET", `/chats/${chatId}/scheduled${query}`),
    waiting: async (): Promise<ShownMessage[]> =>
      (await api("GET", `/chats/${chatId}/scheduled?limit=100`)).body.messages,
    events: async (): Promise<ChatEvent[]> => {
      const all: ChatEvent[] = [];
      for (let hasMore = true; hasMore; ) {
        const { body } = await api("GET", `/chats/${chatId}/events?limit=100&after=${all.at(-1)?.number ?? 0}`);
        all.push(...body.events);
        hasMore = body.hasMore;
      }
      return all;
    },
    redact: (id: string) => admin("POST", `/chats/${chatId}/messages/${id}/redact`),
    object,
    evict: () => evictDurableObject(object()),
    /** Moves the clock, once nothing is under way that would be stamped with the later time, and lets the alarm ring. */
    ringIn: async (ms: number) => {
      await workIsDone(object());
      vi.setSystemTime(Date.now() + ms);
      return runAlarm(object());
    },
  };
}

/** A chat in which a test schedules messages. */
export async function scheduledPlace(kind: Kind | "web" = "web") {
  const organization = await newOrganization();
  const { organizationId } = organization;
  const api = client((await newKey(organizationId, { permissions: PERMISSIONS })).secret);
  const channelId = kind === "web" ? organization.channelId : (await newNetworkChannel(organizationId, kind)).id;
  const address = `49${String(Math.floor(Math.random() * 1e10)).padStart(10, "0")}`;
  const chat = await newChat(api, channelId, address);
  return { ...organization, api, channelId, chatId: chat.id, address, ...chatPlace(api, chat.id) };
}
