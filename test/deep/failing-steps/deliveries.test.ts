import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { Kind } from "../../service/delivery/conversation.ts";
import { send } from "../../support/harness.ts";
import { fakeNetworks } from "../../support/networks.ts";
import { failEachStep } from "./every-step.ts";
import { chatOnDisk, ring } from "./looks.ts";
import { answered, type Place, placesOf, quietly } from "./places.ts";
import { CAUSE, unwatched } from "./steps.ts";

quietly();

const MANY = 20;
/** An alarm that fails is rung again by the platform, so often at most. */
const RINGS = 6;

/** Rings an object's alarm: what it throws is the platform's to repeat. */
async function rung(namespace: "CHATS" | "CHANNELS", id: string) {
  try {
    await ring(unwatched(() => env[namespace].getByName(id)));
    return answered(200);
  } catch (error) {
    return answered(503, String(error).includes(CAUSE) ? "" : String(error));
  }
}

/** Lets the clock pass until nothing wakes a chat any more. */
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
    expect(names).toEqual(expect.arrayContaining(["CHANNELS.permit", "setAlarm", "CHANNELS.reportActivity"]));
    expect(names).toContain("update messages set delivery = ? where seq = ?");
  },
);

test("a chat's activity reaches the directory, whichever step of the channel's alarm fails", async () => {
  const place = placesOf();
  const { names } = await failEachStep<Place, object>({
    place: async () => {
      const at = await place();
      await send(at.api, at.chatId);
      await ring(env.CHATS.getByName(at.chatId));
      return at;
    },
    act: ({ channelId }) => rung("CHANNELS", channelId),
    settle: async ({ channelId }) => {
      const object = env.CHANNELS.getByName(channelId);
      for (let rings = 0; rings < RINGS && (await ring(object)); rings++) vi.setSystemTime(Date.now() + 60_000);
    },
    look: async ({ chatId }) => ({
      isActive:
        (await env.DB.prepare("select last_message_at as at from chats where id = ?").bind(chatId).first("at")) !==
        null,
    }),
  });
  expect(names.some((name) => name.startsWith("D1 update chats set last_message_at"))).toBe(true);
});
