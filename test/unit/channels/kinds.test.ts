import { expect, test } from "vitest";
import { CHANNEL_KINDS, contactAddress, KINDS } from "../../../src/channels/kinds.ts";
import { ADAPTERS, networkOf } from "../../../src/channels/registry.ts";
import type { ChannelKind } from "../../../src/model/channel-kind.ts";
import { ApiError } from "../../../src/model/error.ts";

/** What is wrong with the credentials of a channel of a kind, by field. */
function faults(kind: ChannelKind, credentials: Record<string, unknown>): Record<string, string> {
  const result = KINDS[kind].credentials.safeParse(credentials);
  return Object.fromEntries((result.error?.issues ?? []).map(({ path, message }) => [path.join("."), message]));
}

const WHATSAPP = { phoneNumberId: "15550001111", accessToken: "EAAG-token", appSecret: "0123456789" };

test("a web chat stands beside the networks", () => {
  expect(CHANNEL_KINDS).toEqual(["whatsapp", "telegram", "web"]);
});

test("a number of WhatsApp wants its id, a token and the app's secret", () => {
  expect(faults("whatsapp", WHATSAPP)).toEqual({});
  expect(faults("whatsapp", {})).toEqual({
    phoneNumberId: "is required",
    accessToken: "is required",
    appSecret: "is required",
  });
  const short = "must have at least 8 characters";
  expect(faults("whatsapp", { ...WHATSAPP, accessToken: "1234567" })).toEqual({ accessToken: short });
  expect(faults("whatsapp", { ...WHATSAPP, accessToken: "12345678", appSecret: "x" })).toEqual({ appSecret: short });
  expect(faults("whatsapp", { ...WHATSAPP, appSecret: "x".repeat(1_024) })).toEqual({});
  expect(faults("whatsapp", { ...WHATSAPP, appSecret: "x".repeat(1_025) })).toEqual({
    appSecret: "must have at most 1024 characters",
  });
});

test.each(["+15550001111", "1 555", "x1", "1x", "1".repeat(33)])("%j is no id of a phone number", (phoneNumberId) => {
  expect(faults("whatsapp", { ...WHATSAPP, phoneNumberId })).toEqual({ phoneNumberId: "must be 1 to 32 digits" });
});

test.each(["1", "1".repeat(32)])("%j is an id of a phone number", (phoneNumberId) => {
  expect(faults("whatsapp", { ...WHATSAPP, phoneNumberId })).toEqual({});
});

test.each(["1:ABCD-_12", "123456:telegram-bot-token"])("%j is a bot token", (botToken) => {
  expect(faults("telegram", { botToken })).toEqual({});
});

test.each(["123456", ":ABCDEFGH", "a1:ABCDEFGH", "1:ABCDEFG", "1:ABCDEFG!", "1:ABCDEFGH x"])(
  "%j is no bot token",
  (botToken) => {
    expect(faults("telegram", { botToken })).toEqual({ botToken: "must be a bot token, such as 123456:ABC-DEF" });
  },
);

test("a bot token has at most 128 characters", () => {
  expect(faults("telegram", { botToken: `1:${"x".repeat(126)}` })).toEqual({});
  expect(faults("telegram", { botToken: `1:${"x".repeat(127)}` })).toEqual({
    botToken: "must have at most 128 characters",
  });
});

test.each([
  ["whatsapp", 80],
  ["telegram", 25],
] as const)("a channel of %s sends %d messages a second unless told otherwise, from 1 to 1,000", (kind, usual) => {
  const { settings, defaults } = KINDS[kind];
  expect(defaults).toEqual({ perSecond: usual });
  expect(settings.parse({})).toEqual({});
  expect([1, 1_000].map((perSecond) => settings.safeParse({ perSecond }).success)).toEqual([true, true]);
  expect([0, 1_001, 1.5, "5"].map((perSecond) => settings.safeParse({ perSecond }).success)).toEqual(
    Array(4).fill(false),
  );
});

test("a web chat lets in the pages of a hundred origins at most, of any where none is named", () => {
  const { settings, defaults, credentials } = KINDS.web;
  const origins = (count: number) => Array.from({ length: count }, (_, i) => `https://a${i}.example`);
  expect([credentials.parse({}), defaults]).toEqual([
    {},
    { allowedOrigins: [], uploads: "everyone", hideWhenClosed: false, askContact: "never" },
  ]);
  expect(settings.parse({ allowedOrigins: origins(100) })).toEqual({ allowedOrigins: origins(100) });
  expect(settings.safeParse({ allowedOrigins: origins(101) }).success).toBe(false);
  expect(settings.parse({})).toEqual({});
});

