import { evictDurableObject } from "cloudflare:test";
import { expect, test, vi } from "vitest";
import { breakDirectory, breakObjects, countCalls, OUTAGES } from "../../../../support/faults.ts";
import { newTemplate, send, sendMany } from "../../../../support/harness.ts";
import { acceptAs, fakeNetworks, inTurn, lost, refuse } from "../../../../support/networks.ts";
import {
  ACCESS_TOKEN,
  alarmOf,
  type Conversation,
  chatOf,
  conversation,
  healthOf,
  PHONE_ID,
  pass,
  runNext,
  stopTheClock,
} from "./conversation.ts";

stopTheClock();

const IDLE = { depth: 0, oldest: null, nextAttemptAt: null, lastError: null };

test("a message reaches WhatsApp with our ids, and is SENT", async () => {
  const calls = fakeNetworks();
  const chat = await conversation("whatsapp");
  const message = await send(chat.api, chat.chatId, { content: "Hello there" });
  await chat.run();
  expect(await chat.message(message.id)).toMatchObject({ status: "SENT", error: null });
  expect(calls).toMatchObject([{ network: "whatsapp", token: ACCESS_TOKEN, to: chat.address, text: "Hello there" }]);
  expect(calls[0]?.url).toContain(`/${PHONE_ID}/messages`);
  expect(calls[0]?.body.biz_opaque_callback_data).toBe(`${chat.chatId}.${message.id}`);
  expect(await chat.queue()).toEqual(IDLE);
});

test("a template goes with its name, its language and the parameters that it declares", async () => {
  const calls = fakeNetworks();
  const chat = await conversation("whatsapp");
  const templateId = await newTemplate(chat.organizationId, "Dear {{name}}, {{count}} parcels are on their way.");
  const variables = { name: "Ada\n  Lovelace", count: 2, unknown: "x" };
  const message = await send(chat.api, chat.chatId, { templateId, variables });
  await chat.run();
  expect(calls[0]?.body.template).toEqual({
    name: "order_shipped",
    language: { code: "en" },
    components: [
      {
        type: "body",
        parameters: [
          { type: "text", parameter_name: "name", text: "Ada Lovelace" },
          { type: "text", parameter_name: "count", text: "2" },
        ],
      },
    ],
  });
  expect(await chat.message(message.id)).toMatchObject({ status: "SENT", type: "TEMPLATE" });
});

test("the code 1 is tried once more, and then fails", async () => {
  const calls = fakeNetworks(inTurn(refuse(1, "Unknown"), refuse(1, "Unknown")));
  const chat = await conversation("whatsapp");
  const [first, second] = await sendMany(chat.api, chat.chatId, 2);
  await chat.run();
  await runNext(chat);
  expect(calls.map((call) => call.text)).toEqual(["Message 1", "Message 1", "Message 2"]);
  expect(await chat.message(first?.id ?? "")).toMatchObject({ status: "FAILED", error: { code: "network_1" } });
  expect(await chat.message(second?.id ?? "")).toMatchObject({ status: "SENT" });
});

test("a recipient who is sent to too fast waits six seconds, and other chats go on", async () => {
  const calls = fakeNetworks(inTurn(refuse(131056, "Pair rate limit hit")));
  const chat = await conversation("whatsapp");
  const other = await chatOf(chat, chat.channelId);
  await send(chat.api, chat.chatId);
  await chat.run();
  await send(chat.api, other.chatId);
  await other.run();
  expect(calls.map((call) => call.to)).toEqual([chat.address, other.address]);
  pass(5_999);
  await chat.run();
  expect(calls).toHaveLength(2);
  pass(1);
  await chat.run();
  expect(calls).toHaveLength(3);
});

test("a number that is too fast holds all its chats", async () => {
  const slow = refuse(130429, "Rate limit hit", { headers: { "Retry-After": "30" } });
  const calls = fakeNetworks(inTurn(slow));
  const chat = await conversation("whatsapp");
  const [reserved, fresh] = [await chatOf(chat, chat.channelId), await chatOf(chat, chat.channelId)];
  await send(chat.api, chat.chatId);
  await chat.run();
  await send(chat.api, fresh.chatId);
  await fresh.run();
  await send(chat.api, reserved.chatId);
  await reserved.run();
  pass(29_000);
  await Promise.all([chat.run(), fresh.run(), reserved.run()]);
  expect(calls).toHaveLength(1);
  pass(1_100);
  // The first one is the trial. Whoever waits for that longer than a second gets a later start.
  for (const each of [chat, fresh, reserved]) await each.run();
  expect(calls).toHaveLength(4);
  expect(await healthOf(chat.channelId)).toMatchObject({ state: "ok" });
});

