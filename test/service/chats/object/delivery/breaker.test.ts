import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { ChannelPace } from "../../../../../src/channels/object/pace.ts";
import { runAlarm, runOneAlarm } from "../../../../support/alarms.ts";
import { aroundCall, breakDirectory, breakObjects, countCalls, OUTAGES } from "../../../../support/faults.ts";
import { send, sendMany } from "../../../../support/harness.ts";
import { accept, fakeNetworks, hanging, refuse } from "../../../../support/networks.ts";
import { neverRing } from "../../../../support/timers.ts";
import { gate, until } from "../../../../support/until.ts";
import { bot, depths, manyChats, mend, runAll } from "./broken-channel.ts";
import { alarmOf, conversation, healthOf, pass, stopTheClock } from "./conversation.ts";

stopTheClock();

const MINUTE = 60_000;

test("a successful probe closes the breaker, and all other chats send", async () => {
  let isMended = false;
  const calls = fakeNetworks((call, number) => (isMended ? accept(call) : bot(call, number)));
  const at = await manyChats(10);
  await send(at.api, at.chatId);
  await at.run();
  for (const { chatId } of at.chats.slice(1)) await send(at.api, chatId);
  await runAll(at.chats);
  isMended = true;
  pass(6 * MINUTE);
  await at.run();
  expect(await healthOf(at.channelId)).toMatchObject({ state: "ok", reason: null });
  await runAlarm(at.channelObject());
  await runAll(at.chats);
  expect(await depths(at.chats)).toEqual(at.chats.map(() => 0));
  expect(calls).toHaveLength(11);
});

test("many attempts that fail together open the breaker once, for five minutes", async () => {
  const held = hanging(refuse(401, "Unauthorized"));
  const calls = fakeNetworks((call, number) => (number === 1 ? accept : held.script)(call, number));
  const at = await manyChats(20);
  // It works, so nobody is held when it no longer does.
  await send(at.api, at.chatId);
  await at.run();
  for (const { chatId } of at.chats) await send(at.api, chatId);
  await until(
    "each chat calls",
    () => calls.length,
    (count) => count === 21,
  );
  const reports = countCalls("ORGANIZATIONS", "reportHealth");
  held.letGo();
  await runAll(at.chats);
  expect(reports()).toBe(1);
  const pace = await runInDurableObject(at.channelObject(), (_object, { storage }) => storage.kv.get("pace"));
  expect(pace).toMatchObject({ breaker: { failures: 0, probeAt: Date.now() + 5 * MINUTE } });
});

test("a breaker stays open over an eviction of the channel's object", async () => {
  const calls = fakeNetworks(bot);
  const at = await manyChats(2);
  await send(at.api, at.chatId);
  await at.run();
  await evictDurableObject(at.channelObject());
  const [, other] = at.chats;
  await send(at.api, other?.chatId ?? "");
  await other?.run();
  expect(calls).toHaveLength(1);
  expect((await other?.queue())?.lastError).toMatchObject({ code: "channel_broken" });
});

test("health that the organization's object did not get is reported again", async () => {
  const chat = await conversation("telegram");
  const calls = fakeNetworks(bot);
  breakObjects("ORGANIZATIONS", "reportHealth");
  await send(chat.api, chat.chatId);
  await chat.run();
  vi.restoreAllMocks();
  expect(calls).toHaveLength(1);
  expect(await healthOf(chat.channelId)).toMatchObject({ state: "ok" });
  pass(15_000);
  await runAlarm(env.CHANNELS.getByName(chat.channelId));
  expect(await healthOf(chat.channelId)).toMatchObject({ state: "broken" });
  await runAlarm(env.CHANNELS.getByName(chat.channelId));
  expect(await alarmOf(env.CHANNELS.getByName(chat.channelId))).toBeNull();
});

test.each(OUTAGES)("health is reported while the directory is down (%s error)", async (outage) => {
  const chat = await conversation("telegram");
  fakeNetworks((call, number) => {
    breakDirectory(outage);
    return bot(call, number);
  });
  await send(chat.api, chat.chatId);
  await chat.run();
  vi.restoreAllMocks();
  expect(await healthOf(chat.channelId)).toMatchObject({ state: "broken" });
});

