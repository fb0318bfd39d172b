import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { MAX_CHAT_ACTS } from "../../../src/chats/object/acts.ts";
import { newId } from "../../../src/model/id.ts";
import { asOwner } from "../../support/as-owner.ts";
import { admin, expectError, expectFaults, newChat, newOrganization, send } from "../../support/harness.ts";
import { accept, fakeNetworks, hanging, inTurn, lost, type NetworkCall, refuse } from "../../support/networks.ts";
import { objectWrites } from "../../support/object-writes.ts";
import { report } from "./inbound.ts";
import { conversation, type Kind, pass, stopTheClock } from "./object/delivery/conversation.ts";

stopTheClock();

/** Answers an act as its network does, and messages too. */
function acceptActs(call: NetworkCall): Response {
  if (call.network === "telegram" && call.method !== "sendMessage") return Response.json({ ok: true, result: true });
  return call.body?.status === "read" ? Response.json({ success: true }) : accept(call);
}

/** A chat of a network with a sent message, and one of the contact with the network's id `theirs`. */
async function chatWithBoth(kind: Kind, script = acceptActs) {
  const calls = fakeNetworks(script);
  const at = await conversation(kind);
  const ours = await send(at.api, at.chatId, { content: "Ours" });
  await at.run();
  const networkId = kind === "telegram" ? `123456:${at.address}:77` : "theirs";
  const id = newId("msg", null);
  const draft = { id, dedupe: networkId, type: "TEXT", content: "Theirs", media: null, origin: null } as const;
  const received = await env.CHATS.getByName(at.chatId).receive(asOwner(at.organizationId), {
    ...draft,
    addresses: [],
  });
  if (received.outcome !== "stored") throw new Error(received.outcome);
  calls.length = 0;
  const path = `/chats/${at.chatId}`;
  return {
    ...at,
    calls,
    ours: ours.id,
    theirs: JSON.parse(received.doc).id as string,
    react: (id: string, emoji: unknown) => at.api("PUT", `${path}/messages/${id}/reaction`, { emoji }),
    unreact: (id: string) => at.api("DELETE", `${path}/messages/${id}/reaction`),
    read: (messageId: unknown) => at.api("POST", `${path}/read`, { messageId }),
    typing: () => at.api("POST", `${path}/typing`),
    chat: async () => (await at.api("GET", path)).body.chat,
  };
}

test("a reaction on WhatsApp goes out once, is stored once, and is taken back once", async () => {
  const at = await chatWithBoth("whatsapp");
  const { status, body } = await at.react(at.theirs, "👍");
  expect([status, body.message.reactions]).toEqual([
    200,
    [{ by: "organization", emoji: "👍", at: new Date().toISOString() }],
  ]);
  expect(at.calls.map((call) => call.body)).toEqual([
    {
      messaging_product: "whatsapp",
      recipient_type: "individual",
      to: at.address,
      biz_opaque_callback_data: `${at.chatId}.${at.theirs}.reaction.${Date.now()}`,
      type: "reaction",
      reaction: { message_id: "theirs", emoji: "👍" },
    },
  ]);
  expect((await at.react(at.theirs, "👍")).body.message).toEqual(body.message);
  expect(at.calls).toHaveLength(1);
  expect((await at.unreact(at.theirs)).body.message.reactions).toBeUndefined();
  expect(at.calls[1]?.body.reaction).toEqual({ message_id: "theirs", emoji: "" });
  expect((await at.unreact(at.theirs)).status).toBe(200);
  expect(at.calls).toHaveLength(2);
});

test("a reaction on Telegram has the form that Telegram lists, and names our own message too", async () => {
  const at = await chatWithBoth("telegram");
  expect((await at.react(at.theirs, "❤️")).body.message.reactions).toMatchObject([{ emoji: "❤️" }]);
  expect((await at.react(at.ours, "🔥")).status).toBe(200);
  expect((await at.unreact(at.ours)).status).toBe(200);
  expect(at.calls.map(({ method, body }) => [method, body.message_id, body.reaction])).toEqual([
    ["setMessageReaction", 77, [{ type: "emoji", emoji: "❤" }]],
    ["setMessageReaction", expect.any(Number), [{ type: "emoji", emoji: "🔥" }]],
    ["setMessageReaction", expect.any(Number), []],
  ]);
});

test("a reaction writes the message and its event, a read mark no row of a message, typing nothing", async () => {
  const at = await chatWithBoth("whatsapp");
  expect(await objectWrites(at, () => at.react(at.theirs, "👍"))).toMatchObject({ rows: 2, values: 0 });
  expect(await objectWrites(at, () => at.read(at.theirs))).toMatchObject({ rows: 0 });
  expect(await objectWrites(at, () => at.typing())).toEqual({ rows: 0, values: 0, alarms: 0 });
});

