import { client, newKey } from "../../../../support/harness.ts";
import { conversation, type Kind } from "./conversation.ts";

export const MINUTE = 60_000;

/** A time, this many milliseconds from now. */
export function inFuture(ms: number): string {
  return new Date(Date.now() + ms).toISOString();
}

/** A chat of a network, and what clients do with its messages. */
export async function queuePlace(kind: Kind) {
  const chat = await conversation(kind);
  const path = `/chats/${chat.chatId}/messages`;
  const reader = client((await newKey(chat.organizationId, { permissions: ["events:read"] })).secret);
  return {
    ...chat,
    cancel: (id: string) => chat.api("POST", `${path}/${id}/cancel`),
    resend: (id: string, body?: object) => chat.api("POST", `${path}/${id}/resend`, body),
    attempts: async (id: string) => (await chat.api("GET", `${path}/${id}/attempts`)).body,
    /** The statuses of its messages, in their order. */
    statuses: async () => (await chat.messages()).map(({ status, error }) => error?.code ?? status),
    /** The events of statuses, in order. */
    statusEvents: async () => {
      const { body } = await reader("GET", `/chats/${chat.chatId}/events?limit=100`);
      const events = body.events as { type: string; data: { seq: number; status: string } }[];
      return events.filter(({ type }) => type === "message.status").map(({ data }) => `${data.seq} ${data.status}`);
    },
  };
}
