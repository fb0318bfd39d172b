import { env } from "cloudflare:workers";
import { runAlarm } from "../../../../support/alarms.ts";
import { send } from "../../../../support/harness.ts";
import { accept, fakeNetworks, refuse } from "../../../../support/networks.ts";
import { alarmOf, chatOf, conversation, healthOf, pass } from "./conversation.ts";

const MINUTE = 60_000;

/**
 * Some minutes of a channel on which Meta refuses every message to one recipient with `code`. That chat and a healthy
 * one each get a message every ten minutes.
 */
export async function refuseRecipient(code: number, status: number, minutes: number) {
  const healthy = await conversation("whatsapp");
  const poisoned = await chatOf(healthy, healthy.channelId);
  const calls = fakeNetworks((call, number) =>
    (call.to === poisoned.address ? refuse(code, "Refused", { status }) : accept)(call, number),
  );
  const channel = () => env.CHANNELS.getByName(healthy.channelId);
  const sentAt = new Map<string, number>();
  let brokenMinutes = 0;
  for (let minute = 0; minute < minutes; minute++) {
    if (minute % 10 === 0) {
      await send(healthy.api, poisoned.chatId, { content: `To the poisoned ${minute}` });
      // The trial of the channel ends first. Whoever waits for that longer than a second gets a later start.
      await poisoned.run();
      await send(healthy.api, healthy.chatId, { content: `To the healthy ${minute}` });
      sentAt.set(`To the healthy ${minute}`, Date.now());
    }
    if ((await alarmOf(channel())) !== null) await runAlarm(channel());
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
