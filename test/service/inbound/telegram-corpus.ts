import { expect } from "vitest";
import { TELEGRAM_LEAVES } from "../../../src/channels/telegram/arrivals.ts";
import type { Case } from "./whatsapp-corpus.ts";

const file = (fields: object = {}) => ({ file_id: "F1", file_unique_id: "U1", file_size: 9, ...fields });
const photo = [file({ width: 90, height: 60 }), file({ file_id: "F2", width: 900, height: 600 })];
const bo = { id: 5, is_bot: false, first_name: "Bo", last_name: "Lee" };
const group = { id: -1_001_000_000_000, type: "supergroup", title: "Team" };
const said = (content: string, more: object = {}) => ({ type: "TEXT", content, ...more });
const url = "https://a.test/x";
const link = (offset: number, length: number) => ({ type: "text_link", offset, length, url });
const rich = (...blocks: object[]) => ({ rich_message: { blocks } });
const paragraph = (text: unknown) => ({ type: "paragraph", text });
const image = { contentType: "image/jpeg", size: 9, width: 900, height: 600 };
const audio = { contentType: "audio/ogg", size: 9 };
const payment = {
  currency: "EUR",
  total_amount: 990,
  invoice_payload: "o-1",
  telegram_payment_charge_id: "t",
  provider_payment_charge_id: "p",
};
const shared = { request_id: 1, users: [{ user_id: 7, first_name: "Cy", photo: [file()] }, { user_id: 8 }] };

/** Notices with a value that Telegram could send. The others are empty. */
const NOTICES: Record<string, unknown> = {
  new_chat_members: [bo],
  new_chat_title: "T",
  new_chat_photo: photo,
  left_chat_member: bo,
  message_auto_delete_timer_changed: { message_auto_delete_time: 1 },
  pinned_message: { message_id: 1, date: 1 },
  connected_website: "a.test",
  passport_data: { data: [] },
  proximity_alert_triggered: { distance: 1 },
  boost_added: { boost_count: 1 },
  forum_topic_created: { name: "T" },
};

