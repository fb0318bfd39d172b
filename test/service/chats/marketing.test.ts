import { expect, test, vi } from "vitest";
import type { Chat } from "../../../src/model/chat.ts";
import { browser, signInMember } from "../../support/console.ts";
import {
  type Answer,
  admin,
  call,
  client,
  created,
  expectError,
  expectFaults,
  newChat,
  newKey,
  newTemplate,
} from "../../support/harness.ts";
import { newSite, newToken, visit } from "../../support/sockets.ts";
import { CREDENTIALS } from "../../support/world/factories.ts";
import { chatWithTemplates, listed } from "../channels/templates/waba.ts";
import {
  fromTelegram,
  metadata,
  signed,
  taken,
  telegramText,
  whatsappStatus,
  whatsappText,
} from "../inbound/webhook-calls.ts";
import { report, writeAsContact } from "./inbound.ts";
import { newNetworkChannel, pass, stopTheClock } from "./object/delivery/conversation.ts";
import { chatPlace, inFuture, MINUTE } from "./object/scheduled/fixtures.ts";

stopTheClock();

const plain = (name: string, category: string) =>
  listed(name, { category, components: [{ type: "BODY", text: `About ${name}` }] });

/** A chat with a template of each category, and what its contact and its network say. */
async function place(kind: "whatsapp" | "telegram" | "web" = "whatsapp") {
  const templates = ["MARKETING", "UTILITY", "AUTHENTICATION"].map((category) =>
    plain(category.toLowerCase(), category),
  );
  const organization = await chatWithTemplates(kind, templates);
  const { chat, contact, idOf, channelId, organizationId } = organization;
  const key = async (permissions: string[]) => client((await newKey(organizationId, { permissions })).secret);
  const api = await key(["chats:read", "chats:write", "messages:read", "messages:send", "events:read"]);
  const chatOf = async (): Promise<Chat> => (await api("GET", `/chats/${chat.id}`)).body.chat;
  const template = (name: string, more: object = {}) => ({ content: "-", templateId: idOf(name), ...more });
  const chats = chatPlace(api, chat.id);
  /** Meta's report of a contact's choice; `at` in seconds. */
  const choose = (value: string, at: number | string = seconds(), fields: object = { wa_id: contact }) =>
    preferences(channelId, [{ category: "marketing_messages", value, timestamp: at, detail: "…", ...fields }]);
  const says = (text: string) => fromMeta(channelId, "messages", whatsappText({ wa_id: contact }, text));
  const patch = (body: object, as = api) => as("PATCH", `/chats/${chat.id}`, body);
  const consents = async () => (await chats.events()).filter(({ type }) => type === "chat.consent");
  return {
    ...{
      ...organization,
      ...chats,
      api,
      chatId: chat.id,
      chatOf,
      template,
      choose,
      says,
      change: patch,
      consents,
      key,
    },
    marketing: async () => (await chatOf()).marketing,
  };
}

const seconds = (ms = Date.now()) => Math.floor(ms / 1_000);
const iso = (at: number) => new Date(at * 1_000).toISOString();

function fromMeta(channelId: string, field: string, value: object): Promise<Answer> {
  const { phoneNumberId, appSecret } = CREDENTIALS.whatsapp;
  const changes = [{ field, value: { ...metadata(phoneNumberId), ...value } }];
  const body = JSON.stringify({ object: "whatsapp_business_account", entry: [{ id: "1", changes }] });
  return signed({ id: channelId }, body, appSecret);
}

const preferences = (channelId: string, user_preferences: object[], contacts: object[] = []) =>
  fromMeta(channelId, "user_preferences", { contacts, user_preferences });

test("nobody has said anything of a new chat's contact", async () => {
  const { chat, marketing, consents, api } = await place();
  expect(chat.marketing).toBeNull();
  expect(await marketing()).toBeNull();
  expect((await api("GET", "/chats")).body.chats[0].marketing).toBeNull();
  expect(await consents()).toEqual([]);
});

