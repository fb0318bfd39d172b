import { expect, test, vi } from "vitest";
import { hurryAlarms, ringAlarm } from "../../../support/alarms.ts";
import { replaceMethod } from "../../../support/faults.ts";
import { send } from "../../../support/harness.ts";
import { untilAttempts } from "../../../support/message-status.ts";
import { TOMORROW } from "../../../support/tomorrow.ts";
import { until } from "../../../support/until.ts";
import { chatWithWebhook, fakeReceiver } from "../receiver.ts";

const MINUTE = 60_000;

const hanging = () => new Promise<never>(() => {});
const overloaded = () => new Response(null, { status: 503 });

test("a report that hangs delays no attempt of a network and no call of a webhook", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: TOMORROW });
  let networkCalls = 0;
  const failing = async () => {
    networkCalls++;
    return overloaded();
  };
  const calls = fakeReceiver(overloaded, failing);
  const { api, chatId, object, settled } = await chatWithWebhook({ types: ["message.created"] }, "telegram");
  const { id } = await send(api, chatId);
  /** Until each attempt is stored with the time of the next one, by the clock as it stands. */
  const stored = async (attempts: number) => {
    await settled(attempts);
    expect(await untilAttempts(chatId, id, attempts)).toEqual(Array(attempts).fill("retry"));
  };
  await stored(1);
  replaceMethod("ORGANIZATIONS", "report", () => hanging);
  hurryAlarms();
  for (const times of [2, 3]) {
    vi.setSystemTime(Date.now() + 10 * MINUTE);
    await until(
      "both are called again",
      () => {
        // The last alarm may still wait for the report. One that rings while an attempt ends begins no other.
        void ringAlarm(object());
        return [calls.length, networkCalls];
      },
      (counts) => counts.every((count) => count === times),
    );
    await stored(times);
  }
});
