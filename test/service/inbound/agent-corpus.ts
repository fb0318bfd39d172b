import type { Case } from "./whatsapp-corpus.ts";

/** Sends of Meta's own agent in the shapes that its reports have: each has the body of a send. */
const said = (content: string, more: object = {}) => ({ type: "TEXT", content, ...more });
const choices = (fields: object) => ({ type: "interactive", interactive: fields });
const card = { name: { formatted_name: "Bo Lee", first_name: "Bo" }, phones: [{ phone: "+49 170 1", type: "CELL" }] };

export const AGENT: Case[] = [
  ["a text", { type: "text", text: { body: "At nine", preview_url: false } }, said("At nine")],
  ["a text in other letters", { type: "text", text: { body: "Grüße 🎉 שלום" } }, said("Grüße 🎉 שלום")],
  ["a text without a type", { text: { body: "At nine" } }, said("At nine")],
  [
    "a reply to a message that nobody has",
    { context: { message_id: "wamid.none" }, type: "text", text: { body: "Yes" } },
    said("Yes"),
  ],
  [
    "a picture of an upload",
    { type: "image", image: { id: "77", caption: "The shop" } },
    { type: "IMAGE", content: "The shop", media: { contentType: "application/octet-stream" } },
  ],
  [
    "a picture behind a link",
    { type: "image", image: { link: "https://shop.test/a.png", caption: "The shop" } },
    said("[Image] The shop https://shop.test/a.png"),
  ],
  [
    "a document of an upload",
    { type: "document", document: { id: "78", filename: "plan.pdf" } },
    { type: "DOCUMENT", content: "", media: { contentType: "application/octet-stream", fileName: "plan.pdf" } },
  ],
  [
    "a sticker of an upload",
    { type: "sticker", sticker: { id: "79" } },
    { type: "IMAGE", content: "[Sticker]", media: { contentType: "image/webp" }, sticker: { emoji: null } },
  ],
  [
    "a location",
    { type: "location", location: { latitude: 52.5, longitude: 13.4, name: "Shop", address: "Main St" } },
    said("[Location] Shop, Main St, 52.5, 13.4", {
      location: { latitude: 52.5, longitude: 13.4, name: "Shop", address: "Main St" },
    }),
  ],
  [
    "a card",
    { type: "contacts", contacts: [card] },
    said("[Contact] Bo Lee +49 170 1", { contacts: [{ name: "Bo Lee", phones: ["+49 170 1"] }] }),
  ],
  [
    "a template",
    { type: "template", template: { name: "welcome", language: { code: "en_US" }, components: [] } },
    said("[Template] welcome"),
  ],
  [
    "buttons",
    choices({
      type: "button",
      header: { type: "text", text: "Tea" },
      body: { text: "Which one?" },
      footer: { text: "All fresh" },
      action: { buttons: [{ type: "reply", reply: { id: "1", title: "Green" } }] },
    }),
    said("Tea\nWhich one?\nAll fresh\n[Green]"),
  ],
  [
    "a list",
    choices({
      type: "list",
      body: { text: "Which one?" },
      action: { button: "Choose", sections: [{ title: "Tea", rows: [{ id: "1", title: "Green" }] }] },
    }),
    said("Which one?\n[Green]"),
  ],
  [
    "a form",
    choices({
      type: "flow",
      body: { text: "Tell us more" },
      action: { name: "flow", parameters: { flow_cta: "Open", flow_id: "1" } },
    }),
    said("Tell us more"),
  ],
  [
    "a reaction to a message that nobody has",
    { type: "reaction", reaction: { message_id: "wamid.x", emoji: "👍" } },
    null,
  ],
  ["a text to a group", { recipient_type: "group", to: "Y2FwaV9ncm91cA", type: "text", text: { body: "All" } }, null],
  ["nothing", {}, said("[Text]")],
];
