import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { runAlarm } from "../../../../support/alarms.ts";
import { breakObjects } from "../../../../support/faults.ts";
import { expectError, send } from "../../../../support/harness.ts";
import { fakeNetworks, hanging, refuse } from "../../../../support/networks.ts";
import { bot, depths, GOOD, manyChats, mend } from "./broken-channel.ts";
import { conversation, healthOf, pass, stopTheClock } from "./conversation.ts";

stopTheClock();

test("an attempt that was under way when the token was replaced does not break the channel again", async () => {
  const hang = hanging(refuse(401, "Unauthorized"));
  const calls = fakeNetworks((call, number) => (number === 1 ? hang.script : bot)(call, number));
  const chat = await conversation("telegram");
  await send(chat.api, chat.chatId);
  await hang.reached();
  await mend(chat.channelId);
  hang.letGo();
  await chat.run();
  expect(await healthOf(chat.channelId)).toMatchObject({ state: "ok", reason: null });
  pass(3_000);
  await chat.run();
  expect(calls.map((call) => call.token === GOOD)).toEqual([false, true]);
});

test("new credentials that the channel's object can't be told of are answered 503, and count once they are repeated", async () => {
  const calls = fakeNetworks(bot);
  const chat = await conversation("telegram");
  await send(chat.api, chat.chatId);
  await chat.run();
  breakObjects("CHANNELS", "refresh");
  const refused = await mend(chat.channelId);
  expectError(refused, 503, "unavailable");
  expect(refused.headers.get("Retry-After")).not.toBeNull();
  vi.restoreAllMocks();
  expect((await mend(chat.channelId)).body.channel.health).toMatchObject({ state: "ok" });
  await runAlarm(env.CHANNELS.getByName(chat.channelId));
  await chat.run();
  expect(calls.map((call) => call.token)).toEqual([expect.not.stringMatching(GOOD), GOOD]);
});

test("new credentials that the channel's object was not told of count with the next message, if nobody repeats them", async () => {
  const calls = fakeNetworks(bot);
  const at = await manyChats(2);
  const [first, second] = at.chats;
  await send(at.api, first?.chatId ?? "");
  await first?.run();
  breakObjects("CHANNELS", "refresh");
  await mend(at.channelId);
  vi.restoreAllMocks();
  // The channel's record is held for ten seconds.
  pass(10_000);
  await send(at.api, second?.chatId ?? "");
  await second?.run();
  expect(calls.map((call) => call.token === GOOD)).toEqual([false, true]);
  expect(await healthOf(at.channelId)).toMatchObject({ state: "ok" });
  await runAlarm(at.channelObject());
  await first?.run();
  expect(await depths(at.chats)).toEqual([0, 0]);
});
