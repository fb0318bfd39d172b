import { expect } from "vitest";

/**
 * Messages of WhatsApp in the shapes that Meta documents, each with what the chat keeps: its fields beside those that
 * every message has. Null: it makes no message.
 */
export type Case = [what: string, message: object, kept: object | null];

const text = (body: string, more: object = {}) => ({ type: "text", text: { body }, ...more });
const interactive = (fields: object) => ({ type: "interactive", interactive: fields });
const form = (response_json: unknown, more: object = {}) =>
  interactive({ type: "nfm_reply", nfm_reply: { name: "flow", body: "Sent", response_json, ...more } });
const media = (type: string, fields: object = {}) => ({
  type,
  [type]: {
    id: "8801",
    mime_type: "application/pdf",
    sha256: "aGFzaA==",
    url: "https://lookaside.fbsbx.com/x",
    ...fields,
  },
});
const unsupported = (type: string | undefined, code = 131051) => ({
  type: "unsupported",
  unsupported: { type },
  errors: [{ code, title: "Message type unknown", message: "Message type unknown", error_data: { details: "d" } }],
});
const card = (fields: object = {}) => ({
  name: { formatted_name: "Bo Lee", first_name: "Bo", last_name: "Lee" },
  phones: [{ phone: "+49 170 1", wa_id: "491701", type: "CELL" }],
  ...fields,
});
const order = (items: object[], more: object = {}) => ({
  type: "order",
  order: { catalog_id: "cat-1", product_items: items, ...more },
});
const item = (fields: object = {}) => ({
  product_retailer_id: "tea",
  quantity: 2,
  item_price: 4.5,
  currency: "EUR",
  ...fields,
});
const ad = { source_type: "ad", source_id: "120", source_url: "https://fb.me/a", headline: "Tea", body: "Fresh tea" };
const REFERRAL = {
  type: "ad",
  id: "120",
  url: "https://fb.me/a",
  headline: "Tea",
  text: "Fresh tea",
  clickId: null,
  ref: null,
};
const said = (content: string, more: object = {}) => ({ type: "TEXT", content, ...more });
const file = (type: string, content = "", more: object = {}) => ({
  type,
  content,
  media: { contentType: "application/pdf" },
  ...more,
});