test("a contact who stops and resumes marketing at WhatsApp is shown with it, and each is an event", async () => {
  const { choose, marketing, consents, chatId, chatOf, api, message, post, template } = await place();
  const at = seconds();
  taken(await choose("stop", at));
  const stopped = { optedOut: true, at: iso(at), by: "contact" };
  expect(await marketing()).toEqual(stopped);
  await report(chatId);
  expect((await api("GET", "/chats")).body.chats[0].marketing).toEqual(stopped);
  expectError(await post(template("marketing")), 409, "opted_out");
  pass(MINUTE);
  taken(await choose("resume", `${at + 60}`));
  const resumed = { optedOut: false, at: iso(at + 60), by: "contact" };
  expect(await marketing()).toEqual(resumed);
  const sent = created(await post(template("marketing"))).message;
  expect((await message(sent.id)).type).toBe("TEMPLATE");
  const chat = await chatOf();
  expect((await consents()).map(({ data }) => data)).toEqual([
    { chat, marketing: stopped },
    { chat, marketing: resumed },
  ]);
});

test("what the contact said last holds, in whatever order and however often it is delivered", async () => {
  const at = seconds() - 100;
  const news: [string, number][] = [
    ["stop", at],
    ["resume", at + 10],
    ["stop", at + 20],
    ["resume", at + 30],
  ];
  for (const order of [
    [0, 1, 2, 3],
    [3, 2, 1, 0],
    [3, 3, 0, 0, 2],
    [1, 3, 0, 2, 3],
    [2, 0, 3, 1, 2, 0],
  ]) {
    const { choose, marketing, consents } = await place();
    for (const index of order) taken(await choose(...(news[index] as [string, number])));
    expect(await marketing(), String(order)).toEqual({ optedOut: false, at: iso(at + 30), by: "contact" });
    const told = (await consents()).map(({ data }) => Date.parse(data.marketing.at));
    expect(told, String(order)).toEqual([...new Set(told)].toSorted((one, other) => one - other));
  }
});

test("of two words of the same second, the opt-out holds", async () => {
  for (const order of [
    ["stop", "resume"],
    ["resume", "stop"],
  ]) {
    const { choose, marketing } = await place();
    const at = seconds();
    for (const value of order) taken(await choose(value, at));
    expect(await marketing()).toMatchObject({ optedOut: true });
  }
});

test("one call with several words counts each", async () => {
  const { channelId, contact, marketing } = await place();
  const at = seconds();
  const said = (value: string, timestamp: number) => ({
    wa_id: contact,
    category: "marketing_messages",
    value,
    timestamp,
  });
  taken(await preferences(channelId, [said("stop", at + 1), said("resume", at), said("resume", at - 1)]));
  expect(await marketing()).toEqual({ optedOut: true, at: iso(at + 1), by: "contact" });
});

test("the contact is found by its user id, by the contacts of the call, and as the only contact", async () => {
  const { channelId, contact, says, marketing, choose } = await place();
  const who = { wa_id: contact, user_id: "DE.maya" };
  taken(await says("Hi"));
  taken(await fromMeta(channelId, "messages", whatsappText(who, "I have a user id")));
  const at = seconds();
  taken(await choose("stop", at, { user_id: "DE.maya" }));
  expect(await marketing()).toMatchObject({ optedOut: true, at: iso(at) });
  const word = { category: "marketing_messages", value: "resume", timestamp: at + 1 };
  taken(await preferences(channelId, [word], [{ profile: { name: "Maya" }, ...who }]));
  expect(await marketing()).toMatchObject({ optedOut: false, at: iso(at + 1) });
  taken(await choose("stop", at + 2, { wa_id: "15550009999", user_id: "DE.maya" }));
  expect(await marketing()).toMatchObject({ optedOut: true, at: iso(at + 2) });
});

test.each<[string, object]>([
  ["another category", { category: "utility_messages" }],
  ["another word", { value: "pause" }],
  ["no word", { value: undefined }],
  ["words of another type", { value: 1, category: [] }],
  ["an unknown contact", { wa_id: "15550009999" }],
  ["no contact", { wa_id: undefined }],
])("%s changes nothing, is accepted and creates no chat", async (_, fields) => {
  const { choose, marketing, contact, api } = await place();
  taken(await choose("stop", seconds(), { wa_id: contact, ...fields }));
  expect(await marketing()).toBeNull();
  expect((await api("GET", "/chats")).body.pagination.total).toBe(1);
});

test.each(["1970", 0, -1, 9e15, null, {}])("a word with the time %j counts as said now", async (at) => {
  const { choose, marketing } = await place();
  taken(await choose("stop", at as number));
  expect(await marketing()).toEqual({ optedOut: true, at: new Date().toISOString(), by: "contact" });
});

