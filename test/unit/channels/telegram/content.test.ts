import type { ApiMethods } from "@grammyjs/types";
import { expect, test } from "vitest";
import type { NetworkAct, Outbound } from "../../../../src/model/network.ts";
import { fakeNetwork } from "../fake-network.ts";
import { accepted, credentials, network, ok, outbound, refused, TOKEN, telegram } from "./network.ts";

const LINK = "https://files.example/a.png";
const MESSAGE = "msg_g0123456789ABCDE";
const place = { latitude: 52.5163, longitude: 13.3777 };

type Body<M extends keyof ApiMethods<string>> = Omit<Parameters<ApiMethods<string>[M]>[0], "chat_id">;

async function callsOf(fields: Partial<Outbound>) {
  const sent = fakeNetwork(...Array.from({ length: 5 }, (_, index) => accepted(index + 1)));
  await telegram.send(outbound(fields), credentials, network, new AbortController().signal);
  return sent.map(({ url, body }) => {
    const { chat_id, ...rest } = body as { chat_id: string };
    expect(chat_id).toBe(fields.address ?? "42");
    return [url.split("/").at(-1), rest];
  });
}

function act(act: NetworkAct, address = "42") {
  const target = { chatId: "cht_g0123456789ABCDE", address };
  return telegram.acts?.make(act, target, credentials, network, new AbortController().signal);
}

test("a location goes out as one, without the text", async () => {
  expect(await callsOf({ content: "At the gate", location: place })).toEqual([
    ["sendLocation", place satisfies Body<"sendLocation">],
  ]);
});

test.each<[object, Body<"sendVenue">]>([
  [
    { name: "Gate", address: "Berlin" },
    { ...place, title: "Gate", address: "Berlin" },
  ],
  [{ name: "Gate" }, { ...place, title: "Gate", address: "52.5163, 13.3777" }],
  [{ address: "Berlin" }, { ...place, title: "Berlin", address: "52.5163, 13.3777" }],
])("a location with %j is a venue, which has a title and an address", async (more, body) => {
  expect(await callsOf({ location: { ...place, ...more } })).toEqual([["sendVenue", body]]);
});

test("each contact card is a call of its own; the quote is in the first", async () => {
  const contacts = Array.from({ length: 5 }, (_, index) => ({ name: `C${index}`, phones: [`+${index}`] }));
  const bodies = contacts.map(({ name, phones: [phone = ""] }) => ({ phone_number: phone, first_name: name }));
  const quoting = { reply_parameters: { message_id: 9, allow_sending_without_reply: true } };
  const expected: Body<"sendContact">[] = bodies.map((body, index) => (index === 0 ? { ...body, ...quoting } : body));
  expect(await callsOf({ contacts, quote: "123456:42:9" })).toEqual(expected.map((body) => ["sendContact", body]));
});

test("a card with several numbers has all of them in its vCard", async () => {
  const contacts = [{ name: "Lee; Ann, \\o/", phones: ["+49 151 1", "+49 151 2"] }];
  const body: Body<"sendContact"> = {
    phone_number: "+49 151 1",
    first_name: "Lee; Ann, \\o/",
    vcard: [
      "BEGIN:VCARD",
      "VERSION:3.0",
      "FN:Lee\\; Ann\\, \\\\o/",
      "N:;Lee\\; Ann\\, \\\\o/;;;",
      "TEL:+49 151 1",
      "TEL:+49 151 2",
      "END:VCARD",
    ].join("\n"),
  };
  expect(await callsOf({ contacts })).toEqual([["sendContact", body]]);
});

