import { expect, test } from "vitest";
import { readExtras } from "../../src/web/shared/message/extras.ts";

test("a message without extras has none", () => {
  expect(readExtras({ id: "msg_1", content: "Hi" })).toEqual({});
});

test("replies have what a tap sends, links their address, and other choices neither", () => {
  const choices = [
    { type: "reply", id: "msg_1:0", title: "Refund", description: "In 3 days" },
    { type: "link", title: "Track", url: "https://x.test/" },
    { type: "location", title: "Where?" },
  ];
  expect(readExtras({ interactive: { choices, header: "Order", rendering: "list" } })).toEqual({
    interactive: {
      header: "Order",
      footer: "",
      choices: [
        { title: "Refund", description: "In 3 days", section: "", id: "msg_1:0", url: null },
        { title: "Track", description: "", section: "", id: null, url: "https://x.test/" },
        { title: "Where?", description: "", section: "", id: null, url: null },
      ],
    },
  });
});

test("replies of a section stand together, where the first of them is", () => {
  const choices = [
    { type: "reply", id: "msg_1:0", title: "8:00", section: "Morning" },
    { type: "reply", id: "msg_1:1", title: "Never" },
    { type: "reply", id: "msg_1:2", title: "9:00", section: "Morning" },
  ];
  expect(readExtras({ interactive: { choices } }).interactive?.choices).toMatchObject([
    { section: "Morning", id: "msg_1:0" },
    { section: "Morning", id: "msg_1:2" },
    { section: "", id: "msg_1:1" },
  ]);
});

test("a reply, a tap, an edit and reactions are read", () => {
  const reactions = [
    { by: "contact", emoji: "🎉", at: "2026-11-20T08:00:00.000Z" },
    { by: "organization", emoji: "👍", at: "2026-11-20T08:00:00.000Z" },
  ];
  const choice = { title: "Refund", messageId: "msg_1" };
  expect(readExtras({ replyTo: "msg_1", choice, reactions, editedAt: "2026-11-20T08:00:00.000Z" })).toEqual({
    replyTo: "msg_1",
    choice,
    reactions: [
      { by: "contact", emoji: "🎉" },
      { by: "organization", emoji: "👍" },
    ],
    isEdited: true,
  });
});

test("a tap on a message that the chat doesn't have marks nothing", () => {
  expect(readExtras({ choice: { title: "Refund", messageId: null } })).toEqual({});
});

test("a place leads to a map, and cards are lines of text", () => {
  const location = { latitude: 52.5, longitude: 13.4, name: "Shop", address: "1 Main St" };
  const contacts = [{ name: "Ada", phones: ["+1", "+2"] }, { name: "Ben" }];
  const map = "https://www.openstreetmap.org/?mlat=52.5&mlon=13.4#map=16/52.5/13.4";
  expect(readExtras({ location, contacts }).details).toEqual([
    { text: "Shop", href: null },
    { text: "1 Main St", href: null },
    { text: "52.5, 13.4", href: map },
    { text: "Ada · +1 · +2", href: null },
    { text: "Ben", href: null },
  ]);
  expect(readExtras({ location: { latitude: 0, longitude: 0 } }).details).toMatchObject([{ text: "0, 0" }]);
});

test.each([
  { interactive: null, choice: null, location: null, contacts: null, reactions: null, replyTo: null, editedAt: null },
  { choice: 5, location: "here", contacts: {}, reactions: "🎉", replyTo: 5, editedAt: 5 },
  { location: { latitude: "52", longitude: 13 }, contacts: [null], reactions: [], choice: {} },
])("%j has nothing to show", (message) => {
  expect(readExtras(message)).toEqual({});
});

test("choices of another shape are left out", () => {
  const empty = { header: "", footer: "", choices: [] };
  expect(readExtras({ interactive: { choices: 5, header: 5 } })).toEqual({ interactive: empty });
  expect(readExtras({ interactive: { choices: [null] } }).interactive?.choices).toEqual([
    { title: "", description: "", section: "", id: null, url: null },
  ]);
});

test("a file has a name, and a picture its sides", () => {
  const media = { contentType: "image/png", size: 7, fileName: "a.png", width: 2, height: 3 };
  expect(readExtras({ media })).toEqual({ file: { name: "a.png", kind: "picture", size: 7, width: 2, height: 3 } });
  expect(readExtras({ media: { contentType: "application/pdf", fileName: null } })).toEqual({
    file: { name: "application/pdf", kind: "other", size: null, width: null, height: null },
  });
  // A drawing can hold a program.
  const huge = { contentType: "image/png", width: 30_000, height: 30_000 };
  expect([huge, { ...huge, height: 2_000 }].map((one) => readExtras({ media: one }).file?.kind)).toEqual([
    "other",
    "picture",
  ]);
  expect(readExtras({ media: { contentType: "image/svg+xml" } }).file?.kind).toBe("other");
});

test("a picture that the service stores and could not measure is a link, and a network's own is shown", () => {
  const kindOf = (media: object) => readExtras({ media: { contentType: "image/gif", ...media } }).file?.kind;
  expect([kindOf({ size: 174_000 }), kindOf({ size: 174_000, width: 1, height: 1 }), kindOf({})]).toEqual([
    "other",
    "picture",
    "picture",
  ]);
});
