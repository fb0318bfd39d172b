import { expect, test, vi } from "vitest";
import { send, sendMany } from "../../../../support/harness.ts";
import { fakeNetworks, inTurn, lost, refuse, status } from "../../../../support/networks.ts";
import { BOT_TOKEN, chatOf, conversation, healthOf, pass, runNext, stopTheClock } from "./conversation.ts";

stopTheClock();

const IDLE = { depth: 0, oldest: null, nextAttemptAt: null, lastError: null };

test("a message reaches Telegram and is SENT", async () => {
  const calls = fakeNetworks();
  const chat = await conversation("telegram");
  const message = await send(chat.api, chat.chatId, { content: "Hello there" });
  expect(message).toMatchObject({ status: "QUEUED", error: null });
  await chat.run();
  expect(await chat.message(message.id)).toMatchObject({ status: "SENT", error: null, content: "Hello there" });
  expect(calls).toMatchObject([{ network: "telegram", method: "sendMessage", token: BOT_TOKEN, to: chat.address }]);
  expect(calls[0]?.body).toEqual({ chat_id: chat.address, text: "Hello there" });
  expect(await chat.queue()).toEqual(IDLE);
});

test("what is sent while an attempt is under way follows in its order", async () => {
  const calls = fakeNetworks();
  const chat = await conversation("telegram");
  await sendMany(chat.api, chat.chatId, 20);
  await chat.run();
  expect(calls.map((call) => call.text)).toEqual(Array.from({ length: 20 }, (_, i) => `Message ${i + 1}`));
  expect((await chat.messages()).every((message) => message.status === "SENT")).toBe(true);
});

test("a 429 holds the chat for as long as Telegram says, and keeps its order", async () => {
  const calls = fakeNetworks(
    inTurn(refuse(429, "Too Many Requests: retry after 35", { parameters: { retry_after: 35 } })),
  );
  const chat = await conversation("telegram");
  const [first] = await sendMany(chat.api, chat.chatId, 3);
  await chat.run();
  expect(calls).toHaveLength(1);
  expect(await chat.queue()).toEqual({
    depth: 3,
    oldest: first?.createdAt,
    nextAttemptAt: new Date(Date.now() + 35_000).toISOString(),
    lastError: { code: "network_429", message: "Too Many Requests: retry after 35" },
  });
  pass(34_999);
  await chat.run();
  expect(calls).toHaveLength(1);
  pass(1);
  await chat.run();
  expect(calls.map((call) => call.text)).toEqual(["Message 1", "Message 1", "Message 2", "Message 3"]);
  expect(await chat.queue()).toEqual(IDLE);
});

test.each([
  [400, "Bad Request: message is too long", "network_400"],
  [400, "Bad Request: chat not found", "contact_unreachable"],
  [403, "Forbidden: bot was blocked by the user", "contact_unreachable"],
])("a %i fails the message with Telegram's words, and lets the rest pass", async (code, words, expected) => {
  const calls = fakeNetworks(inTurn(refuse(code, words)));
  const chat = await conversation("telegram");
  await sendMany(chat.api, chat.chatId, 3);
  await chat.run();
  const messages = await chat.messages();
  expect(messages.map((message) => message.status)).toEqual(["FAILED", "SENT", "SENT"]);
  expect(messages[0]?.error).toEqual({ code: expected, message: words });
  expect(calls).toHaveLength(3);
  expect(await chat.queue()).toEqual(IDLE);
  expect(await healthOf(chat.channelId)).toMatchObject({ state: "ok", reason: null });
});

test.each([
  ["a 500 of Telegram's", refuse(500, "Internal Server Error"), "network_500", "Internal Server Error"],
  ["a 502 of its front", status(502), "network_502", "Telegram answered 502"],
  ["a lost connection", lost, "outcome_unknown", "The connection to Telegram failed"],
])("%s is tried again after a while, in order", async (_name, answer, code, message) => {
  const calls = fakeNetworks(inTurn(answer, answer));
  const chat = await conversation("telegram");
  await sendMany(chat.api, chat.chatId, 2);
  await chat.run();
  const { depth, nextAttemptAt, lastError } = await chat.queue();
  expect({ depth, lastError }).toEqual({ depth: 2, lastError: { code, message } });
  const wait = Date.parse(nextAttemptAt) - Date.now();
  expect(wait).toBeGreaterThanOrEqual(1_600);
  expect(wait).toBeLessThanOrEqual(2_400);
  await runNext(chat);
  const second = Date.parse((await chat.queue()).nextAttemptAt) - Date.now();
  expect(second).toBeGreaterThanOrEqual(3_200);
  expect(second).toBeLessThanOrEqual(4_800);
  await runNext(chat);
  expect(calls.map((call) => call.text)).toEqual(["Message 1", "Message 1", "Message 1", "Message 2"]);
  expect(await chat.queue()).toEqual(IDLE);
});