test("to one who opted out goes every template but marketing, and every other message", async () => {
  const { choose, post, template, organizationId } = await place();
  taken(await choose("stop"));
  expectError(await post(template("marketing")), 409, "opted_out");
  for (const name of ["utility", "authentication"]) {
    expect((await post(template(name))).status, name).toBe(201);
  }
  expect((await post({ content: "Hello" })).status).toBe(201);
  // Nothing is known of a template that was never synced.
  const own = await newTemplate(organizationId, "Buy now");
  expect((await post({ content: "-", templateId: own })).status).toBe(201);
});

test.each(["telegram", "web"] as const)("a marketing template is judged in a %s chat too", async (kind) => {
  const { change, post, template } = await place(kind);
  expect((await post(template("marketing"))).status).toBe(201);
  expect((await change({ marketing: { optedOut: true } })).status).toBe(200);
  expectError(await post(template("marketing")), 409, "opted_out");
});

test.each(["telegram", "web"] as const)(
  "a scheduled one is judged again in a %s chat, and so is its resend",
  async (kind) => {
    const { change, schedule, template, message, ringIn, api, chatId } = await place(kind);
    const [late, early] = [
      await schedule(2 * MINUTE, template("marketing")),
      await schedule(MINUTE, template("marketing")),
    ];
    await ringIn(MINUTE);
    await change({ marketing: { optedOut: true } });
    await ringIn(MINUTE);
    expect(await message(early.id)).toMatchObject({ seq: 1, status: "SENT", text: "About marketing" });
    expect(await message(late.id)).toMatchObject({ seq: null, status: "FAILED", error: { code: "opted_out" } });
    const resend = () => api("POST", `/chats/${chatId}/messages/${late.id}/resend`);
    expectError(await resend(), 409, "opted_out");
    await change({ marketing: { optedOut: false } });
    expect((await resend()).body.message).toMatchObject({ seq: 2, text: "About marketing" });
  },
);

test("the refusals of a send have their order, and a repeated request gets its message before all of them", async () => {
  const { choose, post, template } = await place();
  const headers = { "Idempotency-Key": "one" };
  const first = created(await post(template("marketing"), headers)).message;
  taken(await choose("stop"));
  expectError(await post(template("marketing", { ifSeq: 7, ifOpen: true })), 409, "chat_moved_on");
  expectError(await post(template("marketing", { ifOpen: true })), 409, "window_closed");
  expectError(await post(template("marketing")), 409, "opted_out");
  const again = await post(template("marketing"), headers);
  expect([again.status, again.body.message.id]).toEqual([201, first.id]);
});

test("a scheduled marketing template fails if the contact opts out before its time, and others go", async () => {
  const { choose, schedule, template, message, ringIn, events, evict } = await place();
  const late = await schedule(MINUTE, template("marketing"));
  const other = await schedule(MINUTE, template("utility"));
  taken(await choose("stop"));
  await evict();
  await ringIn(MINUTE);
  const failed = { seq: null, status: "FAILED", error: { code: "opted_out" } };
  expect(await message(late.id)).toMatchObject(failed);
  expect(await message(other.id)).toMatchObject({ seq: 1, status: "SENT" });
  const data = expect.objectContaining({ messageId: late.id, status: "FAILED" });
  expect(await events()).toContainEqual(expect.objectContaining({ type: "message.status", data }));
});

test("a scheduled marketing template goes if the contact resumes before its time, and is refused while it is out", async () => {
  const { choose, schedule, post, template, message, ringIn } = await place();
  const { id } = await schedule(2 * MINUTE, template("marketing"));
  taken(await choose("stop"));
  expectError(await post(template("marketing", { scheduledAt: inFuture(MINUTE) })), 409, "opted_out");
  pass(MINUTE);
  taken(await choose("resume"));
  await ringIn(MINUTE);
  expect(await message(id)).toMatchObject({ seq: 1, status: "SENT" });
});

test("a scheduled marketing template is not sent now to one who opted out, and stays scheduled", async () => {
  const { choose, schedule, patch, template, message } = await place();
  const { id } = await schedule(MINUTE, template("marketing"));
  taken(await choose("stop"));
  expectError(await patch(id, { scheduledAt: null }), 409, "opted_out");
  expect((await message(id)).status).toBe("SCHEDULED");
});

