import type { ApiMethods, InlineKeyboardMarkup, ReplyKeyboardMarkup } from "@grammyjs/types";
import { expect, test } from "vitest";
import { telegramRendering } from "../../../../src/model/channel-kinds/telegram.ts";
import type { Choice, Choices } from "../../../../src/model/content.ts";
import type { Outbound } from "../../../../src/model/network.ts";
import { fakeNetwork } from "../fake-network.ts";
import { accepted, credentials, network, outbound, telegram } from "./network.ts";

const LINK = "https://files.example/plan.png";
const ID = "msg_g0123456789ABCDE";
const ten = Array.from({ length: 10 }, (_, index) => `Choice ${index}`);

type Method = keyof ApiMethods<string>;
/** A call: its method, and its fields as Telegram names them. */
type Called = { [M in Method]: [M, Omit<Parameters<ApiMethods<string>[M]>[0], "chat_id">] }[Method];

/** The calls that a message is sent as. */
async function callsOf(fields: Partial<Outbound>): Promise<Called[]> {
  const sent = fakeNetwork(...Array.from({ length: 9 }, (_, index) => accepted(index + 1)));
  const answer = await telegram.send(outbound(fields), credentials, network, new AbortController().signal);
  expect(answer).toMatchObject({ outcome: "sent" });
  expect(telegram.countParts(outbound(fields))).toBe(sent.length);
  return sent.map(({ url, body }) => {
    const { chat_id, ...rest } = body as { chat_id: string };
    expect(chat_id).toBe(fields.address ?? "42");
    return [url.split("/").at(-1), rest] as Called;
  });
}

/** A message with choices, rendered as a chat of Telegram would. */
function choosing(choices: Choices, fields: Partial<Outbound> = {}): Partial<Outbound> {
  const { address = "42" } = fields;
  return {
    ...fields,
    interactive: { ...choices, rendering: telegramRendering(choices, { address, hasMedia: false }) },
  };
}

function reply(title: string, more: { description?: string; section?: string } = {}): Choice {
  return { type: "reply", id: `own-${title}`, title, ...more };
}

const where: Choices = { choices: [{ type: "location", title: "Where are you?" }] };
const keyboardOf = (titles: string[]): InlineKeyboardMarkup => ({
  inline_keyboard: titles.map((title, index) => [{ text: title, callback_data: `${ID}:${index}` }]),
});

test.each([
  ["one reply", { choices: [reply("A")] }, "42", "buttons"],
  [
    "ten replies with descriptions",
    { choices: ten.map((title) => reply(title, { description: "x" })) },
    "42",
    "buttons",
  ],
  ["a link", { choices: [{ type: "link", title: "A", url: LINK }] }, "-10042", "link"],
  ["a request for the location in a private chat", where, "42", "keyboard"],
  ["a request for the location in a group", where, "-10042", "text"],
] satisfies [string, Choices, string, string][])("%s is shown in Telegram's own form", (_, choices, address, shown) => {
  expect(telegramRendering(choices, { address, hasMedia: false })).toBe(shown);
});

test.each([1, 3, 4, 10])("%i replies are buttons below the text, one a row", async (count) => {
  const titles = ten.slice(0, count).map((title) => title.padEnd(24, "x"));
  const expected: Called[] = [["sendMessage", { text: "Which?", reply_markup: keyboardOf(titles) }]];
  expect(await callsOf(choosing({ choices: titles.map((title) => reply(title)) }, { content: "Which?" }))).toEqual(
    expected,
  );
});

test("what a button brings back fits into 64 bytes, for the longest id of a message too", async () => {
  const messageId = `msg_${"a".repeat(40)}`;
  const [call] = await callsOf(choosing({ choices: ten.map((title) => reply(title)) }, { messageId }));
  const data = ten.map((_, index) => `${messageId}:${index}`);
  const inline_keyboard = ten.map((title, index) => [{ text: title, callback_data: data[index] ?? "" }]);
  expect(call?.[1]).toMatchObject({ reply_markup: { inline_keyboard } });
  for (const each of data) expect(new TextEncoder().encode(each).length).toBeLessThanOrEqual(64);
});

