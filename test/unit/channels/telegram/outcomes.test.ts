import { expect, test } from "vitest";
import { registerWebhook } from "../../../../src/channels/telegram/register.ts";
import { fakeNetwork, WHOLE } from "../fake-network.ts";
import { accepted, credentials, network, ok, outbound, refused, TOKEN, telegram } from "./network.ts";

function send(signal = new AbortController().signal) {
  return telegram.send(outbound(), credentials, network, signal);
}

function answer(status: number, body: BodyInit | null, headers: HeadersInit = {}) {
  return () => new Response(body, { status, headers });
}

test.each([
  [refused(429, "Too Many Requests: retry after 5", { retry_after: 5 }), "network_429", 5_000],
  [refused(429, "Too Many Requests: retry after 10072", { retry_after: 10_072 }), "network_429", 10_072_000],
  [refused(429, "Too Many Requests", { retry_after: 0 }), "network_429", 0],
  [refused(429, "Too Many Requests"), "network_429", null],
  [refused(429, "Too Many Requests", { retry_after: -1 }), "network_429", null],
  [refused(429, "Too Many Requests", { retry_after: "soon" }), "network_429", null],
  [refused(429, "Too Many Requests", { retry_after: 1e300 }), "network_429", 86_400_000],
  [answer(429, "slow down", { "Retry-After": "9" }), "network_429", 9_000],
  [answer(429, ""), "network_429", null],
  [answer(200, '{"ok":false,"error_code":300}'), "network_300", null],
  [answer(300, '{"ok":true,"result":{"message_id":7}}'), "network_300", null],
  [answer(500, "a page"), "network_500", null],
  [refused(500, "Internal Server Error"), "network_500", null],
  [refused(502, "Bad Gateway"), "network_502", null],
  [answer(503, null, { "Retry-After": "20" }), "network_503", 20_000],
  [answer(502, "<html>502 Bad Gateway</html>"), "network_502", null],
  [answer(504, "x".repeat(300_000)), "network_504", null],
  [refused(408, "Request Timeout"), "network_408", null],
])("retry %#: the network took nothing and may take it later, in this chat alone", async (reply, code, afterMs) => {
  fakeNetwork(reply);
  expect(await send()).toMatchObject({ outcome: "retry", code, afterMs, wholeChannel: false, parts: [] });
});

test.each([
  [400, "Bad Request: chat not found"],
  [400, "Bad Request: PEER_ID_INVALID"],
  [403, "Forbidden: bot can't initiate conversation with a user"],
  [403, "Forbidden: bot was blocked by the user"],
  [403, "Forbidden: user is deactivated"],
  [403, "Forbidden: bot was kicked from the group chat"],
  [403, "Forbidden: bot is not a member of the supergroup chat"],
  [403, "Forbidden: the group chat was deleted"],
])("a %i, %s, is about the contact, and shows that the channel works", async (status, message) => {
  fakeNetwork(refused(status, message));
  expect(await send()).toEqual({ outcome: "failed", code: "contact_unreachable", message, works: true, parts: [] });
});

test.each([
  "TOPIC_CLOSED",
  "not enough rights to send text messages to the chat",
  "have no rights to send a message",
  "need administrator rights in the channel chat",
  "file is too big",
  "failed to get HTTP URL content",
  "wrong type of the web page content",
  "wrong file identifier/HTTP URL specified",
  "message is too long",
  "message caption is too long",
  "message text is empty",
  "message thread not found",
  "PHOTO_INVALID_DIMENSIONS",
  "BUTTON_DATA_INVALID",
])("a 400, %s, is final for the chat or the message, and shows that the channel works", async (words) => {
  const message = `Bad Request: ${words}`;
  fakeNetwork(refused(400, message));
  expect(await send()).toEqual({ outcome: "failed", code: "network_400", message, works: true, parts: [] });
});

test.each([
  [400, "Bad Request: words that nobody has seen", "network_400"],
  [403, "Forbidden: words that nobody has seen", "contact_unreachable"],
  [413, "Request Entity Too Large", "network_413"],
])("a %i, %s, is final, and says nothing about the channel", async (status, message, code) => {
  fakeNetwork(refused(status, message));
  expect(await send()).toEqual({ outcome: "failed", code, message, parts: [] });
});

test("a 400 that names another chat changes the contact's address", async () => {
  fakeNetwork(refused(400, "Bad Request: group chat was upgraded", { migrate_to_chat_id: -1_001_234_567_890 }));
  expect(await send()).toEqual({ outcome: "moved", address: "-1001234567890", parts: [] });
});

test("a topic that is gone is lost, and the message may be sent without it", async () => {
  const message = outbound({ topic: "7" });
  const sendTo = () => telegram.send(message, credentials, network, new AbortController().signal);
  fakeNetwork(refused(400, "Bad Request: message thread not found"), refused(400, "Bad Request: message is too long"));
  expect(await sendTo()).toEqual({ outcome: "moved", address: "42", lostTopic: "7", parts: [] });
  expect(await sendTo()).toMatchObject({ outcome: "failed", code: "network_400" });
});

test("a 403 that names another chat fails, and so does one without a code of its own", async () => {
  fakeNetwork(refused(403, "Moved", { migrate_to_chat_id: -7 }), answer(403, '{"ok":false}'));
  for (const _ of [1, 2]) expect(await send()).toMatchObject({ outcome: "failed", code: "contact_unreachable" });
});