test.each(OUTAGES)("delivery goes on while the directory is down (%s error)", async (outage) => {
  const calls = fakeNetworks();
  const chat = await conversation("telegram");
  await send(chat.api, chat.chatId);
  await chat.run();
  pass(60_000);
  breakDirectory(outage);
  await sendMany(chat.api, chat.chatId, 2);
  await chat.run();
  expect(calls.map((call) => call.text)).toEqual(["Hello", "Message 1", "Message 2"]);
});

test("a message that meets a broken channel for eight days is FAILED, and so is what has waited as long behind it", async () => {
  const calls = fakeNetworks(bot);
  const chat = await conversation("telegram");
  await sendMany(chat.api, chat.chatId, 3);
  const start = Date.now();
  await chat.run();
  for (let day = 0; day < 8; day++) {
    pass(24 * 60 * MINUTE);
    await chat.run();
  }
  const late = await send(chat.api, chat.chatId, { content: "Fresh" });
  pass(60 * MINUTE);
  await chat.run();
  const messages = await chat.messages();
  expect(messages.map((message) => message.status)).toEqual(["FAILED", "FAILED", "FAILED", "QUEUED"]);
  expect(messages[2]?.error?.code).toBe("delivery_timeout");
  await mend(chat.channelId);
  await runAlarm(env.CHANNELS.getByName(chat.channelId));
  await chat.run();
  expect(await chat.message(late.id)).toMatchObject({ status: "SENT" });
  expect(calls.at(-1)?.at).toBe(Date.now());
  expect(Date.now() - start).toBeGreaterThan(8 * 24 * 60 * MINUTE);
});

test("a channel that breaks and is repaired while its alarm wakes chats keeps the earlier alarm", async () => {
  // The alarm waits for the call, however long the repair takes.
  neverRing(5_000);
  fakeNetworks(bot);
  const { channelId, chatId } = await conversation("telegram");
  const channel = () => env.CHANNELS.getByName(channelId);
  await channel().refresh(channelId);
  await runInDurableObject(channel(), async (_object, { storage }) => {
    storage.kv.put(`waiting:${chatId}`, true);
    await storage.setAlarm(Date.now());
  });
  aroundCall("CHATS", "wake", {
    before: async () => {
      const attempt = { epoch: 0, probe: null };
      await channel().reportBroken({ channelId, chatId, reason: "It broke", ...attempt });
      await mend(channelId);
    },
  });
  await runOneAlarm(channel());
  expect(await alarmOf(channel())).toBe(Date.now());
});

test("a channel that is repaired while its broken health is reported is ok, however slow that report is", async () => {
  fakeNetworks(bot);
  const chat = await conversation("telegram");
  const slow = gate("the report of the broken health");
  aroundCall("ORGANIZATIONS", "reportHealth", { before: slow.pass });
  await send(chat.api, chat.chatId);
  const delivery = chat.run();
  await slow.reached();
  const repair = mend(chat.channelId);
  await until(
    "the breaker is closed",
    () => breakerOf(chat.channelId),
    (breaker) => !breaker,
  );
  // A report of the repaired health that did not wait for the slow one would be over by now.
  for (let trips = 0; trips < 20; trips++) await breakerOf(chat.channelId);
  slow.open();
  await Promise.all([delivery, repair]);
  await runAlarm(env.CHANNELS.getByName(chat.channelId));
  // The alarm woke the chat. Its delivery must end within the test, even if the next line fails.
  await chat.run();
  expect(await healthOf(chat.channelId)).toMatchObject({ state: "ok" });
  expect(await depths([chat])).toEqual([0]);
});

/** The breaker of a channel, as its object has stored it. */
async function breakerOf(channelId: string) {
  const object = env.CHANNELS.getByName(channelId);
  const pace = await runInDurableObject(object, (_object, { storage }) => storage.kv.get<ChannelPace>("pace"));
  return pace?.breaker;
}

test("a probe's report whose answer was lost makes the wait longer once, though it is told again", async () => {
  fakeNetworks(bot);
  const at = await manyChats(2);
  const [first, second] = at.chats;
  await send(at.api, first?.chatId ?? "");
  await first?.run();
  await send(at.api, second?.chatId ?? "");
  await second?.run();
  pass(6 * MINUTE);
  aroundCall("CHANNELS", "reportBroken", {
    after: () => {
      throw Object.assign(new Error("Network connection lost."), { retryable: true });
    },
  });
  await second?.run();
  vi.restoreAllMocks();
  expect(await breakerOf(at.channelId)).toMatchObject({ failures: 1, probes: 1, probeAt: Date.now() + 10 * MINUTE });
});
