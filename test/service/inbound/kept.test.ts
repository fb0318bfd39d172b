import { expect, test } from "vitest";
import type { Message } from "../../../src/model/message.ts";
import { admin, client, expectFaults, newKey, send } from "../../support/harness.ts";
import { fakeNetworks } from "../../support/networks.ts";
import { report } from "../chats/inbound.ts";
import { chatOf, conversation, pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { linesOf } from "../export/fixtures.ts";
import { conversationSums } from "../management/conversation-sums.ts";
import { newContact, place } from "./fixtures.ts";
import { chatWith } from "./rich-calls.ts";
import { fromMeta, fromTelegram, taken, telegramText, tellStatus, whatsappText } from "./webhook-calls.ts";

stopTheClock();

const WORD = "unspeakable";
const form = {
  type: "interactive",
  interactive: { type: "nfm_reply", nfm_reply: { name: "flow", body: "Sent", response_json: `{"size":"${WORD}"}` } },
};
const referral = { source_type: "ad", source_id: "1", headline: WORD, body: "B", source_url: "https://fb.me/x" };
const referred_product = { catalog_id: "c1", product_retailer_id: WORD };
const product_items = [{ product_retailer_id: WORD, quantity: 2, item_price: 12.5, currency: "EUR" }];

/** What a contact of each network sends, and the field that keeps it. */
const SENT = [
  ["whatsapp", "form", form],
  ["whatsapp", "order", { type: "order", order: { catalog_id: "c1", product_items } }],
  ["whatsapp", "product", { type: "text", text: { body: "This?" }, context: { referred_product } }],
  ["whatsapp", "referral", { type: "text", text: { body: "Hi" }, referral }],
  ["telegram", "submitted", { text: undefined, web_app_data: { button_text: "Order", data: WORD } }],
  ["telegram", "author", { chat: { id: -100_777, type: "group", title: "T" }, from: { id: 5, first_name: WORD } }],
] as const;

test.each(SENT)(
  "on %s, `%s` is everywhere where content is, and a redaction blanks it",
  async (kind, field, fields) => {
    const at = await place(kind);
    const exporter = await newKey(at.organizationId, { permissions: ["data:export", "events:read"] });
    const from = newContact();
    if (kind === "telegram") taken(await fromTelegram(at.channel, telegramText(from, "Hi", fields)));
    else {
      const value = whatsappText({ wa_id: from }, "Hi");
      taken(await fromMeta(at.channel, [{ ...value, messages: value.messages.map((one) => ({ ...one, ...fields })) }]));
    }
    const { id: chatId } = await at.chat();
    const path = `/chats/${chatId}/messages`;
    const [message]: Message[] = (await at.api("GET", path)).body.messages;
    expect(JSON.stringify(message?.[field])).toContain(WORD);
    expect((await at.api("GET", `${path}/${message?.id}`)).body.message).toEqual(message);
    expect((await at.api("GET", `${path}?search=${WORD}`)).body.messages).toEqual([message]);
    expect((await at.api("GET", `${path}?search=headline`)).body.messages).toEqual([]);
    expect((await linesOf(exporter.secret, `/chats/${chatId}/export`)).flatMap((line) => line.message ?? [])).toEqual([
      message,
    ]);
    const reader = client(exporter.secret);
    const events = async () => (await reader("GET", `/chats/${chatId}/events`)).body.events;
    expect(JSON.stringify(await events())).toContain(`"${field}":`);
    expect((await admin("POST", `/chats/${chatId}/messages/${message?.id}/redact`)).status).toBe(200);
    for (const text of [
      (await at.api("GET", path)).text,
      JSON.stringify(await events()),
      JSON.stringify(await linesOf(exporter.secret, `/chats/${chatId}/export`)),
    ]) {
      expect(text).not.toContain(WORD);
    }
    const [blank]: Message[] = (await at.api("GET", path)).body.messages;
    expect(blank).not.toHaveProperty(field);
    expect(blank?.networkTime).toBe(message?.networkTime);
  },
);

test("a message without these fields has the network's time alone", async () => {
  const at = await place("telegram");
  taken(await fromTelegram(at.channel, telegramText(newContact(), "Hi")));
  const [message] = (await at.api("GET", `/chats/${(await at.chat()).id}/messages`)).body.messages;
  expect(Object.keys(message).slice(16)).toEqual(["networkTime"]);
  expect(message.networkTime).toBe(new Date(1_790_000_000_000).toISOString());
});

test("a contact's deletion blanks a form, and its marks stay", async () => {
  const { contact, newest, message } = await chatWith("whatsapp");
  taken(await contact.write("", { ...form, context: { forwarded: true } }, "wamid.form"));
  const { id } = await newest();
  expect(await message(id)).toMatchObject({ content: `[Form]\nsize: ${WORD}`, forwarded: "once" });
  taken(await contact.remove("wamid.form"));
  expect(await message(id)).toMatchObject({ content: "", forwarded: "once" });
  expect(JSON.stringify(await message(id))).not.toContain(WORD);
});

test("an edit on Telegram changes the words of a rich message and shows its links", async () => {
  const { contact, newest, message } = await chatWith("telegram");
  const rich = (text: object) => ({ rich_message: { blocks: [{ type: "paragraph", text }] } });
  taken(await contact.write("", rich({ type: "url", text: "shop", url: "https://a.test" }), 9_001));
  const { id } = await newest();
  expect(await message(id)).toMatchObject({ content: "shop (https://a.test)" });
  taken(await contact.edit(9_001, "", 5));
  expect(await message(id)).toMatchObject({ content: "shop (https://a.test)" });
});

test.each([
  [
    "whatsapp",
    "https://files.example/a.ogg",
    { type: "audio", audio: { link: "https://files.example/a.ogg", voice: true } },
  ],
  ["whatsapp", "https://files.example/a.mp3", { type: "audio", audio: { link: "https://files.example/a.mp3" } }],
  ["telegram", "https://files.example/a.oga?x=1", { voice: "https://files.example/a.oga?x=1" }],
  ["telegram", "https://files.example/a", { audio: "https://files.example/a" }],
] as const)("on %s a voice note of %s goes out as it can", async (kind, mediaUrl, body) => {
  const calls = fakeNetworks();
  const at = await conversation(kind);
  const sent = await send(at.api, at.chatId, { content: mediaUrl, mediaUrl, type: "AUDIO", voice: true });
  const isVoice = JSON.stringify(body).includes("voice");
  expect(sent.voice).toBe(isVoice);
  await at.run();
  expect(calls[0]?.body).toMatchObject(body);
  expect(calls[0]?.body.audio ?? {}).not.toHaveProperty(isVoice ? "none" : "voice");
  expect(await at.message(sent.id)).toMatchObject({ status: "SENT", voice: isVoice });
});

test("a voice note is AUDIO: another type is a fault, and false says nothing", async () => {
  const { api, chatId } = await conversation("whatsapp");
  const url = "https://files.example/a.ogg";
  const post = (body: object) => api("POST", `/chats/${chatId}/messages`, { content: url, ...body });
  for (const body of [{}, { type: "VIDEO", mediaUrl: url }, { type: "TEXT" }, { type: "DOCUMENT" }]) {
    expectFaults(await post({ ...body, voice: true }), "voice");
  }
  expect((await post({ voice: "yes" })).status).toBe(400);
  expect((await post({ type: "TEXT", voice: false })).body.message).not.toHaveProperty("voice");
});

test("the price of a message is what any status says, and stays after a redaction", async () => {
  const calls = fakeNetworks();
  const at = await conversation("whatsapp");
  const { id } = await send(at.api, at.chatId);
  await at.run();
  expect(calls).toHaveLength(1);
  const pricing = { billable: true, pricing_model: "PMP", category: "utility", type: "regular" };
  taken(await tellStatus(at, id, "sent", { id: "wamid.1", pricing }));
  const price = { category: "utility", type: "regular", billable: true };
  expect(await at.message(id)).toMatchObject({ status: "SENT", price });
  taken(await tellStatus(at, id, "delivered", { id: "wamid.1" }));
  expect(await at.message(id)).toMatchObject({ status: "DELIVERED", price });
  taken(await tellStatus(at, id, "read", { id: "wamid.1", pricing: { category: "service", type: 5, billable: "no" } }));
  const later = { category: "service", type: null, billable: null };
  expect(await at.message(id)).toMatchObject({ status: "READ", price: later });
  await admin("POST", `/chats/${at.chatId}/messages/${id}/redact`);
  for (const strange of ["marketing", { category: 7 }, { category: "" }, null]) {
    taken(await tellStatus(at, id, "read", { id: "wamid.1", pricing: strange }));
  }
  expect(await at.message(id)).toMatchObject({ content: "", price: later });
});

test("a response time counts from the network's time where it is earlier, also after a report", async () => {
  const at = await place("whatsapp");
  const chat = await chatOf(at, at.channel.id, newContact());
  const write = (secondsAgo: number) => {
    const value = whatsappText({ wa_id: chat.address }, "Hi");
    const timestamp = String(Math.floor(Date.now() / 1_000) - secondsAgo);
    return fromMeta(at.channel, [{ ...value, messages: value.messages.map((one) => ({ ...one, timestamp })) }]);
  };
  taken(await write(7_200));
  await report(chat.chatId);
  pass(1_000);
  taken(await write(3));
  await send(at.api, chat.chatId);
  await report(chat.chatId);
  expect(await conversationSums(at.channel.id)).toMatchObject({ within4h: 1 });
  // A time ahead counts as none.
  taken(await write(-3_600));
  pass(1_000);
  await send(at.api, chat.chatId);
  await report(chat.chatId);
  expect(await conversationSums(at.channel.id)).toMatchObject({ within4h: 1, within1m: 1 });
});

test("what comes from a group on WhatsApp touches no chat, and a status of one changes none", async () => {
  const at = await chatWith("whatsapp");
  const before = await at.messages();
  const sent = await send(at.api, at.chatId);
  await at.run();
  const group_id = "120363000000000000";
  taken(await at.contact.write("In the group", { group_id }));
  taken(await at.contact.write("", { group_id, type: "reaction", reaction: { message_id: "wamid.1", emoji: "👍" } }));
  taken(await at.contact.write("", { group_id, type: "system", system: { wa_id: "4915199" } }));
  for (const type of ["edit", "revoke"]) {
    const change = { original_message_id: "wamid.1", message: { type: "text", text: { body: "New" } } };
    taken(await at.contact.write("", { group_id, type, [type]: change }));
  }
  const stranger = whatsappText({ wa_id: newContact() }, "Hi");
  taken(
    await fromMeta(at.channel, [{ ...stranger, messages: stranger.messages.map((one) => ({ ...one, group_id })) }]),
  );
  taken(await tellStatus(at, sent.id, "read", { id: "wamid.1", recipient_type: "group", recipient_id: group_id }));
  taken(await tellStatus(at, sent.id, "read", { id: "wamid.1", recipient_participant_id: at.address }));
  expect(await at.messages()).toHaveLength(before.length + 1);
  expect(await at.message(sent.id)).toMatchObject({ status: "SENT", content: sent.content });
  expect((await at.api("GET", `/chats?channel=${at.channelId}`)).body.chats).toHaveLength(1);
});

test.each([
  [{ new_chat_members: [{ id: 5, first_name: "Bo" }] }],
  [{ pinned_message: { message_id: 1, date: 1, text: "x" } }],
  [{ message_auto_delete_timer_changed: { message_auto_delete_time: 5 } }],
  [{ forum_topic_created: { name: "T", icon_color: 1 } }],
])("a notice of Telegram makes no message: %j", async (fields) => {
  const at = await place("telegram");
  taken(await fromTelegram(at.channel, telegramText(newContact(), "x", { ...fields, text: undefined })));
  expect(await at.chats()).toEqual([]);
});