test("a lost answer waits 90 s for a status, and none came: then it is sent again", async () => {
  const calls = fakeNetworks(inTurn(lost));
  const chat = await conversation("whatsapp");
  await sendMany(chat.api, chat.chatId, 2);
  await chat.run();
  expect(await chat.queue()).toMatchObject({
    depth: 2,
    nextAttemptAt: new Date(Date.now() + 90_000).toISOString(),
    lastError: { code: "outcome_unknown" },
  });
  pass(89_999);
  await chat.run();
  expect(calls).toHaveLength(1);
  pass(1);
  await chat.run();
  expect(calls.map((call) => call.text)).toEqual(["Message 1", "Message 1", "Message 2"]);
});

test("the further addresses in Meta's answer find the same chat", async () => {
  fakeNetworks(acceptAs("wamid.1", { wa_id: "5511987654321", user_id: "BR.987" }));
  const chat = await conversation("whatsapp");
  const brazil = await chatOf(chat, chat.channelId, "551187654321");
  await send(chat.api, brazil.chatId);
  await brazil.run();
  for (const address of ["551187654321", "5511987654321", "BR.987"]) {
    const { chats } = (await chat.api("GET", `/chats?channel=${chat.channelId}&contact=${address}`)).body;
    expect(chats.map((found: { id: string }) => found.id)).toEqual([brazil.chatId]);
  }
});

/** How many chats a list finds by a further address of the contact. */
const found = async ({ api, channelId }: Conversation) =>
  (await api("GET", `/chats?channel=${channelId}&contact=DE.77`)).body.chats.length;

/** A chat that could not tell its organization's object of a further address. */
async function withUntoldAddress(): Promise<Conversation> {
  const chat = await conversation("whatsapp");
  fakeNetworks(acceptAs("wamid.1", { user_id: "DE.77" }));
  breakObjects("ORGANIZATIONS", "addAddresses");
  await send(chat.api, chat.chatId);
  await chat.run();
  vi.restoreAllMocks();
  return chat;
}

test("addresses that the organization's object did not get are sent to it later, even after an eviction", async () => {
  const chat = await withUntoldAddress();
  await evictDurableObject(chat.object());
  expect(await found(chat)).toBe(0);
  expect(await alarmOf(chat.object())).toBeLessThanOrEqual(Date.now() + 30_000);
  pass(30_000);
  await chat.run();
  expect(await found(chat)).toBe(1);
  expect(await alarmOf(chat.object())).toBeNull();
});

test("while the organization's object does not take an address, it is called once in 30 seconds", async () => {
  const chat = await withUntoldAddress();
  const againAt = Date.now() + 30_000;
  const calls = countCalls("ORGANIZATIONS", "addAddresses");
  pass(29_000);
  await chat.run();
  expect([calls(), await alarmOf(chat.object())]).toEqual([0, againAt]);
  pass(1_000);
  await chat.run();
  expect([calls(), await found(chat)]).toEqual([1, 1]);
});

test.each(OUTAGES)("addresses are saved while the directory is down (%s error)", async (outage) => {
  const chat = await conversation("whatsapp");
  fakeNetworks((call, number) => {
    breakDirectory(outage);
    return acceptAs("wamid.1", { user_id: "DE.77" })(call, number);
  });
  await send(chat.api, chat.chatId);
  await chat.run();
  await chat.run();
  vi.restoreAllMocks();
  expect(await found(chat)).toBe(1);
});

test("addresses that the network repeats are saved once", async () => {
  fakeNetworks(acceptAs("wamid.1", { wa_id: "4915100000077", user_id: "DE.78" }));
  const chat = await conversation("whatsapp");
  await send(chat.api, chat.chatId);
  await chat.run();
  const calls = countCalls("ORGANIZATIONS", "addAddresses");
  await sendMany(chat.api, chat.chatId, 5);
  await chat.run();
  expect(calls()).toBe(0);
});
