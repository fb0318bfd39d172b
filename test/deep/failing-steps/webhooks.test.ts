import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { Kind } from "../../service/delivery/conversation.ts";
import {
  fromMeta,
  fromTelegram,
  telegramText,
  whatsappStatus,
  whatsappText,
} from "../../service/inbound/webhook-calls.ts";
import { type Answer, send } from "../../support/harness.ts";
import { fakeNetworks } from "../../support/networks.ts";
import { failEachStep, type Path } from "./every-step.ts";
import { chatOnDisk, ring } from "./looks.ts";
import { newContact, type Place, placesOf, quietly } from "./places.ts";

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
    look: async ({ channelId, from }) => {
      const found = await env.DB.prepare(
        `select chats.id, contact_name as name, chat_count as count from chats join channels on channels.id = channel_id
         where channel_id = ? and contact_address = ?`,
      )
        .bind(channelId, from)
        .all<{ id: string; name: string; count: number }>();
      const stored = await Promise.all(found.results.map(({ id }) => chatOnDisk(id)));
      return { chats: found.results.map(({ name, count }) => `${name}, of ${count}`), stored };
    },
    // The chat exists, and the first message or the call that sets its alarm is repeated.
    between: ({ chats, stored }) => chats.length === 1 && stored[0]?.alarm === false,
  };
}

test.each(["telegram", "whatsapp"] as const)(
  "a new contact's message of %s is stored once or repeated, whichever step fails",
  async (kind) => {
    const { names } = await failEachStep(firstMessage(kind));
    expect(names.some((name) => name.startsWith("D1 batch: insert into chat_addresses"))).toBe(true);
    expect(names).toEqual(expect.arrayContaining(["CHATS.receive", "kv.put identity", "setAlarm"]));
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
      const object = env.CHATS.getByName(at.chatId);
      await ring(object);
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
