import { expect, test } from "vitest";
import type { Chat } from "../../../src/model/chat.ts";
import { admin, created } from "../../support/harness.ts";
import { newSite, newToken, visit } from "../../support/sockets.ts";
import { CREDENTIALS } from "../../support/world/factories.ts";
import { fromTelegram, taken, telegramText, whatsappText } from "../inbound/webhook-calls.ts";
import { fromMeta, place } from "./marketing-fixtures.ts";
import { newNetworkChannel, pass, stopTheClock } from "./object/delivery/conversation.ts";
import { MINUTE } from "./object/scheduled/fixtures.ts";

stopTheClock();

const stopWords = (words: unknown) => ({ settings: { stopWords: words } });

test("a WhatsApp message that is exactly a stop word opts out, with its time, whatever its case", async () => {
  const { channelId, says, marketing, consents, events } = await place();
  expect((await admin("PATCH", `/channels/${channelId}`, stopWords(["Stop", " Keine Werbung "]))).status).toBe(200);
  pass(20_000);
  for (const text of ["stop it", "Stopp", "I said stop"]) taken(await says(text));
  expect(await marketing()).toBeNull();
  taken(await says("  kEINE wERBUNG\n"));
  expect(await marketing()).toEqual({ optedOut: true, at: new Date(1_790_000_000_000).toISOString(), by: "contact" });
  expect((await consents()).length).toBe(1);
  expect((await events()).slice(-2).map(({ type }) => type)).toEqual(["message.received", "chat.consent"]);
});

test("a stop word that the network sends twice counts once, and does not undo what was said since", async () => {
  const { channelId, contact, change, marketing, consents } = await place();
  await admin("PATCH", `/channels/${channelId}`, stopWords(["stop"]));
  pass(20_000);
  const value = whatsappText({ wa_id: contact }, "STOP");
  taken(await fromMeta(channelId, "messages", value));
  pass(MINUTE);
  await change({ marketing: { optedOut: false } });
  taken(await fromMeta(channelId, "messages", value));
  expect(await marketing()).toMatchObject({ optedOut: false, by: "key" });
  expect(await consents()).toHaveLength(2);
});

test("without stop words no message opts out", async () => {
  const { says, marketing } = await place();
  for (const text of ["stop", "STOP", ""]) taken(await says(text));
  expect(await marketing()).toBeNull();
});

test("a stop word opts out on Telegram, and a picture with it does not", async () => {
  const { organizationId, api } = await place("telegram");
  const channel = await newNetworkChannel(organizationId, "telegram", { settings: { stopWords: ["stop"] } });
  const told = async () => (await api("GET", `/chats?channel=${channel.id}`)).body.chats[0] as Chat;
  const from = "4915777001";
  const photo = {
    text: undefined,
    caption: "stop",
    photo: [{ file_id: "f", file_unique_id: "f", width: 9, height: 9 }],
  };
  taken(await fromTelegram(channel, telegramText(from, "", photo)));
  expect((await api("GET", `/chats/${(await told()).id}`)).body.chat.marketing).toBeNull();
  taken(await fromTelegram(channel, telegramText(from, " Stop ")));
  expect((await api("GET", `/chats/${(await told()).id}`)).body.chat.marketing).toMatchObject({ optedOut: true });
});

test("a visitor's stop word opts out, and a new one counts on open pages once they were checked", async () => {
  const { api, channelId } = await newSite({ stopWords: ["stop"] });
  const token = newToken();
  const { page } = await visit(channelId, { token });
  expect(await page.write("a", "Don't stop")).toMatchObject({ type: "stored" });
  const chatId = (await api("GET", "/chats")).body.chats[0].id;
  const read = async () => (await api("GET", `/chats/${chatId}`)).body.chat.marketing;
  expect(await read()).toBeNull();
  pass(1_100);
  expect(await page.write("b", " STOP ")).toMatchObject({ type: "stored" });
  expect(await read()).toMatchObject({ optedOut: true, by: "contact" });
  await api("PATCH", `/chats/${chatId}`, { marketing: { optedOut: false } });
  await admin("PATCH", `/channels/${channelId}`, stopWords(["halt"]));
  pass(20_000);
  expect(await page.write("c", "stop")).toMatchObject({ type: "stored" });
  expect(await read()).toMatchObject({ optedOut: false });
  pass(1_100);
  expect(await page.write("d", "Halt")).toMatchObject({ type: "stored" });
  expect(await read()).toMatchObject({ optedOut: true });
});

test.each([
  [Array.from({ length: 20 }, (_, n) => `stop${n}`), 200],
  [Array.from({ length: 21 }, (_, n) => `stop${n}`), 400],
  [["stop", "   "], 400],
  [[""], 400],
  [["\u200b"], 400],
  [["x".repeat(64)], 200],
  [["x".repeat(65)], 400],
  [["\ud800"], 400],
  [[1], 400],
  ["stop", 400],
  [[], 200],
  [null, 200],
])("stop words %j are answered with %i", async (words, status) => {
  for (const kind of ["whatsapp", "telegram", "web"] as const) {
    const { organizationId } = await newSite();
    const body = { kind, name: "C", credentials: CREDENTIALS[kind] };
    const { channel } = created(await admin("POST", `/organizations/${organizationId}/channels`, body));
    const answer = await admin("PATCH", `/channels/${channel.id}`, stopWords(words));
    expect(answer.status, answer.text).toBe(status);
    const { settings } = (await admin("GET", `/channels/${channel.id}`)).body.channel;
    expect(settings.stopWords).toEqual(status === 200 && words !== null ? words : undefined);
  }
});