test.each([401, 404])("a %i breaks the channel: its messages wait, none fails", async (code) => {
  const calls = fakeNetworks(refuse(code, "Unauthorized"));
  const chat = await conversation("telegram");
  const since = new Date(Date.now()).toISOString();
  const message = await send(chat.api, chat.chatId);
  await chat.run();
  const reason = "Telegram refuses the bot token: Unauthorized";
  expect(await healthOf(chat.channelId)).toEqual({
    state: "broken",
    reason,
    since,
    isVerified: false,
    warnings: [],
    unknown: {},
  });
  expect(await chat.message(message.id)).toMatchObject({ status: "QUEUED", error: null });
  expect(await chat.queue()).toMatchObject({ depth: 1, lastError: { code: "channel_broken", message: reason } });
  pass(10_000);
  await chat.run();
  const wait = Date.parse((await chat.queue()).nextAttemptAt) - Date.now();
  expect(wait).toBeGreaterThan(280_000);
  expect(calls).toHaveLength(1);
});

test("a message to a group that has moved is sent again to its new address, which finds the chat too", async () => {
  const moved = refuse(400, "Bad Request: group chat was upgraded", { parameters: { migrate_to_chat_id: -1001234 } });
  const calls = fakeNetworks(inTurn(moved));
  const chat = await conversation("telegram");
  const group = await chatOf(chat, chat.channelId, "-777");
  await sendMany(chat.api, group.chatId, 2);
  await group.run();
  expect(calls.map((call) => [call.to, call.text])).toEqual([
    ["-777", "Message 1"],
    ["-1001234", "Message 1"],
    ["-1001234", "Message 2"],
  ]);
  for (const address of ["-777", "-1001234"]) {
    const { chats } = (await chat.api("GET", `/chats?channel=${chat.channelId}&contact=${address}`)).body;
    expect(chats.map((found: { id: string }) => found.id)).toEqual([group.chatId]);
    expect(chats[0].contact.address).toBe("-777");
  }
});

test("groups that lead to each other are not called in a circle without a pause", async () => {
  const calls = fakeNetworks((call, number) => {
    const parameters = { migrate_to_chat_id: call.to === "-778" ? -1005678 : -778 };
    return refuse(400, "upgraded", { parameters })(call, number);
  });
  const chat = await conversation("telegram");
  const group = await chatOf(chat, chat.channelId, "-778");
  await send(chat.api, group.chatId);
  await group.run();
  expect(calls).toHaveLength(2);
  expect(Date.parse((await group.queue()).nextAttemptAt)).toBeGreaterThan(Date.now() + 1_000);
});

test("a burst over many chats queues evenly, at the channel's pace", async () => {
  const calls = fakeNetworks();
  const first = await conversation("telegram", { perSecond: 1 });
  const others = await Promise.all(Array.from({ length: 5 }, () => chatOf(first, first.channelId)));
  const chats = [first, ...others];
  const start = Date.now();
  await send(first.api, first.chatId);
  // The trial of the channel ends first. Whoever waits for that longer than a second gets a later start.
  await first.run();
  for (const { chatId } of others) await send(first.api, chatId);
  await Promise.all(chats.map((chat) => chat.run()));
  // Two could start within a second; each of the others was given its own start.
  expect(calls).toHaveLength(2);
  const waiting = (await Promise.all(chats.map((chat) => chat.queue()))).filter((queue) => queue.depth > 0);
  const starts = waiting.map((queue) => Date.parse(queue.nextAttemptAt) - start);
  expect(new Set(starts)).toEqual(new Set([2_000, 3_000, 4_000, 5_000]));
  expect(waiting.map((queue) => queue.lastError)).toEqual([null, null, null, null]);
  for (let second = 2; second <= 5; second++) {
    vi.setSystemTime(start + second * 1_000);
    await Promise.all(chats.map((chat) => chat.run()));
    expect(calls).toHaveLength(second + 1);
  }
});

test.each(["failed to get HTTP URL content", "wrong type of the web page content"])(
  "after Telegram's %s, the service fetches the file behind the link and sends it",
  async (words) => {
    const link = "https://files.example/plan.docx";
    const calls = fakeNetworks((call, number) => {
      if (call.url !== link) return inTurn(refuse(400, `Bad Request: ${words}`))(call, number);
      return new Response("bytes", { headers: { "Content-Length": "5", "Content-Type": "application/x-doc" } });
    });
    const chat = await conversation("telegram");
    const { id } = await send(chat.api, chat.chatId, { type: "DOCUMENT", content: "Read", mediaUrl: link });
    await chat.run();
    expect(await chat.message(id)).toMatchObject({ status: "SENT", mediaUrl: link });
    expect(calls).toMatchObject([
      { method: "sendDocument", body: { document: link } },
      { url: link },
      { method: "sendDocument", body: { caption: "Read" }, file: { field: "document", name: "plan.docx" } },
    ]);
  },
);

test("the service fetches no file from an address of its own", async () => {
  const calls = fakeNetworks(refuse(400, "Bad Request: failed to get HTTP URL content"));
  const chat = await conversation("telegram");
  const own = { type: "IMAGE", content: "https://localhost/api/v1/key" };
  const { id } = await send(chat.api, chat.chatId, own);
  await chat.run();
  expect(calls).toHaveLength(1);
  const { status, error } = await chat.message(id);
  expect([status, error?.code]).toEqual(["FAILED", "network_400"]);
  expect(error?.message).toMatch(/can't fetch the file either: the link must have a public host name$/);
});
