import { expect, test } from "vitest";
import { send, sendMany } from "../../support/harness.ts";
import { accept, fakeNetworks, refuse } from "../../support/networks.ts";
import { alarmOf, conversation, pass, runNext, stopTheClock } from "./conversation.ts";

stopTheClock();

const MINUTE = 60_000;
/** The platform cuts an alarm off after this long. */
const ALARM_MS = 15 * MINUTE;
const SLOW_MS = 29_000;

test("a run of slow attempts ends long before the platform cuts the alarm off, and the next one goes on", async () => {
  let isSlow = false;
  const calls = fakeNetworks((call, number) => {
    if (!isSlow) return refuse(500, "Busy")(call, number);
    pass(SLOW_MS);
    return accept(call);
  });
  const chat = await conversation("telegram");
  await send(chat.api, chat.chatId, { content: "Message 0" });
  await chat.run();
  await sendMany(chat.api, chat.chatId, 49);
  isSlow = true;
  const texts = () => calls.slice(1).map((call) => call.text);
  for (let runs = 0; texts().length < 50; runs++) {
    expect(runs).toBeLessThan(20);
    const before = texts().length;
    const begunAt = Date.now();
    await runNext(chat);
    expect(texts().length).toBeGreaterThan(before);
    expect(Date.now() - begunAt).toBeLessThan(ALARM_MS / 2);
    // The next run is due at once.
    if (texts().length < 50) expect(await alarmOf(chat.object())).toBeLessThanOrEqual(Date.now());
  }
  expect(texts()).toEqual(Array.from({ length: 50 }, (_, n) => `Message ${n}`));
});
