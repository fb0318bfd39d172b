import { expect } from "vitest";
import type { Chat } from "../../../src/model/chat.ts";
import { report, writeAsContact } from "./inbound.ts";
import type { Kind } from "./object/delivery/conversation.ts";
import { MINUTE, scheduledPlace } from "./object/scheduled/fixtures.ts";

export const OPEN = { state: "open", snoozedUntil: null };
export const CLOSED = { state: "closed", snoozedUntil: null };
/** Who changed a state, if a key did. */
export const BY_KEY = { type: "key", id: expect.stringMatching(/^key_/), name: expect.any(String) };

/** A chat whose state a test changes. */
export async function statePlace(kind: Kind | "web" = "web") {
  const place = await scheduledPlace(kind);
  const { api, chatId, organizationId } = place;
  const shown = async (): Promise<Chat> => (await api("GET", `/chats/${chatId}`)).body.chat;
  const set = (body: object, as = api) => as("PATCH", `/chats/${chatId}`, body);
  return {
    ...place,
    shown,
    set,
    /** The chat as the organization's object lists it. */
    listed: async (): Promise<Chat> => (await api("GET", "/chats")).body.chats.find(({ id }: Chat) => id === chatId),
    /** Changes the state, which must be done. */
    become: async (state: string, more: object = {}): Promise<Chat> => {
      const answer = await set({ state, ...more });
      expect(answer.status, answer.text).toBe(200);
      return answer.body.chat;
    },
    snooze: async (ms = MINUTE): Promise<string> => {
      const snoozedUntil = new Date(Date.now() + ms).toISOString();
      expect((await set({ state: "snoozed", snoozedUntil })).body.chat).toMatchObject({
        state: "snoozed",
        snoozedUntil,
      });
      return snoozedUntil;
    },
    says: () => writeAsContact(organizationId, chatId),
    report: () => report(chatId),
    /** What the events of its state say, without the chat. */
    states: async (): Promise<object[]> =>
      (await place.events())
        .filter(({ type }) => type === "chat.state")
        .map(({ data: { chat: _chat, ...data } }) => data),
  };
}