test.each([
  "https://a.example",
  "http://a.example:8080",
  "http://127.0.0.1",
  "http://[::1]:3000",
  "https://a-b.c.example",
])("%j is an origin", (origin) => {
  expect(KINDS.web.settings.safeParse({ allowedOrigins: [origin] }).success).toBe(true);
});

test.each([
  "",
  "a.example",
  "ftp://a.example",
  "xhttps://a.example",
  "https://a.example/",
  "https://a.example/x",
  "https://A.example",
  "https://a.example:443",
  "https://a.example:x",
  "https://a.example;x",
  "https://*.example",
  "https://",
  "http://[::g]",
  "http://[::1]x",
  "http://a..b:99999",
])("%j is not an origin", (origin) => {
  const result = KINDS.web.settings.safeParse({ allowedOrigins: [origin] });
  expect(result.error?.issues.map(({ message }) => message)).toEqual([
    "must be an origin, such as https://example.com",
  ]);
});

test("an origin has at most 255 characters", () => {
  const origin = (length: number) => `https://${"a".repeat(length - 8)}`;
  expect(KINDS.web.settings.safeParse({ allowedOrigins: [origin(255)] }).success).toBe(true);
  expect(KINDS.web.settings.safeParse({ allowedOrigins: [origin(256)] }).error?.issues[0]?.message).toBe(
    "must have at most 255 characters",
  );
});

test.each([
  ["whatsapp", " +49 (170) 123-45[67]", "491701234567"],
  ["whatsapp", "491701234567", "491701234567"],
  ["whatsapp", "1".repeat(15), "1".repeat(15)],
  ["whatsapp", "US.13491208655302741918", "US.13491208655302741918"],
  ["telegram", "123456", "123456"],
  ["telegram", "-1001234567890", "-1001234567890"],
  ["telegram", "1".repeat(20), "1".repeat(20)],
  ["web", "user-7", "user-7"],
  ["web", " my web_x ", " my web_x "],
  ["web", "WEB_1", "WEB_1"],
] as const)("at %s the address %j is %j", (kind, text, address) => {
  expect(contactAddress(kind, text)).toBe(address);
});

test.each([
  ["whatsapp", "Ada"],
  ["whatsapp", "++49170"],
  ["whatsapp", "49+170"],
  ["whatsapp", "49170x"],
  ["whatsapp", "x49170"],
  ["whatsapp", "1".repeat(16)],
  ["whatsapp", "0170 1234567"],
  ["whatsapp", "+49 (0)170 1234567"],
  ["whatsapp", ""],
  ["whatsapp", "49.151.12345"],
  ["whatsapp", "()-"],
  ["whatsapp", "٤٩١٥١"],
  ["telegram", "0123"],
  ["telegram", "0"],
  ["telegram", "-0"],
  ["telegram", "-0815"],
  ["telegram", "+4711"],
  ["telegram", "4 711"],
  ["telegram", "4711.0"],
  ["telegram", "-"],
  ["telegram", "--1"],
  ["telegram", "@ada"],
  ["telegram", "12x"],
  ["telegram", "x12"],
  ["telegram", "1".repeat(21)],
  ["web", "web_x"],
  ["web", "web_"],
  ["web", "half \ud83d"],
] as const)("%s refuses the address %j", (kind, text) => {
  const words = {
    whatsapp:
      "must be a phone number with its country's code, or a WhatsApp user id. A number has 7 to 15 digits, no 0 at its start and no (0)",
    telegram: "must be a chat id: digits without leading zeros, with a leading - for a group",
    web: "must be well-formed text that does not start with web_",
  };
  try {
    contactAddress(kind, text);
    expect.unreachable();
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError);
    expect((error as ApiError).faults).toEqual([{ path: "contact.address", message: words[kind] }]);
  }
});

test("the networks are where they usually are, unless the environment says otherwise", () => {
  const none = {} as Env;
  expect(networkOf(none, "telegram")).toEqual({ base: "https://api.telegram.org" });
  expect(networkOf(none, "whatsapp")).toEqual({ base: "https://graph.facebook.com" });
  const own = { TELEGRAM_API_BASE: "http://t.test", WHATSAPP_API_BASE: "http://w.test" } as Env;
  expect([networkOf(own, "telegram").base, networkOf(own, "whatsapp").base]).toEqual([
    "http://t.test",
    "http://w.test",
  ]);
});

test("after an attempt of unknown outcome WhatsApp may still tell what became of it, and Telegram never does", () => {
  expect([ADAPTERS.telegram.unknownWaitMs, ADAPTERS.whatsapp.unknownWaitMs]).toEqual([0, 90_000]);
});
