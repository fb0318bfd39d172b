import { runInDurableObject } from "cloudflare:test";
import { expect, test, vi } from "vitest";
import { send } from "../../support/harness.ts";
import { fakeNetworks, inTurn, lost, refuse, type Script } from "../../support/networks.ts";
import { chatOf, conversation, crash, runNext, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { fromTelegram, taken, telegramText } from "./webhook-calls.ts";

stopTheClock();

const GONE = refuse(400, "Bad Request: message thread not found");
const inTopic = (id: number) => ({ message_thread_id: id, is_topic_message: true });

/** A Telegram group, what is written in it, and the topic of each call that goes there. */
async function group(address: string, script?: Script) {
  const calls = fakeNetworks(script);
  const at = await conversation("telegram");
  const chat = await chatOf(at, at.channelId, address);
  const from = { id: 5, first_name: "Bo" };
  const place = { chat: { id: Number(address), type: "supergroup", title: "Team" }, from };
  const update = (fields: object) => telegramText(address, "Hi", { ...place, ...fields });
  return {
    ...chat,
    channel: at.channel,
    place,
    update,
    write: async (fields: object = {}) => taken(await fromTelegram(at.channel, update(fields))),
    answer: async (body: Record<string, unknown> = {}) => {
      const message = await send(at.api, chat.chatId, body);
      await chat.run();
      return chat.message(message.id);
    },
    typing: async () => expect((await at.api("POST", `/chats/${chat.chatId}/typing`)).body).toEqual({ shown: true }),
    topics: () => calls.map(({ method, body }) => [method, body.message_thread_id]),
  };
}

test("an answer goes to the topic of the newest message, and to none after one that is in none", async () => {
  const at = await group("-1001");
  await at.answer();
  await at.write(inTopic(7));
  await at.answer();
  await at.write(inTopic(9));
  await at.answer();
  await at.answer();
  await at.write();
  await at.answer();
  expect(at.topics().map(([, topic]) => topic)).toEqual([undefined, 7, 9, 9, undefined]);
});

test.each([
  ["the General topic", inTopic(1)],
  ["the thread of a reply", { message_thread_id: 12 }],
])("%s is no topic", async (_what, fields) => {
  const at = await group("-1002");
  await at.write(inTopic(7));
  await at.write(fields);
  await at.answer();
  expect(at.topics()).toEqual([["sendMessage", undefined]]);
});

test("a topic outlives the object, and each kind of send and the typing indicator go to it", async () => {
  const at = await group("-1003");
  await at.write(inTopic(7));
  await crash(at.object());
  const mediaUrl = "https://files.example/a";
  const caption = "a".repeat(1_025);
  await at.answer({ type: "IMAGE", mediaUrl, content: caption });
  await at.answer({ type: "AUDIO", mediaUrl: `${mediaUrl}.ogg`, voice: true });
  await at.answer({ location: { latitude: 1, longitude: 2 } });
  await at.answer({ contacts: [{ name: "Cy", phones: ["+4915112345"] }] });
  await at.typing();
  expect(at.topics()).toEqual([
    ["sendPhoto", 7],
    ["sendMessage", 7],
    ["sendVoice", 7],
    ["sendLocation", 7],
    ["sendContact", 7],
    ["sendChatAction", 7],
  ]);
});

test("a tap is in the topic of its button", async () => {
  const at = await group("-1004");
  const tapped = { message_id: 3, date: 1_790_000_000, chat: at.place.chat, ...inTopic(8) };
  const tap = { id: "q1", from: at.place.from, message: tapped, data: "x", chat_instance: "1" };
  taken(await fromTelegram(at.channel, { update_id: 1, callback_query: tap }));
  await at.answer();
  expect(at.topics().filter(([method]) => method === "sendMessage")).toEqual([["sendMessage", 8]]);
});

test("a tap on a message that Telegram no longer shows changes no topic", async () => {
  const at = await group("-1007");
  await at.write(inTopic(7));
  const lost = { message_id: 3, date: 0, chat: at.place.chat };
  for (const [id, message] of [["q1", lost], ["q2"]] as const) {
    const tap = { id, from: { ...at.place.from, id: -1007 }, message, data: "x", chat_instance: "1" };
    taken(await fromTelegram(at.channel, { update_id: 1, callback_query: tap }));
  }
  await at.answer();
  expect(at.topics().filter(([method]) => method === "sendMessage")).toEqual([["sendMessage", 7]]);
});

test("a message to a topic that is gone goes out without it, once, and the topic is forgotten", async () => {
  const at = await group("-1005", inTurn(GONE));
  await at.write(inTopic(7));
  expect(await at.answer()).toMatchObject({ status: "SENT", error: null });
  expect(await at.answer()).toMatchObject({ status: "SENT" });
  expect(at.topics().map(([, topic]) => topic)).toEqual([7, undefined, undefined]);
  await at.write(inTopic(9));
  await at.answer();
  expect(at.topics().at(-1)).toEqual(["sendMessage", 9]);
});

test("a refused topic is not forgotten if the contact has written in another one since", async () => {
  let isRefused = false;
  const at = await group("-1006", async (call, number) => {
    if (isRefused) return inTurn()(call, number);
    isRefused = true;
    await at.write(inTopic(9));
    return GONE(call, number);
  });
  await at.write(inTopic(7));
  expect(await at.answer()).toMatchObject({ status: "SENT" });
  expect(at.topics().map(([, topic]) => topic)).toEqual([7, 9]);
});

test("a send that got no answer goes to the topic again", async () => {
  const at = await group("-1007", inTurn(lost));
  await at.write(inTopic(7));
  expect(await at.answer()).toMatchObject({ status: "QUEUED" });

  await runNext(at);
  expect(at.topics().map(([, topic]) => topic)).toEqual([7, 7]);
});

test("a repeated webhook changes no topic, and nothing is written but a change", async () => {
  const at = await group("-1008");
  const { put, remove } = await runInDurableObject(at.object(), (_object, { storage }) => {
    const kv = Object.getPrototypeOf(storage.kv) as SyncKvStorage;
    return { put: vi.spyOn(kv, "put"), remove: vi.spyOn(kv, "delete") };
  });
  const first = at.update(inTopic(7));
  const tell = async (update: object) => taken(await fromTelegram(at.channel, update));
  for (const update of [at.update({}), first, at.update(inTopic(7)), at.update(inTopic(9)), first]) await tell(update);
  await at.answer();
  expect(at.topics()).toEqual([["sendMessage", 9]]);
  for (const update of [at.update({}), at.update({})]) await tell(update);
  const ofTopics = ([key]: unknown[]) => key === "topic";
  expect(put.mock.calls.filter(ofTopics).map(([, value]) => value)).toEqual(["7", "9"]);
  expect(remove.mock.calls.filter(ofTopics)).toHaveLength(1);
});