export const WHATSAPP: Case[] = [
  ["a text", text("Hello"), said("Hello")],
  ["a text in other letters", text("Grüße 🎉 שלום"), said("Grüße 🎉 שלום")],
  ["an empty text", text(""), said("")],
  ["a text that was forwarded", text("Look", { context: { forwarded: true } }), said("Look", { forwarded: "once" })],
  [
    "a text that went round",
    text("Look", { context: { frequently_forwarded: true } }),
    said("Look", { forwarded: "many" }),
  ],
  [
    "one that says both",
    text("L", { context: { forwarded: true, frequently_forwarded: true } }),
    said("L", { forwarded: "many" }),
  ],
  ["one that was not forwarded", text("L", { context: { forwarded: false } }), said("L")],
  [
    "a reply to a message that nobody has",
    text("Yes", { context: { from: "15550001111", id: "wamid.old" } }),
    said("Yes"),
  ],
  [
    "a question about a product",
    text("In blue?", {
      context: {
        from: "15550001111",
        id: "wamid.c",
        referred_product: { catalog_id: "cat-1", product_retailer_id: "tea" },
      },
    }),
    said("In blue?", { product: { catalogId: "cat-1", productId: "tea" } }),
  ],
  [
    "a question about half a product",
    text("?", { context: { referred_product: {} } }),
    said("?", { product: { catalogId: null, productId: null } }),
  ],
  [
    "a click on an ad",
    text("Hi", { referral: { ...ad, ctwa_clid: "click" } }),
    said("Hi", { referral: { ...REFERRAL, clickId: "click" } }),
  ],
  [
    "a click on an ad with a picture and a greeting",
    text("Hi", {
      referral: {
        ...ad,
        media_type: "image",
        image_url: "https://scontent.xx.fbcdn.net/a",
        welcome_message: { text: "Welcome" },
      },
    }),
    said("Hi", { referral: REFERRAL }),
  ],
  [
    "a click on a video",
    text("Hi", {
      referral: { ...ad, media_type: "video", image: { id: "1" }, video_url: "https://v", thumbnail_url: "https://t" },
    }),
    said("Hi", { referral: REFERRAL }),
  ],
  [
    "a click on a post",
    text("Hi", { referral: { ...ad, source_type: "post" } }),
    said("Hi", { referral: { ...REFERRAL, type: "post" } }),
  ],
  [
    "a click on a status ad",
    text("Hi", { referral: { source_type: "ad", source_id: "7", source_url: "https://fb.me/s" } }),
    said("Hi", { referral: { ...REFERRAL, id: "7", url: "https://fb.me/s", headline: null, text: null } }),
  ],
  [
    "a link with a word",
    text("Hi", { referral: { ref: "spring" } }),
    said("Hi", {
      referral: { ...REFERRAL, type: null, id: null, url: null, headline: null, text: null, ref: "spring" },
    }),
  ],
  [
    "an ad with a long headline",
    text("Hi", { referral: { ...ad, headline: "h".repeat(20_000) } }),
    said("Hi", { referral: expect.objectContaining({ type: "ad", text: "", cut: true }) }),
  ],
  [
    "a picture after an ad",
    { ...media("image", { caption: "This" }), referral: ad },
    file("IMAGE", "This", { referral: REFERRAL }),
  ],
  ["a picture", media("image"), file("IMAGE")],
  ["a picture with a caption", media("image", { caption: "Our order" }), file("IMAGE", "Our order")],
  ["a video whose still is named", media("video", { static_url: "https://x" }), file("VIDEO")],
  ["audio with a caption", media("audio", { caption: "Listen" }), file("AUDIO", "Listen")],
  ["a picture whose still is named", media("image", { static_url: "https://x" }), file("IMAGE")],
  [
    "a forwarded picture",
    { ...media("image"), context: { forwarded: true } },
    file("IMAGE", "", { forwarded: "once" }),
  ],
  ["a video", media("video", { caption: "See" }), file("VIDEO", "See")],
  ["audio", media("audio", { voice: false }), file("AUDIO")],
  [
    "a voice note",
    media("audio", { mime_type: "audio/ogg; codecs=opus", voice: true }),
    { type: "AUDIO", content: "", media: { contentType: "audio/ogg" }, voice: true },
  ],
  ["a voice mark that is a word", media("audio", { voice: "true" }), file("AUDIO")],
  [
    "a document",
    media("document", { filename: "plan.pdf", caption: "Plan" }),
    file("DOCUMENT", "Plan", { media: { contentType: "application/pdf", fileName: "plan.pdf" } }),
  ],
  [
    "a sticker",
    media("sticker", { animated: false }),
    { type: "IMAGE", content: "[Sticker]", media: { contentType: "image/webp" }, sticker: { emoji: null } },
  ],
  [
    "a sticker that moves",
    media("sticker", { animated: true }),
    { type: "IMAGE", content: "[Sticker]", media: { contentType: "image/webp" }, sticker: { emoji: null } },
  ],
  ["media without its id", { type: "image", image: { caption: "Lost" } }, said("[Image]")],
  [
    "a place",
    { type: "location", location: { latitude: 52.5, longitude: 13.4 } },
    said("[Location] 52.5, 13.4", { location: { latitude: 52.5, longitude: 13.4 } }),
  ],
  [
    "a place of business",
    {
      type: "location",
      location: { latitude: "52.5", longitude: "13.4", name: "Shop", address: "Main St", url: "https://shop.test" },
    },
    said("[Location] Shop, Main St, 52.5, 13.4, https://shop.test", {
      location: { latitude: 52.5, longitude: 13.4, name: "Shop", address: "Main St" },
    }),
  ],
  [
    "a card",
    { type: "contacts", contacts: [card()] },
    said("[Contact] Bo Lee +49 170 1", { contacts: [{ name: "Bo Lee", phones: ["+49 170 1"] }] }),
  ],
  [
    "a card with all that one can have",
    {
      type: "contacts",
      contacts: [
        card({
          emails: [{ email: "bo@a.test", type: "WORK" }],
          org: { company: "Acme", department: "Sales", title: "Lead" },
          urls: [{ url: "https://bo.test", type: "HOME" }],
          name: {
            formatted_name: "Bo Lee",
            first_name: "Bo",
            middle_name: "M",
            last_name: "Lee",
            suffix: "Jr",
            prefix: "Dr",
          },
          addresses: [{ city: "Berlin", country_code: "de" }],
          birthday: "2000-01-01",
          vcard: "BEGIN:VCARD",
        }),
      ],
    },
    said("[Contact] Bo Lee Acme +49 170 1 bo@a.test https://bo.test", {
      contacts: [{ name: "Bo Lee", phones: ["+49 170 1"] }],
    }),
  ],
  [
    "an own card that was asked for",
    { type: "contacts", contacts: [card({ origin: "contact_request" })] },
    said("[Contact] Bo Lee +49 170 1", { contacts: [{ name: "Bo Lee", phones: ["+49 170 1"] }] }),
  ],
  [
    "a card without a number",
    { type: "contacts", contacts: [card({ phones: [], emails: [{ email: "b@a.test" }] })] },
    said("[Contact] Bo Lee b@a.test"),
  ],
  [
    "two cards",
    { type: "contacts", contacts: [card(), card({ phones: [{ phone: "2" }] })] },
    said("[Contact] Bo Lee +49 170 1, Bo Lee 2", {
      contacts: [
        { name: "Bo Lee", phones: ["+49 170 1"] },
        { name: "Bo Lee", phones: ["2"] },
      ],
    }),
  ],
  [
    "a tap on a button of somebody else",
    interactive({ type: "button_reply", button_reply: { id: "b1", title: "Yes" } }),
    said("Yes", { choice: { id: null, title: "Yes", messageId: null } }),
  ],
  [
    "a tap on a row",
    interactive({ type: "list_reply", list_reply: { id: "r1", title: "Large", description: "50 cm" } }),
    said("Large\n50 cm", { choice: { id: null, title: "Large", messageId: null } }),
  ],
  [
    "a tap on a row without more",
    interactive({ type: "list_reply", list_reply: { id: "r1", title: "Large" } }),
    said("Large", { choice: { id: null, title: "Large", messageId: null } }),
  ],
  [
    "a tap on a template's button",
    { type: "button", button: { payload: "STOP", text: "Stop" } },
    said("Stop", { choice: { id: null, title: "Stop", messageId: null } }),
  ],
  [
    "a form",
    form('{"name":"Ada","size":42,"flow_token":"t1"}'),
    said("[Form]\nname: Ada\nsize: 42\nflow_token: t1", {
      form: { name: "flow", answers: { name: "Ada", size: 42, flow_token: "t1" } },
    }),
  ],
  [
    "a form with several answers",
    form('{"days":["Mo","Tu"],"ok":true,"at":{"h":9}}'),
    said('[Form]\ndays: Mo, Tu\nok: true\nat: {"h":9}', {
      form: { name: "flow", answers: { days: ["Mo", "Tu"], ok: true, at: { h: 9 } } },
    }),
  ],
  ["a form without answers", form("{}"), said("[Form]", { form: { name: "flow", answers: {} } })],
  [
    "a form of broken JSON",
    form('{"name":'),
    said('[Form]\ntext: {"name":', { form: { name: "flow", answers: { text: '{"name":' } } }),
  ],
  [
    "a form that is a list",
    form("[1,2]"),
    said("[Form]\ntext: [1,2]", { form: { name: "flow", answers: { text: "[1,2]" } } }),
  ],
  [
    "a form that is a word",
    form('"Ada"'),
    said('[Form]\ntext: "Ada"', { form: { name: "flow", answers: { text: '"Ada"' } } }),
  ],
  [
    "a form whose answers are no text",
    form({ a: 1 }),
    said("[Form]\na: 1", { form: { name: "flow", answers: { a: 1 } } }),
  ],
  [
    "a form with nothing",
    interactive({ type: "nfm_reply", nfm_reply: {} }),
    said("[Form]", { form: { name: null, answers: {} } }),
  ],
  [
    "an address",
    form('{"values":{"city":"Berlin"}}', { name: "address_message", body: "Berlin" }),
    said('[Form]\nvalues: {"city":"Berlin"}', {
      form: { name: "address_message", answers: { values: { city: "Berlin" } } },
    }),
  ],
  [
    "a form of 2 MB",
    form(JSON.stringify({ first: "1", long: "x".repeat(2_000_000), last: "3" })),
    said(expect.stringMatching(/^\[Form\]\nfirst: 1\nlong: x{7000,8000}$/) as never, {
      form: { name: "flow", answers: { first: "1", long: expect.any(String) }, cut: true },
    }),
  ],
  [
    "a form that answers another message",
    { ...form('{"a":"b"}'), context: { from: "15550001111", id: "wamid.form" } },
    said("[Form]\na: b", { form: { name: "flow", answers: { a: "b" } } }),
  ],
  [
    "a permission to call",
    interactive({
      type: "call_permission_reply",
      call_permission_reply: {
        response: "accept",
        is_permanent: false,
        expiration_timestamp: 1,
        response_source: "user_action",
      },
    }),
    said("[Permission to call] accept"),
  ],
  [
    "an order",
    order([item()]),
    said("[Order] 2 × tea (4.5 EUR)", {
      order: { catalogId: "cat-1", items: [{ productId: "tea", quantity: 2, price: "4.5", currency: "EUR" }] },
    }),
  ],
  [
    "an order with a text",
    order([item({ quantity: 1, item_price: 3 })], { text: "Please wrap it" }),
    said("[Order] 1 × tea (3 EUR), Please wrap it", {
      order: { catalogId: "cat-1", items: [{ productId: "tea", quantity: 1, price: "3", currency: "EUR" }] },
    }),
  ],
  [
    "an order with a price as text",
    order([item({ item_price: "19.90" })]),
    said("[Order] 2 × tea (19.90 EUR)", {
      order: { catalogId: "cat-1", items: [{ productId: "tea", quantity: 2, price: "19.90", currency: "EUR" }] },
    }),
  ],
  [
    "an order with a price in words",
    order([item({ item_price: "a lot", quantity: "some" })]),
    said("[Order] some × tea (a lot EUR)", {
      order: { catalogId: "cat-1", items: [{ productId: "tea", quantity: null, price: null, currency: "EUR" }] },
    }),
  ],
  ["an order of nothing", order([]), said("[Order]", { order: { catalogId: "cat-1", items: [] } })],
  [
    "an order of too much",
    order(Array.from({ length: 400 }, (_, i) => item({ product_retailer_id: `p${i}` }))),
    said(expect.stringMatching(/^\[Order\] 2 × p0/) as never, {
      order: expect.objectContaining({ catalogId: "cat-1", cut: true }),
    }),
  ],
  ["what WhatsApp does not show", unsupported(undefined), said("[Unsupported message] 131051")],
  ["a poll", unsupported("poll_creation"), said("[Unsupported message] poll_creation, 131051")],
  ["a GIF", unsupported("gif"), said("[Unsupported message] gif, 131051")],
  ["a pin", unsupported("pin"), said("[Unsupported message] pin, 131051")],
  ["content that is not available", unsupported(undefined, 131060), said("[Unsupported message] 131060")],
  [
    "the older form of it",
    { type: "unknown", errors: [{ code: 131051, details: "d", title: "t", href: "https://e.test" }] },
    said("[Unknown] 131051"),
  ],
  ["a kind of the future", { type: "hologram", hologram: { id: 1 } }, said("[Hologram]")],
  ["a reaction to nothing", { type: "reaction", reaction: { emoji: "👍" } }, said("[Reaction] 👍")],
  ["a reaction", { type: "reaction", reaction: { message_id: "wamid.none", emoji: "👍" } }, null],
  ["an edit", { type: "edit", edit: { original_message_id: "wamid.none", message: text("New") } }, null],
  ["a deletion", { type: "revoke", revoke: { original_message_id: "wamid.none" } }, null],
  ["a changed number", { type: "system", system: { type: "user_changed_number", body: "B", wa_id: "491799" } }, null],
  [
    "a changed identity",
    { type: "system", system: { type: "customer_identity_changed", body: "B", identity: "h" } },
    null,
  ],
  [
    "a changed user id",
    { type: "system", system: { type: "user_changed_user_id", previous_user_id: "DE.1", user_id: "DE.2" } },
    null,
  ],
  ["an opened chat", { type: "request_welcome" }, null],
  ["a text in a group", text("All", { group_id: "120363000000000000" }), null],
  ["a picture in a group", { ...media("image"), group_id: "120363000000000000" }, null],
  [
    "a text with fields that nobody knows",
    text("Hi", {
      from_logical_id: "1",
      identity: { hash: "h" },
      user_actions: {},
      conversation_context: {},
      new_field: { deep: 1 },
    }),
    said("Hi"),
  ],
  ["a text of 1970", text("Old", { timestamp: "0" }), said("Old", { networkTime: undefined })],
  ["a text of the year 2286", text("New", { timestamp: "9999999999" }), said("New", { networkTime: undefined })],
  ["a text without a time", text("When", { timestamp: undefined }), said("When", { networkTime: undefined })],
  ["a text with a time in words", text("When", { timestamp: "noon" }), said("When", { networkTime: undefined })],
];