test("a 400 that names the same chat fails instead of repeating forever", async () => {
  fakeNetwork(refused(400, "Bad Request: group chat was upgraded", { migrate_to_chat_id: 42 }));
  expect(await send()).toMatchObject({ outcome: "failed", code: "network_400" });
});

test.each([
  [refused(401, "Unauthorized"), "Telegram refuses the bot token: Unauthorized"],
  [refused(404, "Not Found"), "Telegram refuses the bot token: Not Found"],
  [answer(404, "<html>"), "Telegram refuses the bot token: Telegram answered 404"],
])("channel_broken %#: a wrong token is the channel's fault and not the message's", async (reply, reason) => {
  fakeNetwork(reply);
  expect(await send()).toEqual({ outcome: "channel_broken", reason, parts: [] });
});

test.each([
  ["not JSON", answer(200, "<html>welcome to the hotel</html>")],
  ["empty", answer(200, "")],
  ["without a body", answer(204, null)],
  ["null", answer(200, "null")],
  ["a list", answer(200, "[]")],
  ["without ok", answer(200, '{"result":{"message_id":7}}')],
  ["ok as text", answer(200, '{"ok":"true","result":{"message_id":7}}')],
  ["no, and no code", answer(200, '{"ok":false}')],
  ["no, with a good code", answer(200, '{"ok":false,"error_code":299}')],
  ["ok, with a bad status", answer(400, '{"ok":true,"result":{"message_id":7}}')],
  ["cut", answer(200, '{"ok":true,"result":{"message_')],
  ["huge", answer(200, `{"ok":true,"result":{"message_id":7,"text":"${"x".repeat(300_000)}"}}`)],
  ["another's 400", answer(400, "<html>Bad Request</html>")],
  ["another's 403", answer(403, '{"error":"blocked by proxy"}')],
  ["another's 499", answer(499, "a page")],
])("an answer that is %s leaves the outcome unknown", async (_, reply) => {
  fakeNetwork(reply);
  const message = "Telegram's answer could not be understood";
  expect(await send()).toEqual({ outcome: "unknown", message, parts: [] });
});

test.each(["true", "{}", '{"message_id":"7"}', '{"message_id":7.5}'])(
  "a success with the result %s names no message, so the outcome is unknown",
  async (result) => {
    fakeNetwork(answer(200, `{"ok":true,"result":${result}}`));
    const message = "Telegram's answer has no message id";
    expect(await send()).toEqual({ outcome: "unknown", message, parts: [] });
  },
);

test("a response that is cut off leaves the outcome unknown", async () => {
  const broken = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"ok":true,"result":{"message_id":7}'));
      controller.error(new Error("Network connection lost."));
    },
  });
  fakeNetwork(answer(200, broken));
  expect(await send()).toMatchObject({ outcome: "unknown" });
});

test("nothing is waited for after an unknown outcome: Telegram sends no statuses", () => {
  expect(telegram.unknownWaitMs).toBe(0);
});

test.each([
  [
    "an error's text",
    () => Promise.reject(new TypeError(`Invalid URL: https://telegram.test/bot${TOKEN}/sendMessage`)),
  ],
  ["a 400's description", refused(400, `Bad Request: /bot${TOKEN}/sendMessage`)],
  ["a 401's description", refused(401, `Unauthorized: ${encodeURIComponent(TOKEN)}`)],
  ["a 429's description", refused(429, `Too Many Requests: ${TOKEN}`)],
  ["a 500's description", refused(500, `${TOKEN} ${TOKEN}`)],
])("the token in %s goes no further", async (_, reply) => {
  fakeNetwork(reply);
  expect(JSON.stringify(await send())).not.toContain("secret_part");
});

test("a token that Telegram quotes is replaced by an ellipsis", async () => {
  fakeNetwork(refused(400, `No such bot: ${TOKEN.slice(TOKEN.indexOf(":") + 1)}!`));
  expect(await send()).toMatchObject({ message: "No such bot: …!" });
});

test("a channel without a token calls with none, is broken, and takes webhooks of no bot", async () => {
  const sent = fakeNetwork(refused(404, "Not Found"), ok({ file_path: "a.jpg" }), ok(true), ok(true));
  const outcome = await telegram.send(outbound(), {}, network, new AbortController().signal);
  expect(outcome).toMatchObject({ outcome: "channel_broken" });
  await telegram.media("F1", {}, network, WHOLE);
  await registerWebhook("https://parley.test", "verify", {}, network);
  const methods = sent.map(({ url }) => url.replace("https://telegram.test", ""));
  expect(methods).toEqual(["/bot/sendMessage", "/bot/getFile", "/file/bot/a.jpg", "/bot/setWebhook"]);
  const headers = new Headers({ "X-Telegram-Bot-Api-Secret-Token": "s" });
  const body = Uint8Array.from(new TextEncoder().encode('{"message":{"message_id":7,"chat":{"id":42},"text":"Hi"}}'));
  const receipt = await telegram.receive({ headers, readBody: async () => body }, {}, "s");
  expect(receipt).toMatchObject({ items: [{ item: { networkId: ":42:7" } }] });
});

test("a description is passed on whole when there is no token to be hidden", async () => {
  fakeNetwork(refused(400, "Bad Request: chat not found"), accepted(7));
  const outcome = await telegram.send(outbound(), {}, network, new AbortController().signal);
  expect(outcome).toMatchObject({ message: "Bad Request: chat not found" });
});