export const TELEGRAM: Case[] = [
  ["a text", { text: "Hello" }, said("Hello")],
  ["a link behind a word", { text: "our shop", entities: [link(4, 4)] }, said(`our shop (${url})`)],
  [
    "a link behind a word after an emoji",
    { text: "🎉 shop now", entities: [link(3, 4)] },
    said(`🎉 shop (${url}) now`),
  ],
  ["a text that is bold", { text: "bold", entities: [{ type: "bold", offset: 0, length: 4 }] }, said("bold")],
  ["a link that leaves the text", { text: "x", entities: [link(0, 50)] }, said("x")],
  [
    "a mention",
    { text: "Bo here", entities: [{ type: "text_mention", offset: 0, length: 2, user: bo }] },
    said("Bo here"),
  ],
  [
    "a forwarded text",
    { text: "Look", forward_origin: { type: "hidden_user", sender_user_name: "X", date: 1 } },
    said("Look", { forwarded: "once" }),
  ],
  ["a post of the linked channel", { text: "Post", is_automatic_forward: true }, said("Post", { forwarded: "once" })],
  [
    "a reply that quotes words",
    { text: "No", quote: { text: "the price", position: 0, is_manual: true } },
    said("No\n[quote: the price]"),
  ],
  ["a reply that Telegram quotes", { text: "No", quote: { text: "all", position: 0 } }, said("No")],
  [
    "a reply to another chat",
    { text: "This", external_reply: { origin: { type: "channel", chat: { id: -1, title: "News" } }, photo } },
    said("This\n[external reply: photo]"),
  ],
  [
    "a reply to a hidden person",
    { text: "This", external_reply: { origin: { type: "hidden_user", sender_user_name: "Hid" } } },
    said("This\n[external reply]"),
  ],
  ["a reply to a story", { text: "Nice", reply_to_story: { id: 1, chat: group } }, said("Nice\n[reply to story]")],
  ["a photo", { photo }, { type: "IMAGE", content: "", media: image }],
  [
    "a photo with a caption that has a link",
    { photo, caption: "shop", caption_entities: [link(0, 4)] },
    { type: "IMAGE", content: `shop (${url})`, media: image },
  ],
  [
    "a photo of an album",
    { photo, media_group_id: "1", has_media_spoiler: true, show_caption_above_media: true },
    { type: "IMAGE", content: "", media: image },
  ],
  [
    "a live photo",
    { photo, live_photo: file({ width: 1, height: 1, duration: 1 }) },
    { type: "IMAGE", content: "", media: image },
  ],
  ["a live photo without its photo", { live_photo: file() }, said("[live photo]")],
  [
    "a video",
    { video: file({ width: 4, height: 3, mime_type: "video/mp4" }) },
    { type: "VIDEO", content: "", media: { contentType: "video/mp4", size: 9, width: 4, height: 3 } },
  ],
  [
    "a round video",
    { video_note: file({ length: 240 }) },
    { type: "VIDEO", content: "", media: { contentType: "video/mp4", size: 9, width: 240, height: 240 } },
  ],
  [
    "an animation",
    { animation: file({ mime_type: "video/mp4" }), document: file() },
    { type: "VIDEO", content: "", media: { contentType: "video/mp4", size: 9 } },
  ],
  [
    "audio",
    { audio: file({ mime_type: "audio/mpeg", title: "Song" }) },
    { type: "AUDIO", content: "", media: { contentType: "audio/mpeg", size: 9 } },
  ],
  ["a voice note", { voice: file({ duration: 3 }) }, { type: "AUDIO", content: "", media: audio, voice: true }],
  [
    "a voice note with a caption",
    { voice: file(), caption: "Listen" },
    { type: "AUDIO", content: "Listen", media: audio, voice: true },
  ],
  [
    "a forwarded voice note",
    { voice: file(), forward_origin: { type: "user", sender_user: bo } },
    { type: "AUDIO", content: "", media: audio, voice: true, forwarded: "once" },
  ],
  [
    "a document",
    { document: file({ file_name: "a.pdf", mime_type: "application/pdf" }) },
    { type: "DOCUMENT", content: "", media: { contentType: "application/pdf", size: 9, fileName: "a.pdf" } },
  ],
  [
    "a sticker",
    { sticker: file({ type: "regular", emoji: "🎉", width: 5, height: 5, is_video: false }) },
    {
      type: "IMAGE",
      content: "[sticker: 🎉]",
      media: { contentType: "image/webp", size: 9, width: 5, height: 5 },
      sticker: { emoji: "🎉" },
    },
  ],
  [
    "a place",
    { location: { latitude: 1, longitude: 2 } },
    said("[location: 1, 2]", { location: { latitude: 1, longitude: 2 } }),
  ],
  [
    "a venue",
    {
      location: { latitude: 1, longitude: 2 },
      venue: { location: { latitude: 1, longitude: 2 }, title: "Café", address: "St" },
    },
    said("[venue: Café, St]", { location: { latitude: 1, longitude: 2, name: "Café", address: "St" } }),
  ],
  [
    "a card",
    { contact: { first_name: "Bo", phone_number: "+49", user_id: 5 } },
    said("[contact: Bo, +49]", { contacts: [{ name: "Bo", phones: ["+49"] }] }),
  ],
  ["a poll", { poll: { id: "1", question: "Tea?", options: [] } }, said("[poll: Tea?]")],
  ["dice", { dice: { emoji: "🎲", value: 4 } }, said("[dice: 🎲, 4]")],
  ["a game", { game: { title: "Chess" } }, said("[game: Chess]")],
  ["a checklist", { checklist: { title: "Go", tasks: [] } }, said("[checklist: Go]")],
  ["a story", { story: { id: 1 } }, said("[story]")],
  ["paid media", { paid_media: { star_count: 1, paid_media: [] }, caption: "Buy" }, said("[paid media] Buy")],
  ["an invoice", { invoice: { title: "Tea", currency: "EUR", total_amount: 1 } }, said("[invoice: Tea]")],
  ["a gift", { gift: { gift: {} } }, said("[gift]")],
  ["a gift of its own kind", { unique_gift: { gift: {} } }, said("[unique gift]")],
  ["a giveaway", { giveaway: { winner_count: 1, prize_description: "Tea" } }, said("[giveaway: Tea]")],
  ["winners", { giveaway_winners: { winner_count: 1 } }, said("[giveaway winners]")],
  [
    "a rich message",
    rich({ type: "heading", size: 1, text: "Offer" }, paragraph(["For ", { type: "bold", text: "you" }])),
    said("Offer\nFor you"),
  ],
  ["a rich message with a link", rich(paragraph({ type: "url", text: "shop", url })), said(`shop (${url})`)],
  [
    "a rich message with a list",
    rich({ type: "list", items: [{ label: "•", blocks: [paragraph("Tea")] }] }),
    said("• Tea"),
  ],
  ["a rich message with a picture", rich({ type: "photo", photo, caption: { text: "A cup" } }), said("[photo]\nA cup")],
  ["a rich message without words", rich(), said("[rich message]")],
  [
    "data of a mini app",
    { web_app_data: { data: '{"a":1}', button_text: "Order" } },
    said('[web app data: Order, {"a":1}]', {
      submitted: { kind: "web_app", data: { data: '{"a":1}', button_text: "Order" } },
    }),
  ],
  [
    "much data of a mini app",
    { web_app_data: { button_text: "B", data: "x".repeat(20_000) } },
    said(`[web app data: B, ${"x".repeat(300)}]`, {
      submitted: { kind: "web_app", data: { button_text: "B", data: expect.any(String) }, cut: true },
    }),
  ],
  [
    "a payment",
    { successful_payment: payment },
    said("[successful payment: 990 of the smallest unit of EUR]", { submitted: { kind: "payment", data: payment } }),
  ],
  [
    "a payment with Stars",
    { successful_payment: { currency: "XTR", total_amount: 5 } },
    said("[successful payment: 5 XTR]", { submitted: { kind: "payment", data: { currency: "XTR", total_amount: 5 } } }),
  ],
  [
    "a refund",
    { refunded_payment: payment },
    said("[refunded payment: 990 of the smallest unit of EUR]", {
      submitted: { kind: "payment", data: { refunded: true, ...payment } },
    }),
  ],
  [
    "shared people",
    { users_shared: shared },
    said("[users shared: Cy, 8]", {
      submitted: { kind: "users", data: { request_id: 1, users: [{ user_id: 7, first_name: "Cy" }, { user_id: 8 }] } },
    }),
  ],
  [
    "a shared chat",
    { chat_shared: { request_id: 2, chat_id: -5, title: "Team", photo } },
    said("[chat shared: Team, -5]", {
      submitted: { kind: "chat", data: { request_id: 2, chat_id: -5, title: "Team" } },
    }),
  ],
  ["a text in a group", { text: "All", chat: group, from: bo }, said("All", { author: { id: "5", name: "Bo Lee" } })],
  [
    "a text of a member with a tag",
    { text: "All", chat: { ...group, type: "group" }, from: bo, sender_tag: "Cook" },
    said("All", { author: { id: "5", name: "Bo Lee (Cook)" } }),
  ],
  [
    "a text of an administrator who is not named",
    {
      text: "All",
      chat: group,
      from: { id: 1087968824, first_name: "Group" },
      sender_chat: group,
      author_signature: "Boss",
    },
    said("All", { author: { id: String(group.id), name: "Team (Boss)" } }),
  ],
  [
    "a text in a topic",
    { text: "All", chat: group, from: bo, message_thread_id: 7, is_topic_message: true },
    said("All", { author: { id: "5", name: "Bo Lee" } }),
  ],
  [
    "a text with all that only looks",
    {
      text: "Hi",
      effect_id: "1",
      link_preview_options: {},
      has_protected_content: true,
      via_bot: bo,
      is_from_offline: true,
      sender_boost_count: 1,
      paid_star_count: 1,
      reply_markup: {},
      is_paid_post: true,
      reply_to_checklist_task_id: 1,
      reply_to_poll_option_id: 1,
    },
    said("Hi"),
  ],
  [
    "a text with all that belongs to other chats",
    {
      text: "Hi",
      business_connection_id: "b",
      sender_business_bot: bo,
      guest_query_id: "1",
      guest_bot_caller_user: bo,
      guest_bot_caller_chat: group,
      direct_messages_topic: { topic_id: 1 },
      receiver_user: bo,
    },
    said("Hi"),
  ],
  ["a kind of the future", { hologram_sent: { id: 1 } }, said("[hologram sent]")],
  ["nothing", {}, said("[unsupported message]")],
  ["a text of 1970", { text: "Old", date: 0 }, said("Old", { networkTime: undefined })],
  ["a text of the future", { text: "New", date: 99_999_999_999 }, said("New", { networkTime: undefined })],
  ["a text with a date in words", { text: "When", date: "noon" }, said("When", { networkTime: undefined })],
  ...TELEGRAM_LEAVES.service.map((name): Case => [`a notice: ${name}`, { [name]: NOTICES[name] ?? {} }, null]),
];