test("a queued marketing template goes, though the contact opts out meanwhile", async () => {
  const { choose, post, template, message, meta, ringIn } = await place();
  meta.refusal = () => new Response("Down", { status: 503 });
  const { id } = created(await post(template("marketing"))).message;
  await vi.waitUntil(() => meta.messages.length > 0);
  taken(await choose("stop"));
  meta.refusal = null;
  await ringIn(10 * MINUTE);
  expect(await message(id)).toMatchObject({ status: "SENT" });
});

test("a message that fails because the contact opted out says so of the contact, once", async () => {
  const { post, template, message, meta, marketing, consents, api, chatId } = await place();
  const refusal = { error: { code: 131050, message: "User has stopped marketing", type: "OAuthException" } };
  meta.refusal = () => Response.json(refusal, { status: 400 });
  const { id } = created(await post(template("marketing"))).message;
  await vi.waitUntil(async () => (await message(id)).status === "FAILED");
  const out = { optedOut: true, at: new Date().toISOString(), by: "network" };
  expect(await marketing()).toEqual(out);
  expect((await consents()).map(({ data }) => data.marketing)).toEqual([out]);
  expectError(await api("POST", `/chats/${chatId}/messages/${id}/resend`), 409, "opted_out");
});

test("a status with 131050 opts out at the network's time, and only the first time", async () => {
  const { post, template, message, says, channelId, contact, chatId, marketing, choose, consents, change } =
    await place();
  const { id } = created(await post(template("marketing"))).message;
  await vi.waitUntil(async () => (await message(id)).status === "SENT");
  const at = seconds() - 5;
  const fields = { recipient_id: contact, biz_opaque_callback_data: `${chatId}.${id}`, timestamp: String(at) };
  const failed = () => {
    const status = whatsappStatus("failed", {
      id: "wamid.x",
      ...fields,
      errors: [{ code: 131050, title: "Opted out" }],
    });
    return fromMeta(channelId, "messages", status);
  };
  taken(await failed());
  expect(await message(id)).toMatchObject({ status: "FAILED", error: { code: "network_131050" } });
  expect(await marketing()).toEqual({ optedOut: true, at: iso(at), by: "network" });
  taken(await choose("resume", at + 1));
  // The same status again, and an ordinary message, say nothing.
  taken(await failed());
  taken(await says("Hi"));
  expect(await marketing()).toEqual({ optedOut: false, at: iso(at + 1), by: "contact" });
  expect(await consents()).toHaveLength(2);
  expect((await change({ marketing: { optedOut: true } })).body.chat.marketing).toMatchObject({ by: "key" });
});

test("a failure from before the contact resumed opts nobody out", async () => {
  const { post, template, message, channelId, contact, chatId, marketing, choose } = await place();
  const { id } = created(await post(template("marketing"))).message;
  await vi.waitUntil(async () => (await message(id)).status === "SENT");
  const at = seconds();
  taken(await choose("resume", at));
  const errors = [{ code: 131050, title: "Opted out" }];
  const fields = {
    recipient_id: contact,
    biz_opaque_callback_data: `${chatId}.${id}`,
    timestamp: String(at - 1),
    errors,
  };
  taken(await fromMeta(channelId, "messages", whatsappStatus("failed", { id: "wamid.x", ...fields })));
  expect((await message(id)).status).toBe("FAILED");
  expect(await marketing()).toEqual({ optedOut: false, at: iso(at), by: "contact" });
});

test("any other failure opts nobody out", async () => {
  const { post, template, message, meta, marketing } = await place();
  meta.refusal = () => Response.json({ error: { code: 131049, message: "No" } }, { status: 400 });
  const { id } = created(await post(template("marketing"))).message;
  await vi.waitUntil(async () => (await message(id)).status === "FAILED");
  expect(await marketing()).toBeNull();
});

