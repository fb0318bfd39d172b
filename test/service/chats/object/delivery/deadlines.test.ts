import { runInDurableObject } from "cloudflare:test";
import { expect, test, vi } from "vitest";
import { send, sendMany } from "../../../../support/harness.ts";
import { accept, fakeNetworks, refuse } from "../../../../support/networks.ts";
import { until } from "../../../../support/until.ts";
import { alarmOf, conversation, deliveryOf, pass, passToNext, runNext, stopTheClock } from "./conversation.ts";

stopTheClock();

const DAY = 86_400_000;

test("a message that does not come through within a day is FAILED, and lets the rest pass", async () => {
  const refused = refuse(500, "Internal error", { parameters: { retry_after: 3_000 } });
  const calls = fakeNetworks((call, number) => (call.text === "Message 1" ? refused : accept)(call, number));
  const chat = await conversation("telegram");
  const [first] = await sendMany(chat.api, chat.chatId, 2);
  const start = Date.now();
  for (let attempts = 1; (await chat.queue()).depth === 2; attempts++) {
    expect(attempts).toBeLessThan(40);
    await runNext(chat);
  }
  expect(Date.now() - start).toBe(DAY);
  expect(await chat.message(first?.id ?? "")).toMatchObject({
    status: "FAILED",
    error: { code: "delivery_timeout", message: "Not delivered within a day: Internal error" },
  });
  expect(calls.at(-1)?.text).toBe("Message 2");
  expect(await chat.queue()).toMatchObject({ depth: 0 });
});

test("a message that causes a fault at each attempt ends after a day, and lets the rest pass", async () => {
  const calls = fakeNetworks((call, number) => (number === 1 ? refuse(500, "Internal error") : accept)(call, number));
  const chat = await conversation("telegram");
  const [bad] = await sendMany(chat.api, chat.chatId, 2);
  await chat.run();
  const setText = (text: string | null) =>
    runInDurableObject(chat.object(), (_object, { storage }) => {
      storage.sql.exec("update messages set doc = json_set(doc, '$.text', ?) where seq = 1", text);
    });
  await setText(null);
  const logged = vi.spyOn(console, "error").mockReturnValue();
  pass(3_600_000);
  await chat.run();
  expect(logged).toHaveBeenCalledWith(
    expect.objectContaining({ event: "alarm_part_failed", part: "queue", id: chat.chatId }),
  );
  expect(await chat.queue()).toMatchObject({ depth: 2 });
  pass(DAY);
  await chat.run();
  await setText("Message 1");
  expect(await chat.message(bad?.id ?? "")).toMatchObject({ status: "FAILED", error: { code: "delivery_timeout" } });
  expect(logged).toHaveBeenCalledWith(expect.objectContaining({ event: "message_failed", messageId: bad?.id }));
  expect(calls.at(-1)?.text).toBe("Message 2");
  expect(await chat.queue()).toMatchObject({ depth: 0 });
});

test("an attempt that the network never answers is ended after 30 s, as one of unknown outcome", async () => {
  const signals: AbortSignal[] = [];
  const chat = await conversation("telegram");
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: Date.now() });
  vi.stubGlobal("fetch", (_url: string, { signal }: { signal: AbortSignal }) => {
    signals.push(signal);
    return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
  await send(chat.api, chat.chatId);
  const ended = () => signals.map(({ aborted }) => aborted);
  await until("the network is called", () => signals.length);
  const start = Date.now();
  // In the object, because what a timer of its settles goes on there.
  const passInObject = (ms: number) => runInDurableObject(chat.object(), () => vi.advanceTimersByTimeAsync(ms));
  await passInObject(29_999);
  expect(ended()).toEqual([false]);
  expect((await chat.queue()).lastError).toBeNull();
  await passInObject(1);
  expect(ended()).toEqual([true]);
  await chat.run();
  expect(await chat.queue()).toMatchObject({
    depth: 1,
    lastError: { code: "outcome_unknown", message: "Telegram did not answer in time" },
  });
  expect(await deliveryOf(chat.object(), 1)).toMatchObject({ attempts: 1, startedAt: null });
  expect(Date.now() - start).toBe(30_000);
});

test("an attempt that does not even heed its deadline is given up a second later", async () => {
  const chat = await conversation("telegram");
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: Date.now() });
  let calls = 0;
  vi.stubGlobal("fetch", () => {
    calls++;
    return new Promise(() => {});
  });
  await send(chat.api, chat.chatId);
  await until("the network is called", () => calls);
  await runInDurableObject(chat.object(), () => vi.advanceTimersByTimeAsync(30_999));
  expect((await chat.queue()).lastError).toBeNull();
  await runInDurableObject(chat.object(), () => vi.advanceTimersByTimeAsync(1));
  await chat.run();
  const lastError = { code: "outcome_unknown", message: "The network did not answer in time" };
  expect(await chat.queue()).toMatchObject({ depth: 1, lastError });
});

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
    await passToNext(chat);
    await chat.runOnce();
    expect(texts().length).toBeGreaterThan(before);
    expect(Date.now() - begunAt).toBeLessThan(ALARM_MS / 2);
    // The next run is due at once.
    if (texts().length < 50) expect(await alarmOf(chat.object())).toBeLessThanOrEqual(Date.now());
  }
  expect(texts()).toEqual(Array.from({ length: 50 }, (_, n) => `Message ${n}`));
});
