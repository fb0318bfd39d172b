import { evictDurableObject, listDurableObjectIds, runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { Chat } from "../../src/chats/directory.ts";
import type { Message } from "../../src/chats/message.ts";
import { breakDirectory, breakObjects } from "../faults.ts";
import { type Answer, admin, type Client, call, expectError, newChat, newOrganization, send } from "../harness.ts";
import { fakeNetworks } from "../networks.ts";
import { signatureOf } from "../unit/whatsapp-network.ts";
import { APP_SECRET, type Kind, newNetworkChannel, PHONE_ID, stopTheClock } from "./conversation.ts";
import { fromMeta, fromTelegram, metadata, signed, taken, telegramText, whatsappText } from "./webhook-calls.ts";

stopTheClock();

let numbers = 4_917_000_000;
const newContact = () => String(++numbers);

async function place(kind: Kind) {
  const organization = await newOrganization();
  const channel = await newNetworkChannel(organization.organizationId, kind);
  return { ...organization, channel, ...reader(organization, channel.id) };
}

type Place = Awaited<ReturnType<typeof place>>;

/** What there is in a channel, as the API shows it. */
function reader({ api }: { api: Client }, channelId: string) {
  const chats = async (): Promise<Chat[]> => (await api("GET", `/chats?channel=${channelId}&limit=100`)).body.chats;
  return {
    chats,
    /** The one chat that there is. */
    chat: async (): Promise<Chat> => {
      const [only, ...others] = await chats();
      expect(others).toEqual([]);
      return only as Chat;
    },
    /** The texts of each chat, in the order of their numbers. */
    texts: async (): Promise<Record<string, string[]>> => {
      const listed = await Promise.all(
        (await chats()).map(async ({ id, contact }): Promise<[string, string[]]> => {
          const messages: Message[] = (await api("GET", `/chats/${id}/messages?limit=100`)).body.messages;
          return [contact.address, messages.toReversed().map((message) => message.content)];
        }),
      );
      return Object.fromEntries(listed);
    },
  };
}

/** A text of a contact, as each network tells it: told twice, it is the same message. */
function textOf({ channel }: Pick<Place, "channel">, kind: Kind, from: string, text: string): () => Promise<Answer> {
  const update = telegramText(from, text);
  const value = whatsappText({ wa_id: from }, text);
  return () => (kind === "telegram" ? fromTelegram(channel, update) : fromMeta(channel, [value]));
}

const KINDS = ["telegram", "whatsapp"] as const;

test.each(KINDS)("what a contact writes on %s is stored before the answer, with the contact's name", async (kind) => {
  const at = await place(kind);
  const from = newContact();
  taken(await textOf(at, kind, from, "Hi there")());
  const chat = await at.chat();
  expect(chat.contact).toEqual({ address: from, name: kind === "telegram" ? "Ada L" : "Ada" });
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

test.each(KINDS)("the same webhook of %s ten times at once stores one row, and again later", async (kind) => {
  const at = await place(kind);
  const from = newContact();
  const tell = textOf(at, kind, from, "Once");
  (await Promise.all(Array.from({ length: 10 }, tell))).forEach(taken);
  const chat = await at.chat();
  await evictDurableObject(env.CHATS.getByName(chat.id));
  taken(await tell());
  expect(await at.texts()).toEqual({ [from]: ["Once"] });
});

test.each(KINDS)("twenty first messages of a new contact on %s make one chat", async (kind) => {
  const at = await place(kind);
  const from = newContact();
  const tells = Array.from({ length: 20 }, (_, i) => textOf(at, kind, from, `Text ${i}`));
  (await Promise.all(tells.map((tell) => tell()))).forEach(taken);
  const texts = (await at.texts())[from]?.toSorted();
  expect(texts).toEqual(Array.from({ length: 20 }, (_, i) => `Text ${i}`).sort());
  expect(await at.chats()).toHaveLength(1);
});

const WRONG = "a".repeat(64);

test("calls of Telegram's that are not genuine are refused, and leave no trace", async () => {
  const at = await place("telegram");
  const other = await place("telegram");
  const secret = at.channel.webhook.verifyToken;
  const update = telegramText(newContact(), "Forged");
  const forged: Record<string, string>[] = [
    {},
    { "X-Telegram-Bot-Api-Secret-Token": "" },
    { "X-Telegram-Bot-Api-Secret-Token": secret.slice(1) },
    { "X-Telegram-Bot-Api-Secret-Token": `${secret}x` },
    { "X-Telegram-Bot-Api-Secret-Token": swapCase(secret) },
    { "X-Telegram-Bot-Api-Secret-Token": other.channel.webhook.verifyToken },
    { Authorization: `Bearer ${secret}` },
  ];
  const before = (await listDurableObjectIds(env.CHATS)).length;
  for (const headers of forged)
    expectError(await fromTelegram(at.channel, update, headers), 401, "webhook_not_genuine");
  const foreign = { ...at.channel, id: other.channel.id };
  expectError(await fromTelegram(foreign, update), 401, "webhook_not_genuine");
  expectError(await fromTelegram({ ...at.channel, id: "chn_gAAAAAAAAAAAAAAA" }, update), 401, "webhook_not_genuine");
  expectError(await fromTelegram({ ...at.channel, id: "nonsense" }, update), 401, "webhook_not_genuine");
  const elsewhere = { "X-Telegram-Bot-Api-Secret-Token": secret };
  const wrongKind = await call("POST", `/hooks/whatsapp/${at.channel.id}`, { body: update, headers: elsewhere });
  expectError(wrongKind, 401, "webhook_not_genuine");
  expect([await at.chats(), await other.chats()]).toEqual([[], []]);
  expect(await listDurableObjectIds(env.CHATS)).toHaveLength(before);
});

test("calls of Meta's that are not genuine are refused, and leave no trace", async () => {
  const at = await place("whatsapp");
  const body = JSON.stringify({
    object: "whatsapp_business_account",
    entry: [
      { changes: [{ field: "messages", value: { ...metadata(PHONE_ID), ...whatsappText({ wa_id: "1" }, "No") } }] },
    ],
  });
  const good = await signatureOf(body, APP_SECRET);
  const hex = good.slice("sha256=".length);
  const before = (await listDurableObjectIds(env.CHATS)).length;
  const post = (signature: string | null, bytes = body, id = at.channel.id) =>
    call("POST", `/hooks/whatsapp/${id}`, {
      body: bytes,
      headers: signature === null ? {} : { "X-Hub-Signature-256": signature },
    });
  const wrong = [null, "", "sha256=", hex, `sha1=${hex}`, `sha256=${hex.slice(1)}`, `sha256=${WRONG}`, `${good}0`];
  for (const signature of wrong) expectError(await post(signature), 401, "webhook_not_genuine");
  expectError(await post(await signatureOf(body, "another")), 401, "webhook_not_genuine");
  expectError(await post(good, `${body} `), 401, "webhook_not_genuine");
  expectError(await post(good, JSON.stringify(JSON.parse(body), null, 1)), 401, "webhook_not_genuine");
  expectError(await post(good, body, "chn_gAAAAAAAAAAAAAAA"), 401, "webhook_not_genuine");
  expect(await at.chats()).toEqual([]);
  expect(await listDurableObjectIds(env.CHATS)).toHaveLength(before);
  taken(await post(good));
});

test("Meta's handshake is answered with its challenge, and refused with 403", async () => {
  const { channel } = await place("whatsapp");
  const shake = (query: Record<string, string>, id = channel.id) =>
    call("GET", `/hooks/whatsapp/${id}?${String(new URLSearchParams(query))}`);
  const right = {
    "hub.mode": "subscribe",
    "hub.verify_token": channel.webhook.verifyToken,
    "hub.challenge": "1158201444",
  };
  const answer = await shake(right);
  expect([answer.status, answer.text]).toEqual([200, "1158201444"]);
  expect(answer.headers.get("Content-Type")).toMatch(/^text\/plain/);
  expect(answer.headers.get("X-Content-Type-Options")).toBe("nosniff");
  const wrong = [
    { ...right, "hub.verify_token": "wrong" },
    { ...right, "hub.mode": "unsubscribe" },
    { ...right, "hub.challenge": "<script>alert(1)</script>" },
    { "hub.mode": "subscribe", "hub.challenge": "1" },
    {},
  ];
  for (const query of wrong) expectError(await shake(query), 403, "handshake_refused");
  expectError(await shake(right, (await place("whatsapp")).channel.id), 403, "handshake_refused");
  expectError(await shake(right, (await place("telegram")).channel.id), 403, "handshake_refused");
});

test.each(KINDS)(
  "%s hears 503 while the directory is down, and nothing is doubled when it calls again",
  async (kind) => {
    const at = await place(kind);
    const from = newContact();
    taken(await textOf(at, kind, from, "Before")());
    const tell = textOf(at, kind, newContact(), "During");
    breakDirectory();
    expectError(await tell(), 503, "unavailable");
    vi.restoreAllMocks();
    taken(await tell());
    taken(await tell());
    expect(
      Object.values(await at.texts())
        .flat()
        .toSorted(),
    ).toEqual(["Before", "During"]);
  },
);

test.each(KINDS)(
  "%s hears 503 while a chat's object is away, and the other contacts' messages are stored",
  async (kind) => {
    const at = await place(kind);
    const [one, other] = [newContact(), newContact()];
    const tell = textOf(at, kind, one, "One");
    breakObjects("CHATS", "receive");
    expectError(await tell(), 503, "unavailable");
    vi.restoreAllMocks();
    taken(await tell());
    taken(await textOf(at, kind, other, "Other")());
    expect(await at.texts()).toEqual({ [one]: ["One"], [other]: ["Other"] });
  },
);

test("an item that can't be stored does not keep the others of its call from being stored", async () => {
  const at = await place("whatsapp");
  const values = Array.from({ length: 5 }, (_, i) => whatsappText({ wa_id: newContact() }, `No. ${i}`));
  breakObjects("CHATS", "receive", (number) => number === 3);
  expectError(await fromMeta(at.channel, values), 503, "unavailable");
  vi.restoreAllMocks();
  const stored = Object.values(await at.texts()).flat();
  expect(stored).toHaveLength(4);
  taken(await fromMeta(at.channel, values));
  expect(
    Object.values(await at.texts())
      .flat()
      .toSorted(),
  ).toEqual(["No. 0", "No. 1", "No. 2", "No. 3", "No. 4"]);
});

test("several messages of one contact in one call keep their order", async () => {
  const at = await place("whatsapp");
  const from = newContact();
  const values = Array.from({ length: 12 }, (_, i) => whatsappText({ wa_id: from }, `No. ${i}`));
  taken(await fromMeta(at.channel, values));
  expect(await at.texts()).toEqual({ [from]: values.map((_, i) => `No. ${i}`) });
});

test("a contact is the same by each address that Meta has told, in whatever call", async () => {
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

test("a contact who is known by a user id alone is known by the number that comes later", async () => {
  const at = await place("whatsapp");
  const [wa_id, user_id] = [newContact(), "DE.2222"];
  taken(await fromMeta(at.channel, [whatsappText({ user_id }, "A username alone", { name: "@ada" })]));
  taken(await fromMeta(at.channel, [whatsappText({ wa_id, user_id }, "With a number")]));
  taken(await fromMeta(at.channel, [whatsappText({ wa_id }, "By the number alone")]));
  expect(await at.texts()).toEqual({ [user_id]: ["A username alone", "With a number", "By the number alone"] });
});

test("a user without a number is answered by the user id", async () => {
  const calls = fakeNetworks();
  const at = await place("whatsapp");
  taken(await fromMeta(at.channel, [whatsappText({ user_id: "DE.3333" }, "Hi")]));
  const chat = await at.chat();
  await send(at.api, chat.id);
  await runDurableObjectAlarm(env.CHATS.getByName(chat.id));
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

test("items for a number that is unknown, another app's or another organization's are acknowledged and stored nowhere", async () => {
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

test.each(KINDS)("a contact whose chat was erased begins a new one on %s", async (kind) => {
  const at = await place(kind);
  const from = newContact();
  taken(await textOf(at, kind, from, "Old")());
  const old = await at.chat();
  expect((await admin("DELETE", `/chats/${old.id}`)).status).toBe(200);
  taken(await textOf(at, kind, from, "New")());
  expect(await at.texts()).toEqual({ [from]: ["New"] });
  expect((await at.chat()).id).not.toBe(old.id);
});

test.each(KINDS)("a webhook of a channel of %s's that was erased is not genuine any more", async (kind) => {
  const at = await place(kind);
  taken(await textOf(at, kind, newContact(), "Old")());
  await admin("DELETE", `/channels/${at.channel.id}`);
  vi.setSystemTime(Date.now() + 10_000);
  expectError(await textOf(at, kind, newContact(), "Late")(), 401, "webhook_not_genuine");
});

test.each(["from", "to"])("a group that Telegram moves stays one chat, told by the %s group", async (side) => {
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
  await runDurableObjectAlarm(env.CHATS.getByName(chat.id));
  expect(calls).toHaveLength(1);
  expect(calls[0]?.to).toBe(next);
});

test("a group's move that can't be stored is told again", async () => {
  const at = await place("telegram");
  taken(await fromTelegram(at.channel, telegramText("-600", "Before")));
  const told = telegramText("-600", "", { text: undefined, migrate_to_chat_id: -100600 });
  breakDirectory();
  expectError(await fromTelegram(at.channel, told), 503, "unavailable");
  vi.restoreAllMocks();
  taken(await fromTelegram(at.channel, told));
  taken(await fromTelegram(at.channel, telegramText("-100600", "After")));
  expect(await at.texts()).toEqual({ "-600": ["Before", "After"] });
});

test("a chat that the company began is the one that the contact answers in", async () => {
  const at = await place("whatsapp");
  const from = newContact();
  const chat = await newChat(at.api, at.channel.id, `+${from}`);
  taken(await fromMeta(at.channel, [whatsappText({ wa_id: from }, "An answer")]));
  expect((await at.chats()).map(({ id }) => id)).toEqual([chat.id]);
  expect(await at.texts()).toEqual({ [from]: ["An answer"] });
});

test("kinds that messages here don't have are stored as a description", async () => {
  const at = await place("telegram");
  const from = newContact();
  taken(await fromTelegram(at.channel, telegramText(from, "", { text: undefined, sticker: { emoji: "🎉" } })));
  const whatsapp = await place("whatsapp");
  const location = { type: "location", location: { latitude: 52, longitude: 13 }, text: undefined };
  const value = whatsappText({ wa_id: from }, "");
  taken(await fromMeta(whatsapp.channel, [{ ...value, messages: [{ ...value.messages[0], ...location }] }]));
  expect(await at.texts()).toEqual({ [from]: ["[sticker: 🎉]"] });
  expect(await whatsapp.texts()).toEqual({ [from]: ["[Location] 52, 13"] });
});

test("genuine calls with nothing to store in them are acknowledged", async () => {
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

test("a body of 4 MiB is taken, one of a byte more is too large", async () => {
  const at = await place("telegram");
  const update = JSON.stringify(telegramText(newContact(), "Big"));
  const size = 4 * 1_024 * 1_024;
  taken(await fromTelegram(at.channel, update.padEnd(size)));
  expectError(await fromTelegram(at.channel, update.padEnd(size + 1)), 413, "body_too_large");
  expect(Object.values(await at.texts())).toEqual([["Big"]]);
});

test("rotated credentials count within a second, in both directions", async () => {
  const at = await place("whatsapp");
  const value = () => whatsappText({ wa_id: newContact() }, "Hi");
  taken(await fromMeta(at.channel, [value()]));
  const patched = await admin("PATCH", `/channels/${at.channel.id}`, { credentials: { appSecret: "rotated-secret" } });
  expect(patched.status).toBe(200);
  vi.setSystemTime(Date.now() + 1_000);
  taken(await fromMeta(at.channel, [value()], { secret: "rotated-secret" }));
  expectError(await fromMeta(at.channel, [value()]), 401, "webhook_not_genuine");
});

test("inbound media is stored with the address of our own route", async () => {
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

function swapCase(text: string): string {
  return [...text].map((char) => (char === char.toLowerCase() ? char.toUpperCase() : char.toLowerCase())).join("");
}
