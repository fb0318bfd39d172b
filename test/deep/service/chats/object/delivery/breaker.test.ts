import { runDurableObjectAlarm } from "cloudflare:test";
import { expect, test, vi } from "vitest";
import {
  bot,
  depths,
  GOOD,
  manyChats,
  mend,
  runAll,
} from "../../../../../service/chats/object/delivery/broken-channel.ts";
import { alarmOf, healthOf, pass, stopTheClock } from "../../../../../service/chats/object/delivery/conversation.ts";
import { countRoundTrips } from "../../../../../support/faults.ts";
import { send } from "../../../../../support/harness.ts";
import { fakeNetworks } from "../../../../../support/networks.ts";

stopTheClock();

const MINUTE = 60_000;

test("a dead token: a hundred chats that send at once cost one call, and drain at the channel's pace once it is replaced", async () => {
  let underWay = 0;
  let most = 0;
  const calls = fakeNetworks(async (call, number) => {
    most = Math.max(most, ++underWay);
    await scheduler.wait(1);
    underWay--;
    return bot(call, number);
  });
  const at = await manyChats(100);
  // The key's next window.
  pass(MINUTE);
  await Promise.all(at.chats.map(({ chatId }) => send(at.api, chatId)));
  await runAll(at.chats);
  expect(calls).toHaveLength(1);
  const health = await healthOf(at.channelId);
  expect(health).toMatchObject({ state: "broken", reason: "Telegram refuses the bot token: Unauthorized" });
  pass(10_000);
  const trips = countRoundTrips();
  await runAll(at.chats);
  expect(calls).toHaveLength(1);
  // Nothing of this is news to the directory; the channel itself is read anew once its record is old.
  expect(trips()).toBeLessThanOrEqual(2);
  vi.restoreAllMocks();
  expect(await healthOf(at.channelId)).toEqual(health);
  expect(most).toBe(1);

  expect((await mend(at.channelId)).body.channel.health).toMatchObject({ state: "ok", reason: null });
  expect(await healthOf(at.channelId)).toMatchObject({ state: "ok", reason: null });
  const start = Date.now();
  for (let turns = 0; calls.length < 101; turns++) {
    expect(turns).toBeLessThan(5);
    const alarm = await alarmOf(at.channelObject());
    if (alarm !== null) await runDurableObjectAlarm(at.channelObject());
    await runAll(at.chats);
    pass(1_000);
  }
  expect(calls.slice(1).map((call) => call.token)).toEqual(Array.from({ length: 100 }, () => GOOD));
  expect(new Set(calls.slice(1).map((call) => call.to)).size).toBe(100);
  expect(Date.now() - start).toBeLessThanOrEqual(5_000);
  expect(await depths(at.chats.slice(0, 10))).toEqual(Array.from({ length: 10 }, () => 0));
  // What became of them is told, and nothing is left to do.
  await runAll(at.chats);
  await runDurableObjectAlarm(at.channelObject());
  expect(await alarmOf(at.channelObject())).toBeNull();
}, 60_000);