test("links are buttons with their addresses", async () => {
  const choices = ["a", "b"].map((each): Choice => ({ type: "link", title: each, url: `https://${each}.example/` }));
  const expected: Called[] = [
    [
      "sendMessage",
      {
        text: "Order\n\nWhich?\n\nShop",
        reply_markup: {
          inline_keyboard: [[{ text: "a", url: "https://a.example/" }], [{ text: "b", url: "https://b.example/" }]],
        },
      },
    ],
  ];
  expect(await callsOf(choosing({ choices, header: "Order", footer: "Shop" }, { content: "Which?" }))).toEqual(
    expected,
  );
});

test("descriptions and sections are lines of the text, because a button has only its title", async () => {
  const choices = [reply("A", { section: "S", description: "first" }), reply("B"), reply("C", { section: "S" })];
  const [call] = await callsOf(choosing({ choices, footer: "Shop" }, { content: "Which?" }));
  const expected: Called = [
    "sendMessage",
    { text: "Which?\n\nS\nA: first\nC\nB\n\nShop", reply_markup: keyboardOf(["A", "B", "C"]) },
  ];
  expect(call).toEqual(expected);
});

test.each([
  ["IMAGE", "sendPhoto", "photo"],
  ["VIDEO", "sendVideo", "video"],
  ["DOCUMENT", "sendDocument", "document"],
] as const)("%s carries the text as its caption, and the buttons", async (type, method, field) => {
  const media = { type, mediaUrl: LINK, content: "Look" };
  const markup = { reply_markup: keyboardOf(["A"]) };
  expect(await callsOf(choosing({ choices: [reply("A")], footer: "Shop" }, media))).toEqual([
    [method, { [field]: LINK, caption: "Look\n\nShop", ...markup }],
  ]);
});

test("a caption has at most 1,024 characters; of longer media the text has the buttons, and the media the quote", async () => {
  const choices = { choices: [reply("A")], footer: "Shop" };
  const markup = { reply_markup: keyboardOf(["A"]) };
  const fits = "x".repeat(1_024 - "\n\nShop".length);
  const media = { type: "IMAGE", mediaUrl: LINK, quote: "123456:42:9" } as const;
  const reply_parameters = { message_id: 9, allow_sending_without_reply: true };
  expect(await callsOf(choosing(choices, { ...media, content: fits }))).toEqual([
    ["sendPhoto", { photo: LINK, caption: `${fits}\n\nShop`, ...markup, reply_parameters }],
  ]);
  const expected: Called[] = [
    ["sendPhoto", { photo: LINK, reply_parameters }],
    ["sendMessage", { text: `${fits}x\n\nShop`, ...markup }],
  ];
  expect(await callsOf(choosing(choices, { ...media, content: `${fits}x` }))).toEqual(expected);
});

test("a private chat gets a keyboard that asks for the location, a group the question", async () => {
  const reply_markup: ReplyKeyboardMarkup = {
    keyboard: [[{ text: "Where are you?", request_location: true }]],
    one_time_keyboard: true,
    resize_keyboard: true,
  };
  const choices = { ...where, header: "Order", footer: "Shop" };
  const inPrivate: Called[] = [["sendMessage", { text: "Order\n\nWe come.\n\nShop", reply_markup }]];
  expect(await callsOf(choosing(choices, { content: "We come." }))).toEqual(inPrivate);
  const inGroup: Called[] = [["sendMessage", { text: "Order\n\nWe come.\n\nWhere are you?\n\nShop" }]];
  expect(await callsOf(choosing(choices, { content: "We come.", address: "-10042" }))).toEqual(inGroup);
});

test("the company's own ids of the replies stay inside", async () => {
  const calls = await callsOf(choosing({ choices: ten.map((title) => reply(title)) }));
  expect(JSON.stringify(calls)).not.toContain("own-");
});
