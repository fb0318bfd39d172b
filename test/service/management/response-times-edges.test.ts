import { expect, test } from "vitest";
import { admin, created, newChat, newOrganization, send } from "../../support/harness.ts";
import { report, writeAsContact } from "../chats/inbound.ts";
import { conversation, crash, pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { retainedPlace } from "../chats/object/retention/fixtures.ts";
import { conversationSums } from "./conversation-sums.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

stopTheClock();

test("a response time runs from the contact's first message, also if its channel has deleted that one since", async () => {
  const { write, passDays, get, chat, object, api, chatId, channelId } = await retainedPlace("web", 30);
  const first = await write("First");
  await passDays(20);
  await write("Second");
  await passDays(15);
  expect((await get()).body.messages).toMatchObject([{ text: "Second" }]);
  expect((await chat()).unansweredSince).toBe(first.createdAt);
  await crash(object());
  await send(api, chatId);
  await report(chatId);
  const counted = { received: 2, sent: 1, newChats: 1, answers: 1, later: 1 };
  expect(await conversationSums(channelId, "day")).toEqual(counted);
});

test("a message that is sent again is a message of its own, and counts for a member only if its request names one", async () => {
  const { api, chatId, channelId, organizationId, ownerId, message, run } = await conversation("telegram");
  const expiresAt = () => new Date(Date.now() + MINUTE).toISOString();
  const failed = async () => {
    const { id } = await send(api, chatId, { senderId: ownerId, expiresAt: expiresAt() });
    pass(2 * MINUTE);
    await run();
    expect(await message(id)).toMatchObject({ status: "FAILED" });
    return `/chats/${chatId}/messages/${id}/resend`;
  };
  const resend = await failed();
  await writeAsContact(organizationId, chatId);
  pass(20 * MINUTE);
  created(await api("POST", resend));
  // A repeat gets the message of the first call.
  await api("POST", resend);
  await report(chatId);
  const once = { received: 1, sent: 2, newChats: 1, answers: 1, within1h: 1 };
  expect([await conversationSums(channelId), await conversationSums(ownerId)]).toEqual([once, { sent: 1 }]);
  created(await api("POST", await failed(), { senderId: ownerId }));
  await report(chatId);
  expect(await conversationSums(ownerId)).toEqual({ sent: 3 });
});

test.each([
  ["hour", 59 * MINUTE],
  ["day", 17 * HOUR + 59 * MINUTE],
] as const)("a number counts in the %s of its report, which begins with its first millisecond", async (by, until) => {
  const { organizationId, channelId, api } = await newOrganization();
  const { id } = await newChat(api, channelId);
  await report(id);
  // The test's clock stands at 06:00 UTC.
  pass(until + 59_999);
  await writeAsContact(organizationId, id);
  await report(id);
  await writeAsContact(organizationId, id);
  pass(1);
  await report(id);
  const { buckets } = (await admin("GET", `/stats/history?of=${channelId}&by=${by}`)).body.history;
  const last = buckets.slice(-2).map(({ start, received }: { start: string; received: number }) => [start, received]);
  const now = new Date();
  const before = new Date(now.getTime() - (by === "hour" ? HOUR : 24 * HOUR));
  expect(last).toEqual([
    [before.toISOString(), 1],
    [now.toISOString(), 1],
  ]);
});
