import { evictDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { send } from "../../../../support/harness.ts";
import { accept, acceptAs, fakeNetworks, hanging, inTurn, lost, type Script } from "../../../../support/networks.ts";
import { fromMeta, taken, tellStatus, whatsappStatus } from "../../../inbound/webhook-calls.ts";
import { type Conversation, chatOf, conversation, newNetworkChannel, pass, stopTheClock } from "./conversation.ts";

stopTheClock();

const WAMID = "wamid.of-the-test";
const FAILED = { errors: [{ code: 131026, title: "Message undeliverable" }] };

/** A message that WhatsApp took under `WAMID`, with a way to tell of it. */
async function sentMessage(script: Script = acceptAs(WAMID)) {
  const calls = fakeNetworks(script);
  const chat = await conversation("whatsapp");
  const message = await send(chat.api, chat.chatId);
  const tell = async (status: string, fields: object = {}) =>
    taken(await tellStatus(chat, message.id, status, { id: WAMID, ...fields }));
  const state = async () => {
    const { status, error } = await chat.message(message.id);
    return error ? `${status} ${error.code}` : status;
  };
  return { ...chat, calls, id: message.id, tell, state };
}

test.each([
  [["sent", "delivered", "read"], "READ"],
  [["read", "delivered", "sent"], "READ"],
  [["failed"], "FAILED network_131026"],
  [["failed", "delivered"], "DELIVERED"],
  [["delivered", "failed"], "DELIVERED"],
  [["warning"], "SENT"],
])("after %j a message is %s", async (statuses, expected) => {
  const message = await sentMessage();
  await message.run();
  for (const status of statuses) await message.tell(status, status === "failed" ? FAILED : {});
  expect(await message.state()).toBe(expected);
  expect(message.calls).toHaveLength(1);
});

test.each([
  ["delivered", "DELIVERED"],
  ["failed", "FAILED network_131026"],
])("%s that comes before the answer to the send stays", async (status, expected) => {
  const hang = hanging(acceptAs(WAMID));
  const message = await sentMessage(inTurn(hang.script));
  const second = await send(message.api, message.chatId, { content: "Next" });
  await hang.reached();
  await message.tell(status, status === "failed" ? FAILED : {});
  expect(await message.state()).toBe(expected);
  hang.letGo();
  await message.run();
  expect(await message.state()).toBe(expected);
  expect(await message.message(second.id)).toMatchObject({ status: "SENT" });
  expect(message.calls.map((call) => call.text)).toEqual(["Hello", "Next"]);
});

const TIMES = ["sentAt", "deliveredAt", "readAt", "failedAt"] as const;

test.each<[string[], (number | undefined)[]]>([
  [[], [0]],
  [
    ["delivered", "read", "read"],
    [0, 1, 2],
  ],
  [
    ["read", "delivered"],
    [0, undefined, 1],
  ],
  [
    ["failed", "delivered"],
    [0, 2, undefined, 1],
  ],
])("after %j a message shows when it got each status", async (statuses, seconds) => {
  const message = await sentMessage();
  const start = Date.now();
  await message.run();
  for (const status of statuses) {
    pass(1_000);
    await message.tell(status, status === "failed" ? FAILED : {});
  }
  const shown = await message.message(message.id);
  const expected = TIMES.map((_, n) => seconds[n]).map((at) =>
    at === undefined ? at : new Date(start + at * 1_000).toISOString(),
  );
  expect(TIMES.map((field) => shown[field])).toEqual(expected);
});

test("a status in place of an answer that got lost ends the wait, and nothing is sent twice", async () => {
  const message = await sentMessage(inTurn(lost));
  await message.run();
  const second = await send(message.api, message.chatId, { content: "Next" });
  await message.tell("delivered");
  await message.run();
  expect(await message.state()).toBe("DELIVERED");
  expect(await message.message(second.id)).toMatchObject({ status: "SENT" });
  pass(90_000);
  await message.run();
  expect(message.calls.map((call) => call.text)).toEqual(["Hello", "Next"]);
});

test("a status without our ids finds its message by the recipient's address and the network's id", async () => {
  const message = await sentMessage();
  await message.run();
  await message.tell("delivered", { biz_opaque_callback_data: undefined });
  expect(await message.state()).toBe("DELIVERED");
});

test("a status without our ids finds its message by any address of the contact, over an eviction too", async () => {
  const message = await sentMessage(acceptAs(WAMID, { wa_id: "5511900000001", user_id: "BR.1" }));
  await message.run();
  await evictDurableObject(message.object());
  await message.tell("delivered", { biz_opaque_callback_data: undefined, recipient_id: "5511900000001" });
  expect(await message.state()).toBe("DELIVERED");
  const byUser = { biz_opaque_callback_data: undefined, recipient_id: undefined, recipient_user_id: "BR.1" };
  await message.tell("read", byUser);
  expect(await message.state()).toBe("READ");
});

test.each([
  ["of an unknown message", { biz_opaque_callback_data: "CHAT.msg_gAAAAAAAAAAAAAAA" }],
  ["of an unknown chat", { biz_opaque_callback_data: "cht_gAAAAAAAAAAAAAAA.msg_gAAAAAAAAAAAAAAA" }],
  ["of an unknown chat", { biz_opaque_callback_data: "not.ours", id: "wamid.foreign" }],
  ["without our ids, of an unknown id", { biz_opaque_callback_data: undefined, id: "wamid.foreign" }],
  ["without our ids, of an unknown recipient", { biz_opaque_callback_data: undefined, recipient_id: "1999" }],
])("a status %s is acknowledged and changes nothing", async (_name, fields) => {
  const message = await sentMessage();
  await message.run();
  const data = fields.biz_opaque_callback_data?.replace("CHAT", message.chatId);
  await message.tell("read", { ...fields, biz_opaque_callback_data: data });
  expect(await message.state()).toBe("SENT");
});

test("a status that another channel tells of a message changes nothing, whoever owns that channel", async () => {
  const message = await sentMessage();
  await message.run();
  const stranger = await conversation("whatsapp");
  const sibling = await newNetworkChannel(message.organizationId, "whatsapp");
  for (const channel of [stranger.channel, sibling]) {
    const elsewhere = { ...message, channel };
    taken(await tellStatus(elsewhere, message.id, "read", { id: WAMID }));
    taken(await tellStatus(elsewhere, message.id, "read", { id: WAMID, biz_opaque_callback_data: undefined }));
  }
  expect(await message.state()).toBe("SENT");
});

test("a status of a contact's own message changes nothing", async () => {
  const message = await sentMessage();
  await message.run();
  const came = { messages: [{ from: message.address, id: "wamid.in", type: "text", text: { body: "Hi" } }] };
  taken(await fromMeta(message.channel, [came]));
  const inbound = (await message.messages()).find((each) => each.direction === "INBOUND");
  await message.tell("failed", { biz_opaque_callback_data: `${message.chatId}.${inbound?.id}`, ...FAILED });
  expect(await message.message(inbound?.id ?? "")).toMatchObject({ status: "RECEIVED", error: null });
});

test("statuses of many chats in one call each find their own", async () => {
  fakeNetworks(accept);
  const first = await conversation("whatsapp");
  const chats = [first, await chatOf(first, first.channelId), await chatOf(first, first.channelId)];
  const sent = await Promise.all(chats.map((chat) => send(first.api, chat.chatId)));
  await Promise.all(chats.map((chat) => chat.run()));
  const statuses = ["sent", "delivered", "read"].map((status, i) => {
    const chat = chats[i] as Conversation;
    const biz_opaque_callback_data = `${chat.chatId}.${sent[i]?.id}`;
    return whatsappStatus(status, { id: WAMID, recipient_id: chat.address, biz_opaque_callback_data });
  });
  taken(await fromMeta(first.channel, statuses));
  const states = await Promise.all(chats.map((chat, i) => chat.message(sent[i]?.id ?? "")));
  expect(states.map((message) => message.status)).toEqual(["SENT", "DELIVERED", "READ"]);
});