test.each(["漢", "🦀", "\\"])("the longest vCard, of a name of %s, fits into Telegram's 2,048 bytes", async (unit) => {
  const contacts = [{ name: unit.repeat(128 / unit.length), phones: Array.from({ length: 5 }, () => "1".repeat(32)) }];
  const [call] = await callsOf({ contacts });
  const vcard = JSON.stringify(call).match(/"vcard":("[^"]*")/)?.[1] ?? "";
  expect(new TextEncoder().encode(JSON.parse(vcard)).length).toBeLessThanOrEqual(2_048);
});

test.each<[string, Partial<Outbound>]>([
  ["a text", {}],
  ["a location", { location: place }],
  ["a venue", { location: { ...place, name: "Gate" } }],
  ["a card", { contacts: [{ name: "Ann", phones: ["1"] }] }],
  ["an image", { type: "IMAGE", mediaUrl: LINK }],
  ["a filled template", { type: "TEMPLATE", template: { name: "hello", language: "en", parameters: [] } }],
])("%s that replies names the message that it quotes, and goes out without it too", async (_, fields) => {
  const [[method, whole] = []] = await callsOf(fields);
  expect(whole).not.toHaveProperty("reply_parameters");
  const reply_parameters = {
    message_id: 9,
    allow_sending_without_reply: true,
  } satisfies Body<"sendMessage">["reply_parameters"];
  const quoting = await callsOf({ ...fields, quote: "123456:42:9" });
  expect(quoting).toEqual([[method, { ...(whole as object), reply_parameters }]]);
});

test.each(["654321:42:9", "123456:43:9", "123456:42:", "123456:42:x", "wamid.1"])(
  "a quote of %s, which is not a message of this bot in this chat, is left out",
  async (quote) => {
    expect(await callsOf({ quote })).toEqual([["sendMessage", { text: "Hi" }]]);
  },
);

test.each<[string | null, NonNullable<Body<"setMessageReaction">["reaction"]>]>([
  ["👍", [{ type: "emoji", emoji: "👍" }]],
  // Telegram's list has this one without the variation selector.
  ["❤️", [{ type: "emoji", emoji: "❤" as "👍" }]],
  [null, []],
])("the reaction %s is one call", async (emoji, reaction) => {
  const sent = fakeNetwork(ok(true));
  const networkId = "123456:-10042:9";
  expect(await act({ act: "react", messageId: MESSAGE, networkId, emoji, at: 1 }, "-10042")).toEqual({
    outcome: "done",
  });
  const body = { message_id: 9, reaction } satisfies Body<"setMessageReaction">;
  expect(sent).toEqual([
    {
      url: `https://telegram.test/bot${TOKEN}/setMessageReaction`,
      method: "POST",
      headers: { "content-type": "application/json" },
      redirect: "manual",
      body: { chat_id: "-10042", ...body },
    },
  ]);
});

test("a reaction to a message of another bot fails without a call", async () => {
  const sent = fakeNetwork();
  const reaction = { act: "react", messageId: MESSAGE, networkId: "654321:42:9", emoji: "👍", at: 1 } as const;
  expect(await act(reaction)).toMatchObject({ outcome: "failed", code: "message_unknown" });
  expect(sent).toEqual([]);
});

test.each([null, "123456:42:9"])("typing is one call, also after %s", async (networkId) => {
  const sent = fakeNetwork(ok(true));
  expect(await act({ act: "typing", networkId })).toEqual({ outcome: "done" });
  const body = { action: "typing" } satisfies Body<"sendChatAction">;
  expect(sent.map((each) => [each.url, each.body])).toEqual([
    [`https://telegram.test/bot${TOKEN}/sendChatAction`, { chat_id: "42", ...body }],
  ]);
});

test("a bot has no way to mark messages as read", () => {
  expect(telegram.acts?.kinds).toEqual(["react", "typing"]);
});

test("an act that Telegram refuses, holds back or does not answer says so", async () => {
  fakeNetwork(
    refused(400, "Bad Request: REACTION_INVALID"),
    refused(429, "Too Many Requests: retry after 3", { retry_after: 3 }),
    refused(401, "Unauthorized"),
    () => Promise.reject(new Error("Network connection lost.")),
  );
  const one: NetworkAct = { act: "typing", networkId: null };
  expect(await act(one)).toEqual({
    outcome: "failed",
    code: "network_400",
    message: "Bad Request: REACTION_INVALID",
  });
  expect(await act(one)).toMatchObject({ outcome: "retry", afterMs: 3_000 });
  expect(await act(one)).toMatchObject({ outcome: "channel_broken" });
  expect(await act(one)).toMatchObject({ outcome: "unknown" });
});

test("a tap is acknowledged by its own id; a late one's refusal does no harm", async () => {
  const sent = fakeNetwork(ok(true), refused(400, "Bad Request: query is too old"));
  await telegram.acknowledge?.("4382bfdwdsb323b2d9", credentials, network);
  await telegram.acknowledge?.("4382bfdwdsb323b2d9", credentials, network);
  const body = { callback_query_id: "4382bfdwdsb323b2d9" } satisfies Body<"answerCallbackQuery">;
  expect(sent.map((each) => [each.url, each.body])).toEqual([
    [`https://telegram.test/bot${TOKEN}/answerCallbackQuery`, body],
    [`https://telegram.test/bot${TOKEN}/answerCallbackQuery`, body],
  ]);
});
