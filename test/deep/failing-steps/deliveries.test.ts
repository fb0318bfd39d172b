import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { Kind } from "../../service/chats/object/delivery/conversation.ts";
import { fromMeta, taken, whatsappText } from "../../service/inbound/webhook-calls.ts";
import { breakObjects } from "../../support/faults.ts";
import { admin, send } from "../../support/harness.ts";
import { fakeNetworks, refuse } from "../../support/networks.ts";
import { storedChat } from "../../support/stored.ts";
import { ringAll, rung } from "./alarms.ts";
import { failEachStep } from "./every-step.ts";
import { type Place, placesOf, quietly } from "./fixtures.ts";
import { chatOnDisk, ring } from "./looks.ts";

quietly();

const MANY = 20;

/** Lets the clock pass until nothing wakes a chat. */
async function drain({ chatId }: Place): Promise<void> {
  const object = env.CHATS.getByName(chatId);
  for (let rings = 0; rings < MANY; rings++) {
    vi.setSystemTime(Date.now() + 600_000);
    if (!(await ring(object))) return;
  }
}

test.each(["telegram", "whatsapp"] as const)(
  "a waiting message reaches %s through alarms alone, whichever step of the alarm fails",
  async (kind: Kind) => {
    const calls = fakeNetworks();
    const place = placesOf(kind);
    const { names } = await failEachStep<Place, object>({
      place: async () => {
        const at = await place();
        // Its first attempt breaks off, for the channel does not answer.
        const away = vi.spyOn(env.CHANNELS, "getByName").mockImplementation(() => {
          throw new Error("internal error; reference = 0123456789abcdef");
        });
        await send(at.api, at.chatId);
        await ring(env.CHATS.getByName(at.chatId));
        away.mockRestore();
        expect((await chatOnDisk(at.chatId)).messages).toEqual(["1 OUTBOUND Hello QUEUED"]);
        vi.setSystemTime(Date.now() + 60_000);
        return at;
      },
      act: ({ chatId }) => rung("CHATS", chatId),
      settle: drain,
      look: ({ chatId }) => chatOnDisk(chatId),
      also: async ({ chatId, address }) => {
        const { messages } = await chatOnDisk(chatId);
        const heard = calls.filter(({ to }) => to === address).length;
        return messages[0]?.endsWith("SENT") && heard >= 1 && heard <= 2
          ? null
          : `${messages.join()}, heard ${heard} times`;
      },
    });
    expect(names).toEqual(expect.arrayContaining(["CHANNELS.permit", "setAlarm", "CHANNELS.reportProbe"]));
    expect(names).toContain("update messages set delivery = ? where seq = ?");
  },
);

/** The state of a chat in its organization's object, but for the numbers that grow with each report. */
async function reportedOf({ organizationId, chatId }: Place) {
  const { state, last_message_at, last_message, depth } = (await storedChat(organizationId, chatId)) ?? {};
  const text = last_message ? JSON.parse(last_message).text : null;
  return { state, text, depth, isActive: typeof last_message_at === "number" };
}

test("a chat's report reaches the organization's object, whichever step of the chat's alarm fails", async () => {
  const place = placesOf();
  // The first report creates the feed's table of the day.
  const first = await place();
  await ringAll("CHATS", first.chatId);
  const { names } = await failEachStep<Place, object>({
    place: async () => {
      const at = await place();
      await send(at.api, at.chatId);
      return at;
    },
    act: ({ chatId }) => rung("CHATS", chatId),
    settle: ({ chatId }) => ringAll("CHATS", chatId),
    look: reportedOf,
  });
  expect(names).toEqual(expect.arrayContaining(["ORGANIZATIONS.report", "kv.put reported"]));
  expect(names.some((name) => name.startsWith("update chats set state = 'adopted'"))).toBe(true);
});

test("a contact's further address leads to the chat, whichever step of the chat's alarm fails", async () => {
  const place = placesOf("whatsapp");
  const { names } = await failEachStep<Place & { userId: string }, object>({
    place: async () => {
      const at = await place();
      const userId = `DE.${at.address}`;
      const { channel, address } = at;
      await ringAll("CHATS", at.chatId);
      taken(await fromMeta(channel as NonNullable<Place["channel"]>, [whatsappText({ wa_id: address }, "Hi")]));
      const mend = breakObjects("ORGANIZATIONS", "addAddresses");
      const who = { wa_id: address, user_id: userId };
      taken(await fromMeta(channel as NonNullable<Place["channel"]>, [whatsappText(who, "Hi")]));
      mend();
      vi.setSystemTime(Date.now() + 30_000);
      return { ...at, userId };
    },
    act: ({ chatId }) => rung("CHATS", chatId),
    settle: ({ chatId }) => ringAll("CHATS", chatId),
    look: async ({ organizationId, channelId, chatId, userId }) => {
      const found = await env.ORGANIZATIONS.getByName(organizationId).findByAddress(channelId, userId);
      return { isFound: found === chatId };
    },
  });
  expect(names).toContain("ORGANIZATIONS.addAddresses");
});

test("a channel's health reaches the organization's object, whichever step of the channel's alarm fails", async () => {
  fakeNetworks(refuse(401, "Unauthorized"));
  const place = placesOf("telegram");
  // With its first event of its own, an organization reads what its webhooks' subscriptions need.
  const first = await place();
  expect((await admin("DELETE", `/chats/${first.chatId}`)).status).toBe(200);
  const healthOf = async ({ channelId }: Place) => (await admin("GET", `/channels/${channelId}`)).body.channel.health;
  const { names } = await failEachStep<Place, object>({
    place: async () => {
      const at = await place();
      const mend = breakObjects("ORGANIZATIONS", "reportHealth");
      await send(at.api, at.chatId);
      await ring(env.CHATS.getByName(at.chatId));
      mend();
      expect((await healthOf(at)).state).toBe("ok");
      vi.setSystemTime(Date.now() + 15_000);
      return at;
    },
    act: ({ channelId }) => rung("CHANNELS", channelId),
    settle: ({ channelId }) => ringAll("CHANNELS", channelId),
    look: async (at) => ({ state: (await healthOf(at)).state }),
  });
  expect(names).toContain("ORGANIZATIONS.reportHealth");
  expect(names.some((name) => name.startsWith("update channels set health"))).toBe(true);
});

test("a key's counts reach the organization's object, whichever step of the key's alarm fails", async () => {
  const place = placesOf();
  const { names } = await failEachStep<Place, object>({
    place: async () => {
      const at = await place();
      expect((await at.api("GET", "/key")).status).toBe(200);
      return at;
    },
    act: ({ keyId }) => rung("KEYS", keyId),
    settle: ({ keyId }) => ringAll("KEYS", keyId),
    look: async ({ organizationId, keyId }) => {
      const { keys } = await env.ORGANIZATIONS.getByName(organizationId).numbers([], [keyId]);
      return keys.map(({ admitted, refused }) => ({ admitted, refused }));
    },
  });
  expect(names).toContain("ORGANIZATIONS.reportKey");
});