test.each([
  ["", "emoji"],
  ["a", "emoji"],
  ["👍👍", "emoji"],
  ["1", "emoji"],
  [7, "emoji"],
])("%j is no emoji", async (emoji, path) => {
  const at = await chatWithBoth("whatsapp");
  expectFaults(await at.react(at.theirs, emoji), path);
  expect(at.calls).toEqual([]);
});

test("a message without an id at the network, a blank one and an unknown one take no reaction", async () => {
  const at = await chatWithBoth("whatsapp");
  const calls = fakeNetworks(refuse(131026));
  const failed = await send(at.api, at.chatId, { content: "Refused" });
  await at.run();
  const later = await send(at.api, at.chatId, {
    content: "Later",
    scheduledAt: new Date(Date.now() + 60_000).toISOString(),
  });
  calls.length = 0;
  for (const id of [failed.id, later.id]) expectError(await at.react(id, "👍"), 409, "not_sent");
  expectError(await at.read(later.id), 409, "not_sent");
  await admin("POST", `/chats/${at.chatId}/messages/${at.theirs}/redact`);
  expectError(await at.react(at.theirs, "👍"), 409, "redacted");
  expect((await at.unreact(at.theirs)).status).toBe(200);
  expectError(await at.react("msg_g000000000000000", "👍"), 404, "message_not_found");
  expectError(await at.read("msg_g000000000000000"), 404, "message_not_found");
  expect(calls).toEqual([]);
});

test("an act without its field is told which one", async () => {
  const at = await chatWithBoth("whatsapp");
  expectError(await at.react(at.theirs, undefined), 400, "missing_field", "emoji is required");
  expectError(await at.react(at.theirs, null), 400, "missing_field", "emoji is required");
  expectError(await at.read(undefined), 400, "missing_field", "messageId is required");
  expect(at.calls).toEqual([]);
});

test("what the network refuses is not stored, and its reason is told", async () => {
  const at = await chatWithBoth("telegram");
  fakeNetworks(refuse(400, "Bad Request: REACTION_INVALID"));
  expectError(await at.react(at.theirs, "🫠"), 409, "refused_by_network", /REACTION_INVALID/);
  expect((await at.message(at.theirs)).reactions).toBeUndefined();
});

test("an act whose answer is lost is a 503 and not stored; repeated, it is done", async () => {
  const at = await chatWithBoth("whatsapp");
  fakeNetworks(inTurn(lost, acceptActs));
  expectError(await at.react(at.theirs, "👍"), 503, "unavailable");
  expect((await at.message(at.theirs)).reactions).toBeUndefined();
  expect((await at.react(at.theirs, "👍")).status).toBe(200);
});

test("read marks on WhatsApp name the contact's newest message before, and never move back", async () => {
  const at = await chatWithBoth("whatsapp");
  const last = await send(at.api, at.chatId, { content: "Last" });
  await at.run();
  at.calls.length = 0;
  expect((await at.chat()).readUpTo).toBeNull();
  expect((await at.read(at.ours)).body).toEqual({ shown: false });
  expect([(await at.chat()).readUpTo, at.calls]).toEqual([1, []]);
  expect((await at.read(last.id)).body).toEqual({ shown: true });
  expect(at.calls.map((call) => call.body)).toEqual([
    { messaging_product: "whatsapp", status: "read", message_id: "theirs" },
  ]);
  expect((await at.read(at.theirs)).body).toEqual({ shown: true });
  expect([(await at.chat()).readUpTo, at.calls.length]).toEqual([3, 1]);
  await report(at.chatId);
  expect((await at.api("GET", "/chats")).body.chats[0].readUpTo).toBe(3);
});

test("Telegram has no read marks, so nothing is stored", async () => {
  const at = await chatWithBoth("telegram");
  expectError(await at.read(at.theirs), 409, "not_supported_by_channel");
  expect((await at.chat()).readUpTo).toBeNull();
});

test("typing is shown with the contact's newest message on WhatsApp, and alone on Telegram", async () => {
  const whatsapp = await chatWithBoth("whatsapp");
  expect((await whatsapp.typing()).body).toEqual({ shown: true });
  expect(whatsapp.calls[0]?.body).toEqual({
    messaging_product: "whatsapp",
    status: "read",
    message_id: "theirs",
    typing_indicator: { type: "text" },
  });
  const fresh = await conversation("whatsapp");
  expect((await fresh.api("POST", `/chats/${fresh.chatId}/typing`, {})).body).toEqual({ shown: false });
  const telegram = await chatWithBoth("telegram");
  expect((await telegram.typing()).body).toEqual({ shown: true });
  expect(telegram.calls[0]).toMatchObject({
    method: "sendChatAction",
    body: { chat_id: telegram.address, action: "typing" },
  });
});

