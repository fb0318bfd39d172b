import { expect } from "vitest";
import type { Chat } from "../../../src/model/chat.ts";
import { report, writeAsContact } from "./inbound.ts";
import { scheduledPlace } from "./object/scheduled/fixtures.ts";

/** The key of a person. */
export const KEY = "customer-2044";

/** A chat whose person a test changes, with a contact that is called Ada. */
export async function personPlace() {
  const place = await scheduledPlace();
  const { api, chatId, channelId, organizationId, address } = place;
  const path = `/chats/${chatId}`;
  const open = (contact: object, as = api) =>
    as("POST", "/chats", { channelId, contact: { address, name: "Ada", ...contact } });
  const named = await api("PATCH", path, { contact: { name: "Ada" } });
  expect(named.status, named.text).toBe(200);
  return {
    ...place,
    path,
    /** `POST /chats` for the chat's address, or another one. */
    open,
    change: (body: object, id = chatId, as = api) => as("PATCH", `/chats/${id}`, body),
    shown: async (): Promise<Chat> => (await api("GET", path)).body.chat,
    /** The chat as the organization's object lists it. */
    listed: async (of = chatId): Promise<Chat> =>
      (await api("GET", "/chats")).body.chats.find(({ id }: Chat) => id === of),
    says: () => writeAsContact(organizationId, chatId),
    report,
    /** The changes of a chat since the test began. */
    updates: async (id: string): Promise<{ data: { chat: Chat } }[]> => {
      const { events } = (await api("GET", `/chats/${id}/events`)).body;
      const changes = events.filter(({ type }: { type: string }) => type === "chat.updated");
      return id === chatId ? changes.slice(1) : changes;
    },
  };
}
