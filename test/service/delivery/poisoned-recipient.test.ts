import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { send } from "../../support/harness.ts";
import { accept, fakeNetworks, refuse } from "../../support/networks.ts";
import { alarmOf, chatOf, conversation, healthOf, pass, stopTheClock } from "./conversation.ts";

stopTheClock();

const MINUTE = 60_000;

/**
 * Three hours of a channel on which Meta refuses every message to one recipient with `code`. That chat and a healthy
 * one each get a message every ten minutes.
 */
async function threeHours(code: number, status: number) {
  const healthy = await conversation("whatsapp");
  const poisoned = await chatOf(healthy, healthy.channelId);
  const calls = fakeNetworks((call, number) =>
    (call.to === poisoned.address ? refuse(code, "Refused", { status }) : accept)(call, number),
  );
  const channel = () => env.CHANNELS.getByName(healthy.channelId);
  const sentAt = new Map<string, number>();
  let brokenMinutes = 0;
  for (let minute = 0; minute < 180; minute++) {
    if (minute % 10 === 0) {
      await send(healthy.api, poisoned.chatId, { content: `To the poisoned ${minute}` });
      await send(healthy.api, healthy.chatId, { content: `To the healthy ${minute}` });
      sentAt.set(`To the healthy ${minute}`, Date.now());
    }
    if ((await alarmOf(channel())) !== null) await runDurableObjectAlarm(channel());
    for (const chat of [poisoned, healthy]) await chat.run();
    if ((await healthOf(healthy.channelId)).state !== "ok") brokenMinutes++;
    pass(MINUTE);
  }
  const late = [...sentAt].map(([text, at]) => {
    const arrived = calls.find((call) => call.to === healthy.address && call.text === text)?.at;
    return ((arrived ?? Number.POSITIVE_INFINITY) - at) / MINUTE;
  });
  return { brokenMinutes, late: Math.max(...late), messages: await poisoned.messages() };
}

test.each([
  [130497, 403, "FAILED"],
  [130497, 400, "FAILED"],
  [999_999, 403, "QUEUED"],
  [999_999, 401, "QUEUED"],
])(
  "a refusal of one recipient with the code %i and status %i delays no other chat",
  async (code, status, state) => {
    const { brokenMinutes, late, messages } = await threeHours(code, status);
    expect({ brokenMinutes, late }).toEqual({ brokenMinutes: 0, late: 0 });
    expect(messages[0]?.status).toBe(state);
  },
  60_000,
);

test("a recipient that Meta refuses in the words of a broken channel delays other chats by minutes, and its messages fail", async () => {
  const { late, messages } = await threeHours(131_031, 400);
  expect(late).toBeLessThanOrEqual(8);
  expect(messages.slice(0, 10).map(({ status, error }) => [status, error?.code])).toEqual(
    Array.from({ length: 10 }, () => ["FAILED", "message_refused"]),
  );
}, 60_000);