test("an act on a broken channel is a 503 that says when to come again, and calls nobody", async () => {
  const at = await chatWithBoth("whatsapp");
  const calls = fakeNetworks(refuse(190, "Expired", { status: 401 }));
  await send(at.api, at.chatId, { content: "Breaks it" });
  await at.run();
  calls.length = 0;
  const answer = await at.react(at.theirs, "👍");
  expectError(answer, 503, "unavailable");
  expect(Number(answer.headers.get("Retry-After"))).toBeGreaterThan(200);
  expect(calls).toEqual([]);
});

test("an act that the network refuses for the whole channel does not break it: the next message finds that out", async () => {
  const at = await chatWithBoth("whatsapp");
  fakeNetworks(inTurn(refuse(190, "Expired", { status: 401 })));
  expectError(await at.react(at.theirs, "👍"), 503, "unavailable");
  await send(at.api, at.chatId, { content: "Goes" });
  await at.run();
  expect((await at.messages()).at(-1)?.status).toBe("SENT");
});

test("an act that can't start within 3 seconds takes no start from the messages", async () => {
  const at = await conversation("whatsapp", { perSecond: 1 });
  const calls = fakeNetworks(acceptActs);
  const channel = env.CHANNELS.getByName(at.channelId);
  const request = { channelId: at.channelId, chatId: at.chatId, brokenEpoch: null, reservedAt: null };
  for (let taken = 0; taken < 6; taken++) await channel.permit(request);
  const before = await channel.permit(request);
  for (let act = 0; act < 3; act++) {
    expectError(await at.api("POST", `/chats/${at.chatId}/typing`), 503, "unavailable");
  }
  const after = await channel.permit(request);
  if (before.outcome !== "later" || after.outcome !== "later") throw new Error("expected to wait");
  expect(after.at - before.at).toBe(1_000);
  expect(calls).toEqual([]);
});

test("an act goes through while a message is being sent, and acts of one chat go one after the other", async () => {
  const at = await chatWithBoth("whatsapp");
  const held = hanging(acceptActs);
  const calls = fakeNetworks(inTurn(held.script, acceptActs, acceptActs));
  await send(at.api, at.chatId, { content: "Slow" });
  const sending = at.run();
  await held.reached();
  const answers = await Promise.all([at.react(at.theirs, "👍"), at.react(at.theirs, "🎉")]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  held.letGo();
  await sending;
  expect(calls.map((call) => call.body.type)).toEqual(["text", "reaction", "reaction"]);
  expect((await at.message(at.theirs)).reactions).toHaveLength(1);
  expect((await at.messages()).at(-1)?.status).toBe("SENT");
});

test("an act that waits for a slow one is given up after 3 seconds, and never made later", async () => {
  const at = await chatWithBoth("whatsapp");
  const held = hanging(acceptActs);
  const calls = fakeNetworks(inTurn(held.script, acceptActs));
  const slow = at.react(at.theirs, "👍");
  await held.reached();
  // One more than may wait: when it is refused, the others wait.
  const late = Array.from({ length: MAX_CHAT_ACTS }, () => at.read(at.theirs));
  expect((await Promise.race(late)).status).toBe(503);
  pass(3_000);
  held.letGo();
  expect((await slow).status).toBe(200);
  for (const { status, headers } of await Promise.all(late)) {
    expect([status, headers.get("Retry-After")]).toEqual([503, "1"]);
  }
  expect(calls).toHaveLength(1);
  expect((await at.read(at.theirs)).body).toEqual({ shown: true });
});

test("on a web chat a reaction is stored and a read mark moves, without a network", async () => {
  const calls = fakeNetworks(acceptActs);
  const { api, channelId } = await newOrganization();
  const { id: chatId } = await newChat(api, channelId);
  const { id } = await send(api, chatId, { content: "Hello" });
  const reacted = await api("PUT", `/chats/${chatId}/messages/${id}/reaction`, { emoji: "🎉" });
  expect(reacted.body.message.reactions).toMatchObject([{ by: "organization", emoji: "🎉" }]);
  for (let times = 0; times < 2; times++) {
    expect((await api("POST", `/chats/${chatId}/read`, { messageId: id })).body).toEqual({ shown: false });
  }
  expect((await api("POST", `/chats/${chatId}/typing`)).body).toEqual({ shown: false });
  expect((await api("GET", `/chats/${chatId}`)).body.chat.readUpTo).toBe(1);
  expect(calls).toEqual([]);
});
