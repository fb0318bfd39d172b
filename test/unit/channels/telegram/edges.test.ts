import { expect, test } from "vitest";
import { messageNumberOf, networkIdOf } from "../../../../src/channels/telegram/network-id.ts";
import { takenByTelegram, telegramSpec } from "../../../../src/channels/telegram/spec.ts";
import { readUpdate } from "../../../../src/channels/telegram/update.ts";
import type { NetworkAct } from "../../../../src/model/network.ts";
import { connectionLost, fakeNetwork } from "../fake-network.ts";
import { BYTES, FILE, files } from "../outbound.ts";
import { withAnn } from "./arrived.ts";
import { credentials, network, ok, outbound, refused, TOKEN, telegram } from "./network.ts";

test("a message is named by its bot, its chat and its number", () => {
  expect(networkIdOf("123456:secret", "-42", 7)).toBe("123456:-42:7");
});

test.each([
  ["123456:42:7", 7],
  ["123456:42:123456789012345", 123_456_789_012_345],
  ["123456:42:1234567890123456", null],
  ["123456:42:tap.7", null],
  ["123456:42:7x", null],
  ["123456:42:0.3.10", null],
  ["123456:42:", null],
  ["123456:4:27", null],
  ["99:42:7", null],
])("the number of %s for this bot in this chat is %j", (networkId, number) => {
  expect(messageNumberOf(networkId, TOKEN, "42")).toBe(number);
});

function act(act: NetworkAct, from = credentials as Record<string, string>) {
  const target = { chatId: "cht_g0123456789ABCDE", address: "42" };
  return telegram.acts?.make(act, target, from, network, new AbortController().signal);
}

test("an act on a message that Telegram does not have fails in words, and so does marking one as read", async () => {
  const sent = fakeNetwork();
  const failed = { outcome: "failed", code: "message_unknown", message: "Telegram does not have the message" };
  const messageId = "msg_g0123456789ABCDE";
  expect(await act({ act: "react", messageId, networkId: "99:42:7", emoji: "👍", at: 1 })).toEqual(failed);
  expect(await act({ act: "read", messageId, networkId: "123456:42:7" } as NetworkAct)).toEqual(failed);
  expect(sent).toEqual([]);
});

test("a channel without a token acts with none", async () => {
  const sent = fakeNetwork(ok(true), ok(true));
  await act({ act: "typing", networkId: null }, {});
  await telegram.acknowledge?.("7", {}, network);
  expect(sent.map(({ url }) => url)).toEqual([
    "https://telegram.test/bot/sendChatAction",
    "https://telegram.test/bot/answerCallbackQuery",
  ]);
});

test("a part of a file is asked for by its range, and a whole file by none", async () => {
  const rangesOf = async (range: string | null) => {
    const sent = fakeNetwork(ok({ file_path: "a.jpg" }), () => new Response("x"));
    await telegram.media("F1", credentials, network, { isHead: false, range });
    return sent[1]?.headers;
  };
  expect(await rangesOf("bytes=0-2")).toEqual({ "accept-encoding": "identity", range: "bytes=0-2" });
  expect(await rangesOf(null)).toEqual({ "accept-encoding": "identity" });
});

test("only a 400 says that a topic is gone", async () => {
  fakeNetwork(refused(403, "Forbidden: message thread not found"));
  const message = outbound({ topic: "7" });
  expect(await telegram.send(message, credentials, network, new AbortController().signal)).toMatchObject({
    outcome: "failed",
    code: "contact_unreachable",
  });
});

test("a link's file whose sending is not answered is not tried again", async () => {
  fakeNetwork(refused(400, "Bad Request: failed to get HTTP URL content"), () => Promise.reject(connectionLost()));
  const linked = { body: new Blob([BYTES]).stream(), size: FILE.size, contentType: "image/png", fileName: "a.png" };
  const port = files({ openLink: async () => linked });
  const message = outbound({ type: "IMAGE", content: "https://files.example/a.png" });
  const answer = await telegram.send(message, credentials, network, new AbortController().signal, undefined, port);
  expect(answer).toMatchObject({ outcome: "unknown" });
  expect(answer).not.toHaveProperty("once");
});

test.each(["1:abcdefgh!", "1:abcdefgh!x", "1:abcdefgh /"])("%j is no bot token", (botToken) => {
  expect(telegramSpec.credentials.safeParse({ botToken }).success).toBe(false);
});

const square = { size: 1, width: 10, height: 10, fileName: null };

test.each(["ximage/png", "image/pngx"])("a file of the type %s is no picture", (contentType) => {
  expect(takenByTelegram({ ...square, contentType }, "IMAGE")).toBe(
    "must be a JPEG, PNG or WebP to be an IMAGE on Telegram",
  );
});

test.each([[{ width: null, height: 20_000 }], [{ width: 20_000, height: null }]])(
  "a picture of which one side is unknown is taken: %j",
  (sides) => {
    expect(takenByTelegram({ ...square, ...sides, contentType: "image/png" }, "IMAGE")).toBeNull();
  },
);

test.each<[string, object[], string | null]>([
  ["a paid one with an emoji", [{ type: "paid", emoji: "👍" }], null],
  ["a custom one before another", [{ type: "custom_emoji" }, { type: "emoji", emoji: "👍" }], "👍"],
  ["an emoji before a custom one that was there", [{ type: "emoji", emoji: "👍" }, { type: "custom_emoji" }], "👍"],
])("a reaction that is %s", (_, new_reaction, emoji) => {
  const old_reaction = [{ type: "emoji", emoji: "👍" }];
  const update = { chat: withAnn, message_id: 5, date: 1_700_000_000, old_reaction, new_reaction };
  expect(readUpdate({ message_reaction: update }, TOKEN).items).toMatchObject([{ item: { emoji } }]);
});
