import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { Kind } from "../../service/chats/object/delivery/conversation.ts";
import {
  fromMeta,
  fromTelegram,
  telegramText,
  whatsappStatus,
  whatsappText,
} from "../../service/inbound/webhook-calls.ts";
import { type Answer, send } from "../../support/harness.ts";
import { fakeNetworks } from "../../support/networks.ts";
import { ringAll } from "./alarms.ts";
import { failEachStep, type Path } from "./every-step.ts";
import { newContact, type Place, placesOf, quietly } from "./fixtures.ts";
import { chatOnDisk, chatsOf } from "./looks.ts";

quietly();

type Stored = Awaited<ReturnType<typeof chatOnDisk>>;
type Contact = Place & { from: string; tell: () => Promise<Answer> };

/** A new contact writes. */
function firstMessage(kind: Kind): Path<Contact, { chats: string[]; stored: Stored[] }> {
  const place = placesOf(kind);
  return {
    place: async () => {
      const at = await place();
      const from = newContact();
      const channel = at.channel as NonNullable<Place["channel"]>;
      const update = telegramText(from, "Hi");
      const value = whatsappText({ wa_id: from }, "Hi");
      const tell = () => (kind === "telegram" ? fromTelegram(channel, update) : fromMeta(channel, [value]));
      return { ...at, from, tell };
    },
    act: ({ tell }) => tell(),
    look: async (at) => {
      const { ids, addresses, counted } = await chatsOf(at, at.from);
      const named = await Promise.all(ids.map((id) => env.ORGANIZATIONS.getByName(at.organizationId).find(id)));
      return {
        chats: named.map((chat) => `${chat?.contact.name}, ${addresses} addresses, of ${counted}`),
        stored: await Promise.all(ids.map(chatOnDisk)),
      };
    },
    // The chat exists, and the first message or the call that sets its alarm is repeated.
    between: ({ chats, stored: [chat] }) => chats.length === 1 && (!chat?.alarm || chat.messages.length === 0),
  };
}

test.each(["telegram", "whatsapp"] as const)(
  "a new contact's message of %s is stored once or repeated, whichever step fails",
  async (kind) => {
    const { names } = await failEachStep(firstMessage(kind));
    expect(names).toEqual(expect.arrayContaining(["ORGANIZATIONS.open", "CHATS.receive", "kv.put lean", "setAlarm"]));
  },
);

test("a status is applied or repeated, whichever step fails", async () => {
  const place = placesOf("whatsapp");
  fakeNetworks();
  const { names } = await failEachStep<Place & { messageId: string; networkId: string }, string[]>({
    place: async () => {
      const at = await place();
      const { id: messageId } = await send(at.api, at.chatId);
      // The queue is empty, and the chat's alarm is done.
      await ringAll("CHATS", at.chatId);
      const message = (await at.api("GET", `/chats/${at.chatId}/messages/${messageId}`)).body.message;
      expect(message.status).toBe("SENT");
      return { ...at, messageId, networkId: "wamid.told" };
    },
    act: ({ channel, chatId, address, messageId, networkId }) => {
      const ours = { recipient_id: address, biz_opaque_callback_data: `${chatId}.${messageId}` };
      return fromMeta(channel as NonNullable<Place["channel"]>, [
        whatsappStatus("delivered", { id: networkId, ...ours }),
      ]);
    },
    look: async ({ chatId }) => (await chatOnDisk(chatId)).messages,
  });
  expect(names).toEqual(expect.arrayContaining(["CHATS.applyStatus", "update messages set doc = ? where seq = ?"]));
});
