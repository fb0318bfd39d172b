import { expect, test } from "vitest";
import { inspectBot } from "../../../src/channels/telegram/inspect.ts";
import { UPDATES } from "../../../src/channels/telegram/register.ts";
import { inspectNumber } from "../../../src/channels/whatsapp/inspect.ts";
import { connectionLost, fakeNetwork } from "./fake-network.ts";
import * as telegram from "./telegram/network.ts";
import * as whatsapp from "./whatsapp/network.ts";

const URL = "https://parley.example/hooks/telegram/chn_g0123456789ABCDE";
const bot = () => inspectBot(telegram.credentials, telegram.network);
const number = () => inspectNumber(whatsapp.credentials, whatsapp.network);
const seconds = () => Math.floor(Date.now() / 1_000);

test("Telegram is asked for the bot's webhook, and none is null", async () => {
  const sent = fakeNetwork(telegram.ok({ url: URL, allowed_updates: [...UPDATES] }), telegram.ok({ url: "" }));
  expect(await bot()).toEqual({ answer: "accepted", webhook: URL, lastError: null, unsent: [] });
  expect(await bot()).toMatchObject({ webhook: null });
  expect(sent[0]).toMatchObject({
    url: `https://telegram.test/bot${telegram.TOKEN}/getWebhookInfo`,
    redirect: "manual",
  });
});

test.each<[string, unknown, string[]]>([
  ["for messages alone", ["message"], ["edited_message", "callback_query", "message_reaction", "my_chat_member"]],
  ["for all and more", [...UPDATES, "poll"], []],
  ["for Telegram's default, without reactions", undefined, ["message_reaction"]],
  ["for what can't be understood, as for the default", "all", ["message_reaction"]],
])("a bot that was registered %s is not sent the rest", async (_, allowed_updates, unsent) => {
  fakeNetwork(telegram.ok({ url: URL, allowed_updates }));
  expect(await bot()).toMatchObject({ unsent });
});

test("Telegram's last error counts for an hour", async () => {
  const failing = (ago: number) =>
    telegram.ok({ url: URL, last_error_date: seconds() - ago, last_error_message: "Connection refused" });
  fakeNetwork(failing(60), failing(3_700));
  expect(await bot()).toMatchObject({ lastError: "Connection refused" });
  expect(await bot()).toMatchObject({ lastError: null });
});

test.each([
  [401, "refused"],
  [404, "refused"],
  [429, "none"],
  [502, "none"],
] as const)("Telegram's %i is %s", async (code, answer) => {
  fakeNetwork(telegram.refused(code, `Words about ${telegram.TOKEN}`));
  const inspection = await bot();
  expect(inspection).toMatchObject({ answer });
  expect(JSON.stringify(inspection)).not.toContain("secret_part");
});

test("an answer of Telegram that can't be understood says nothing about the bot", async () => {
  fakeNetwork(telegram.ok({ web: URL }));
  expect(await bot()).toMatchObject({ answer: "none" });
});

test("Meta is asked for the number's webhook, and the nearest one counts", async () => {
  const set = {
    application: "https://a.test",
    whatsapp_business_account: "https://b.test",
    phone_number: "https://c.test",
  };
  const { phone_number: _, ...account } = set;
  const replies = [set, account, { application: "https://a.test" }, undefined];
  const sent = fakeNetwork(...replies.map((webhook_configuration) => () => Response.json({ webhook_configuration })));
  for (const webhook of ["https://c.test", "https://b.test", "https://a.test", null]) {
    expect(await number()).toMatchObject({ answer: "accepted", webhook, lastError: null });
  }
  expect(sent[0]).toMatchObject({
    url: `https://graph.test/v24.0/${whatsapp.PHONE_ID}?fields=webhook_configuration%2Chealth_status%2Cquality_rating%2Cname_status`,
    headers: { authorization: `Bearer ${whatsapp.TOKEN}` },
    redirect: "manual",
  });
});

test.each<[string, object, object]>([
  ["nothing", {}, { warnings: [], ended: [] }],
  [
    "all well",
    {
      health_status: { can_send_message: "AVAILABLE" },
      quality_rating: "UNKNOWN",
      name_status: "AVAILABLE_WITHOUT_REVIEW",
    },
    { warnings: [], ended: ["limited", "quality", "name"], state: "available" },
  ],
  [
    "a number that is blocked without a reason",
    { health_status: { can_send_message: "BLOCKED", entities: [1, { can_send_message: "BLOCKED" }] } },
    { state: { broken: "Meta blocks the number: it gives no reason" } },
  ],
  ["what is of another type", { health_status: "AVAILABLE", quality_rating: 7, name_status: null }, { ended: [] }],
])("of %s, Meta's answer says what it says", async (_, fields, news) => {
  fakeNetwork(() => Response.json({ id: whatsapp.PHONE_ID, ...fields }));
  expect(await number()).toMatchObject({ answer: "accepted", news });
});

test.each([
  [190, { status: 401 }, "refused"],
  [100, { status: 400 }, "refused"],
  [80_007, { status: 400 }, "none"],
  [2, { status: 500 }, "none"],
] as const)("Meta's error %i is %s", async (code, init, answer) => {
  fakeNetwork(whatsapp.refused(code, { ...init, message: `Words about ${whatsapp.TOKEN}` }));
  const inspection = await number();
  expect(inspection).toMatchObject({ answer });
  expect(JSON.stringify(inspection)).not.toContain(whatsapp.TOKEN);
});

test.each([
  ["a page of a proxy", () => new Response("<html>", { status: 502 })],
  ["a redirect", () => new Response(null, { status: 302, headers: { Location: "https://elsewhere.test" } })],
  ["no answer", () => Promise.reject(connectionLost())],
])("%s says nothing about the number", async (_, reply) => {
  fakeNetwork(reply);
  expect(await number()).toMatchObject({ answer: "none" });
});
