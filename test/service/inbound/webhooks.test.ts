import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { runAlarm } from "../../support/alarms.ts";
import { breakObjects, countRoundTrips } from "../../support/faults.ts";
import { admin, call, expectError, newChat, send } from "../../support/harness.ts";
import { fakeNetworks } from "../../support/networks.ts";
import { newNetworkChannel, pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { newContact, place, reader } from "./fixtures.ts";
import {
  fromMeta,
  fromTelegram,
  KINDS,
  metadata,
  signed,
  taken,
  telegramText,
  textOf,
  whatsappText,
} from "./webhook-calls.ts";

stopTheClock();

test("a contact's name comes in one line, without control characters", async () => {
  const at = await place("whatsapp");
  taken(await fromMeta(at.channel, [whatsappText({ wa_id: newContact() }, "Hi", { name: " Ada\u001b[2J\n\u009bL " })]));
  expect((await at.chat()).contact.name).toBe("Ada [2J L");
});

test.each(KINDS)("a contact's message on %s is stored before the answer, with the contact's name", async (kind) => {
  const at = await place(kind);
  const from = newContact();
  taken(await textOf(at, kind, from, "Hi there")());
  const chat = await at.chat();
  const name = kind === "telegram" ? "Ada L" : "Ada";
  expect(chat.contact).toEqual({ address: from, name, username: null, personId: null, addresses: [from] });
  const [message] = (await at.api("GET", `/chats/${chat.id}/messages`)).body.messages;
  expect(message).toMatchObject({
    seq: 1,
    direction: "INBOUND",
    type: "TEXT",
    content: "Hi there",
    text: "Hi there",
    senderId: null,
    status: "RECEIVED",
    mediaUrl: null,
    metadata: {},
  });
});

test.each(KINDS)("the same webhook from %s, sent ten times at once and again later, stores one row", async (kind) => {
  const at = await place(kind);
  const from = newContact();
  const tell = textOf(at, kind, from, "Once");
  (await Promise.all(Array.from({ length: 10 }, tell))).forEach(taken);
  const chat = await at.chat();
  await evictDurableObject(env.CHATS.getByName(chat.id));
  taken(await tell());
  expect(await at.texts()).toEqual({ [from]: ["Once"] });
});

test.each(KINDS)("twenty first messages of a new contact on %s create one chat", async (kind) => {
  const at = await place(kind);
  const from = newContact();
  const tells = Array.from({ length: 20 }, (_, i) => textOf(at, kind, from, `Text ${i}`));
  (await Promise.all(tells.map((tell) => tell()))).forEach(taken);
  const texts = (await at.texts())[from]?.toSorted();
  expect(texts).toEqual(Array.from({ length: 20 }, (_, i) => `Text ${i}`).sort());
  expect(await at.chats()).toHaveLength(1);
});

test.each(KINDS)("a new contact's message on %s is stored beyond the limit on chats", async (kind) => {
  const at = await place(kind);
  expect((await admin("PATCH", `/channels/${at.channel.id}`, { limits: { chats: 0 } })).status).toBe(200);
  const from = newContact();
  taken(await textOf(at, kind, from, "Hi")());
  expect(await at.texts()).toEqual({ [from]: ["Hi"] });
});

test("all addresses that Meta has sent for a contact lead to the same chat", async () => {
  const at = await place("whatsapp");
  const [wa_id, user_id] = [newContact(), "DE.1349120865530274"];
  taken(await fromMeta(at.channel, [whatsappText({ wa_id, user_id }, "Both")]));
  taken(await fromMeta(at.channel, [whatsappText({ user_id }, "By user id")]));
  taken(await fromMeta(at.channel, [whatsappText({ wa_id }, "By number")]));
  expect(await at.texts()).toEqual({ [wa_id]: ["Both", "By user id", "By number"] });
  for (const address of [wa_id, user_id]) {
    expect((await at.api("GET", `/chats?contact=${address}`)).body.chats).toHaveLength(1);
  }
});

test("a contact known only by a user id is also found by a number that arrives later", async () => {
  const at = await place("whatsapp");
  const [wa_id, user_id] = [newContact(), "DE.2222"];
  taken(await fromMeta(at.channel, [whatsappText({ user_id }, "A username alone", { name: "@ada" })]));
  taken(await fromMeta(at.channel, [whatsappText({ wa_id, user_id }, "With a number")]));
  // The number is saved.
  await at.chat();
  taken(await fromMeta(at.channel, [whatsappText({ wa_id }, "By the number alone")]));
  expect(await at.texts()).toEqual({ [user_id]: ["A username alone", "With a number", "By the number alone"] });
});

test("messages to a user without a number go to the user id", async () => {
  const calls = fakeNetworks();
  const at = await place("whatsapp");
  taken(await fromMeta(at.channel, [whatsappText({ user_id: "DE.3333" }, "Hi")]));
  const chat = await at.chat();
  await send(at.api, chat.id);
  await runAlarm(env.CHATS.getByName(chat.id));
  expect(calls).toHaveLength(1);
  expect(calls[0]?.body).toMatchObject({ recipient: "DE.3333" });
  expect(calls[0]?.body.to).toBeUndefined();
});

test("items for another number of the same app go to that number's channel", async () => {
  const at = await place("whatsapp");
  const second = await newNetworkChannel(at.organizationId, "whatsapp", { credentials: { phoneNumberId: "222" } });
  const [one, other] = [newContact(), newContact()];
  const values = [
    whatsappText({ wa_id: one }, "One"),
    { ...whatsappText({ wa_id: other }, "Two"), ...metadata("222") },
  ];
  taken(await fromMeta(at.channel, values));
  expect(await at.texts()).toEqual({ [one]: ["One"] });
  expect(await reader(at, second.id).texts()).toEqual({ [other]: ["Two"] });
});

test("a webhook for other numbers of an app makes one query, however many numbers the app has", async () => {
  const at = await place("whatsapp");
  const numbers = Array.from({ length: 30 }, (_, i) => String(7_000 + i));
  for (const phoneNumberId of numbers) {
    await newNetworkChannel(at.organizationId, "whatsapp", { credentials: { phoneNumberId } });
  }
  const from = newContact();
  const texts = (text: string) =>
    numbers.slice(-3).map((number) => ({ ...whatsappText({ wa_id: from }, text), ...metadata(number) }));
  taken(await fromMeta(at.channel, texts("One")));
  pass(10_000);
  taken(await fromMeta(at.channel, [whatsappText({ wa_id: from }, "The called channel is read again")]));
  const trips = countRoundTrips();
  taken(await fromMeta(at.channel, texts("Two")));
  expect(trips()).toBe(1);
  expect((await at.api("GET", `/chats?contact=${from}`)).body.chats).toHaveLength(4);
});

test("items go to the channel that has the number now", async () => {
  const at = await place("whatsapp");
  const second = await newNetworkChannel(at.organizationId, "whatsapp", { credentials: { phoneNumberId: "7100" } });
  const patched = await admin("PATCH", `/channels/${second.id}`, { credentials: { phoneNumberId: "7200" } });
  expect(patched.status).toBe(200);
  const from = newContact();
  for (const number of ["7100", "7200"]) {
    taken(await fromMeta(at.channel, [{ ...whatsappText({ wa_id: from }, number), ...metadata(number) }]));
  }
  expect(await reader(at, second.id).texts()).toEqual({ [from]: ["7200"] });
});

test("items for an unknown number, or a number of another app or organization, are acknowledged and not stored", async () => {
  const at = await place("whatsapp");
  const otherApp = { phoneNumberId: "333", appSecret: "another-app" };
  const sibling = await newNetworkChannel(at.organizationId, "whatsapp", { credentials: otherApp });
  const stranger = await place("whatsapp");
  const foreign = await newNetworkChannel(stranger.organizationId, "whatsapp", {
    credentials: { phoneNumberId: "444" },
  });
  for (const account of ["333", "444", "555"]) {
    taken(await fromMeta(at.channel, [{ ...whatsappText({ wa_id: newContact() }, "No"), ...metadata(account) }]));
  }
  const places = [at, reader(at, sibling.id), reader(stranger, foreign.id)];
  expect(await Promise.all(places.map((each) => each.chats()))).toEqual([[], [], []]);
});

test.each(KINDS)("a contact whose chat was deleted begins a new one on %s", async (kind) => {
  const at = await place(kind);
  const from = newContact();
  taken(await textOf(at, kind, from, "Old")());
  const old = await at.chat();
  expect((await admin("DELETE", `/chats/${old.id}`)).status).toBe(200);
  taken(await textOf(at, kind, from, "New")());
  expect(await at.texts()).toEqual({ [from]: ["New"] });
  expect((await at.chat()).id).not.toBe(old.id);
});

test.each(KINDS)("a webhook for a deleted %s channel is refused", async (kind) => {
  const at = await place(kind);
  taken(await textOf(at, kind, newContact(), "Old")());
  await admin("DELETE", `/channels/${at.channel.id}`);
  vi.setSystemTime(Date.now() + 10_000);
  expectError(await textOf(at, kind, newContact(), "Late")(), 401, "webhook_not_genuine");
});

test.each(["from", "to"])("a group that Telegram migrates stays one chat, reported by the %s group", async (side) => {
  const calls = fakeNetworks();
  const at = await place("telegram");
  const [old, next] = ["-500", "-100500"];
  taken(await fromTelegram(at.channel, telegramText(old, "Before")));
  const service = side === "from" ? { migrate_to_chat_id: Number(next) } : { migrate_from_chat_id: Number(old) };
  const told = telegramText(side === "from" ? old : next, "", { text: undefined, ...service });
  taken(await fromTelegram(at.channel, told));
  taken(await fromTelegram(at.channel, told));
  taken(await fromTelegram(at.channel, telegramText(next, "After")));
  expect(await at.texts()).toEqual({ [old]: ["Before", "After"] });
  const chat = await at.chat();
  await send(at.api, chat.id);
  await runAlarm(env.CHATS.getByName(chat.id));
  expect(calls).toHaveLength(1);
  expect(calls[0]?.to).toBe(next);
});

test("a group's migration that can't be stored is repeated", async () => {
  const at = await place("telegram");
  taken(await fromTelegram(at.channel, telegramText("-600", "Before")));
  const told = telegramText("-600", "", { text: undefined, migrate_to_chat_id: -100600 });
  breakObjects("ORGANIZATIONS", "moveContact");
  expectError(await fromTelegram(at.channel, told), 503, "unavailable");
  vi.restoreAllMocks();
  taken(await fromTelegram(at.channel, told));
  taken(await fromTelegram(at.channel, telegramText("-100600", "After")));
  expect(await at.texts()).toEqual({ "-600": ["Before", "After"] });
});

test("a contact's answer goes to the chat that the company created", async () => {
  const at = await place("whatsapp");
  const from = newContact();
  const chat = await newChat(at.api, at.channel.id, `+${from}`);
  taken(await fromMeta(at.channel, [whatsappText({ wa_id: from }, "An answer")]));
  expect((await at.chats()).map(({ id }) => id)).toEqual([chat.id]);
  expect(await at.texts()).toEqual({ [from]: ["An answer"] });
});

test("genuine calls with nothing to store are acknowledged", async () => {
  const telegram = await place("telegram");
  const updates = [{ update_id: 1, edited_message: {} }, {}, [], "text", null, 7];
  for (const update of updates) taken(await fromTelegram(telegram.channel, JSON.stringify(update)));
  taken(await fromTelegram(telegram.channel, "{ no JSON"));
  taken(await fromTelegram(telegram.channel, ""));
  const whatsapp = await place("whatsapp");
  for (const body of ["{ no JSON", "", "[]", "null", '{"object":"page","entry":[]}']) {
    taken(await signed(whatsapp.channel, body));
  }
  expect([await telegram.chats(), await whatsapp.chats()]).toEqual([[], []]);
});

test("a body is not read if the call's headers are no network's", async () => {
  const tooLarge = "x".repeat(4 * 1_024 * 1_024 + 1);
  const telegram = await place("telegram");
  expectError(await fromTelegram(telegram.channel, tooLarge, {}), 401, "webhook_not_genuine");
  const { channel } = await place("whatsapp");
  for (const headers of [{}, { "X-Hub-Signature-256": "sha256=short" }]) {
    const forged = await call("POST", `/hooks/whatsapp/${channel.id}`, { body: tooLarge, headers });
    expectError(forged, 401, "webhook_not_genuine");
  }
});

test("rotated credentials take effect with the first call, in both directions", async () => {
  const at = await place("whatsapp");
  const value = () => whatsappText({ wa_id: newContact() }, "Hi");
  taken(await fromMeta(at.channel, [value()]));
  const patched = await admin("PATCH", `/channels/${at.channel.id}`, { credentials: { appSecret: "rotated-secret" } });
  expect(patched.status).toBe(200);
  taken(await fromMeta(at.channel, [value()], { secret: "rotated-secret" }));
  expectError(await fromMeta(at.channel, [value()]), 401, "webhook_not_genuine");
});

test("inbound media is stored with the URL of our own route", async () => {
  const at = await place("telegram");
  const document = { file_id: "BQAC-file", mime_type: "application/pdf", file_name: "a.pdf" };
  taken(await fromTelegram(at.channel, telegramText(newContact(), "", { text: undefined, document, caption: "Look" })));
  const chat = await at.chat();
  const { text } = await at.api("GET", `/chats/${chat.id}/messages`);
  const [message] = JSON.parse(text).messages;
  expect(message).toMatchObject({ type: "DOCUMENT", content: "Look" });
  expect(message.mediaUrl).toBe(`https://parley.test/api/v1/chats/${chat.id}/messages/${message.id}/media`);
  expect(text).not.toContain("BQAC-file");
});

test("messages to a chat that begins with a notice of a changed number go to the new number", async () => {
  const at = await place("whatsapp");
  const [from, to] = [newContact(), newContact()];
  const system = { body: "Ann changed numbers", wa_id: to, type: "user_changed_number" };
  taken(await fromMeta(at.channel, [{ messages: [{ from, id: "wamid.system", type: "system", system }] }]));
  taken(await fromMeta(at.channel, [whatsappText({ wa_id: to }, "It's me")]));
  const calls = fakeNetworks();
  const { id } = await at.chat();
  await send(at.api, id);
  await runAlarm(env.CHATS.getByName(id));
  expect(calls.map((call) => call.to)).toEqual([to]);
});

test("a document with a long name is stored, and the name is cut", async () => {
  const at = await place("whatsapp");
  const document = { id: "MEDIA", filename: "a".repeat(3_000_000), mime_type: "application/pdf", caption: "Look" };
  const message = { from: newContact(), id: "wamid.document", type: "document", document };
  taken(await fromMeta(at.channel, [{ messages: [message] }]));
  expect(Object.values(await at.texts())).toEqual([["Look"]]);
  const stub = env.CHATS.getByName((await at.chat()).id);
  const bytes = await runInDurableObject(stub, (_object, { storage }) => storage.sql.databaseSize);
  expect(bytes).toBeLessThan(200_000);
});

test.each([
  ["also from right to left", `\u202e${"eman ".repeat(1_000)}`, `\u202e${"eman ".repeat(51)}`],
  ["without half a surrogate pair", `${"a".repeat(255)}\u{1f600}`, `${"a".repeat(255)}\ufffd`],
])("a contact's name is cut to 256 characters, %s", async (_which, name, kept) => {
  const at = await place("whatsapp");
  taken(await fromMeta(at.channel, [whatsappText({ wa_id: newContact() }, "Hi", { name })]));
  expect((await at.chat()).contact.name).toBe(kept.trim());
});
