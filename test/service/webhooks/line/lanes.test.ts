import { afterEach, expect, test, vi } from "vitest";
import { ringAlarm } from "../../../support/alarms.ts";
import { replaceMethod } from "../../../support/faults.ts";
import { send } from "../../../support/harness.ts";
import { TOMORROW } from "../../../support/tomorrow.ts";
import { addWebhook, chatWithWebhook, fakeReceiver } from "../receiver.ts";

/** The slots that the platform gives an object for connections that wait for a response. */
const SLOTS = 6;
const MINUTE = 60_000;

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const hanging = () => new Promise<never>(() => {});
const accepted = () => Response.json({ ok: true, result: { message_id: 1, chat: { id: 4711 } } });
const overloaded = () => new Response(null, { status: 503 });

/** A fetch that holds back calls while six wait for a response, as the platform does. */
function withSlots(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  let open = 0;
  const waiting: (() => void)[] = [];
  return async (...given) => {
    if (open >= SLOTS) await new Promise<void>((resolve) => waiting.push(resolve));
    open++;
    try {
      return await fetch(...given);
    } finally {
      open--;
      waiting.shift()?.();
    }
  };
}

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
    await vi.waitFor(async () => {
      const { body } = await api("GET", `/chats/${chatId}/messages/${id}/attempts`);
      expect(body.attempts.map(({ outcome }: { outcome: string }) => outcome)).toEqual(Array(attempts).fill("retry"));
    });
  };
  await stored(1);
  replaceMethod("ORGANIZATIONS", "report", () => hanging);
  for (const times of [2, 3]) {
    vi.setSystemTime(Date.now() + 10 * MINUTE);
    await vi.waitFor(() => {
      // The last alarm may still wait for the report. One that rings while an attempt ends begins no other.
      void ringAlarm(object());
      expect([calls.length, networkCalls]).toEqual([times, times]);
    });
    await stored(times);
  }
});

test("receivers that hang leave slots to the network", async () => {
  let networkCalls = 0;
  const calls = fakeReceiver(hanging, async () => {
    networkCalls++;
    return accepted();
  });
  vi.stubGlobal("fetch", withSlots(fetch));
  const { organizationId, api, chatId, object } = await chatWithWebhook({ types: ["message.*"] }, "telegram");
  for (let n = 0; n < 7; n++) await addWebhook(organizationId, { types: ["message.*"] });
  await send(api, chatId);
  // The chat learns of the other webhooks with its report.
  await ringAlarm(object());
  await send(api, chatId);
  await vi.waitFor(() => expect(calls.length).toBeGreaterThan(2));
  for (let n = 0; n < 2; n++) await send(api, chatId);
  await vi.waitFor(() => expect(networkCalls).toBe(4));
  expect(calls.length).toBeLessThan(SLOTS);
});