test("a key and a member change it with chats:write, with other fields or alone, and each change is an event", async () => {
  const { change, marketing, consents, organizationId, key, ownerId, chatOf } = await place();
  const writer = await key(["chats:read", "chats:write"]);
  const { chat } = (await change({ marketing: { optedOut: true } }, writer)).body;
  const byKey = { optedOut: true, at: new Date().toISOString(), by: "key" };
  expect(chat.marketing).toEqual(byKey);
  pass(MINUTE);
  const made = await admin("POST", `/organizations/${organizationId}/members`, {
    name: "Mel",
    permissions: ["chats:write"],
  });
  const ask = browser(await signInMember(created(made).member.id));
  const body = { marketing: { optedOut: false }, contact: { name: "Maya" }, assigneeId: ownerId };
  const answer = await ask("PATCH", `/organizations/${organizationId}/chats/${(await chatOf()).id}`, body);
  expect(answer.status, answer.text).toBe(200);
  const byMember = { optedOut: false, at: new Date().toISOString(), by: "member" };
  expect(await chatOf()).toMatchObject({ marketing: byMember, contact: { name: "Maya" }, assigneeId: ownerId });
  // The same again changes nothing.
  pass(MINUTE);
  expect((await change({ marketing: { optedOut: false } })).body.chat.marketing).toEqual(byMember);
  expect((await consents()).map(({ data }) => data.marketing)).toEqual([byKey, byMember]);
  expect(await marketing()).toEqual(byMember);
});

test("the word of a client holds against older news of the network, and yields to newer", async () => {
  const { change, choose, marketing } = await place();
  const at = seconds();
  await change({ marketing: { optedOut: false } });
  taken(await choose("stop", at - 1));
  expect(await marketing()).toMatchObject({ optedOut: false, by: "key" });
  pass(2_000);
  taken(await choose("stop", at + 1));
  expect(await marketing()).toMatchObject({ optedOut: true, by: "contact" });
  // Also if the network's clock is ahead.
  taken(await choose("stop", at + 60));
  await change({ marketing: { optedOut: false } });
  expect(await marketing()).toEqual({ optedOut: false, at: iso(at + 60), by: "key" });
});

test("a change that is refused changes nothing of it", async () => {
  const { change, marketing, consents } = await place();
  expectError(
    await change({ marketing: { optedOut: true }, assigneeId: null, ifAssigneeId: "mbr_1" }),
    409,
    "chat_reassigned",
  );
  expectFaults(await change({ marketing: { optedOut: true }, metadata: { a: "x".repeat(501) } }), "metadata.a");
  const metadata = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`k${n}`, "x".repeat(400)]));
  expectFaults(await change({ marketing: { optedOut: true }, metadata }), "metadata");
  expect(await marketing()).toBeNull();
  expect(await consents()).toEqual([]);
});

test.each([
  [{ marketing: null }, "marketing"],
  [{ marketing: true }, "marketing"],
  [{ marketing: {} }, "marketing.optedOut"],
  [{ marketing: { optedOut: null } }, "marketing.optedOut"],
  [{ marketing: { optedOut: "true" } }, "marketing.optedOut"],
])("a change is refused with %j", async (body, path) => {
  const { change, marketing } = await place("web");
  const answer = await change(body);
  expect(answer.status, answer.text).toBe(400);
  expect(answer.text).toContain(path);
  expect(await marketing()).toBeNull();
});

test("it needs chats:write", async () => {
  const { change, key, marketing } = await place("web");
  expectError(
    await change({ marketing: { optedOut: true } }, await key(["chats:read", "messages:send"])),
    403,
    "permission_denied",
  );
  expect(await marketing()).toBeNull();
});

test("it outlives the instance and the chat's messages, and ends with the chat", async () => {
  const { change, marketing, evict, api, chatId, channelId, contact } = await place();
  await change({ marketing: { optedOut: true } });
  await evict();
  expect(await marketing()).toMatchObject({ optedOut: true });
  expect((await admin("DELETE", `/chats/${chatId}`)).status).toBe(200);
  const again = await newChat(api, channelId, contact);
  expect(again.marketing).toBeNull();
});

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

test("an export has the chat with it", async () => {
  const { change, organizationId, chatId } = await place("web");
  await change({ marketing: { optedOut: true } });
  await report(chatId);
  await writeAsContact(organizationId, chatId);
  const { secret } = await newKey(organizationId, { permissions: ["data:export"] });
  const answer = await call("GET", "/api/v1/export", { headers: { Authorization: `Bearer ${secret}` } });
  expect(answer.text).toContain('"marketing":{"optedOut":true');
});
