import { expect, test } from "vitest";
import { givenContent } from "../../src/cli/parley/commands/content-options.ts";
import { givenParts } from "../../src/cli/parley/commands/template-options.ts";
import { messageText } from "../../src/cli/parley/message-text.ts";

test("options become the fields of a send, and nothing without them", () => {
  expect(givenContent({})).toEqual({});
  expect(givenContent({ choice: ["a=b=c | d|e"], header: "H" }).interactive).toEqual({
    choices: [{ type: "reply", id: "a", title: "b=c", description: "d|e" }],
    header: "H",
  });
  expect(givenContent({ "ask-location": "Where are you?" }).interactive?.choices).toEqual([
    { type: "location", title: "Where are you?" },
  ]);
  expect(givenContent({ link: ["A=https://a.example/?q=1"] }).interactive?.choices).toEqual([
    { type: "link", title: "A", url: "https://a.example/?q=1" },
  ]);
  expect(givenContent({ location: " 52.52 , +13.4" }).location).toEqual({ latitude: 52.52, longitude: 13.4 });
  expect(givenContent({ location: "-1,-2,A, B" }).location).toEqual({ latitude: -1, longitude: -2, name: "A, B" });
  expect(givenContent({ contact: ["Ada=1, +2"] }).contacts).toEqual([{ name: "Ada", phones: ["1", "+2"] }]);
});

test.each([
  [{ choice: ["Today"] }, "--choice must have the form"],
  [{ choice: ["=Today"] }, "--choice must have the form"],
  [{ link: ["https://shop.example/"] }, "--link must have the form"],
  [{ contact: ["Ada"] }, "--contact must have the form"],
  [{ location: "Berlin" }, "--location must have the form"],
  [{ location: "52.52" }, "--location must have the form"],
  [{ location: "NaN,Infinity" }, "--location must have the form"],
  [{ footer: "Free" }, "need choices"],
])("%j is a mistake in the command", (given, text) => {
  expect(() => givenContent(given)).toThrow(
    expect.objectContaining({ message: expect.stringContaining(text), exitCode: 2 }),
  );
});

test("options become the values of a template's header and buttons", () => {
  expect(givenParts({})).toBeUndefined();
  expect(givenParts({}, "med_1")).toEqual({ header: { mediaId: "med_1" } });
  expect(givenParts({ "header-media": "https://a.example/a.jpg", button: ["0=url:a=b:c", "11=code:X"] })).toEqual({
    header: { mediaUrl: "https://a.example/a.jpg" },
    buttons: [
      { index: 0, urlSuffix: "a=b:c" },
      { index: 11, code: "X" },
    ],
  });
  expect(givenParts({ button: ["1=payload:yes"] })).toEqual({ buttons: [{ index: 1, payload: "yes" }] });
  expect(givenParts({ "header-variable": ["order=7"] })).toEqual({ header: { variables: { order: "7" } } });
  expect(givenParts({ "header-location": "52.5,13.4, Office, Main Street 1, Berlin" })?.header?.location).toEqual({
    ...{ latitude: 52.5, longitude: 13.4, name: "Office", address: "Main Street 1, Berlin" },
  });
});

test.each([
  [{ button: ["4711"] }, "--button must have the form"],
  [{ button: ["0=4711"] }, "--button must have the form"],
  [{ button: ["0=link:4711"] }, "--button must have the form"],
  [{ button: ["a=url:4711"] }, "--button must have the form"],
  [{ "header-variable": ["7"] }, "--header-variable must have the form"],
  [{ "header-location": "Berlin" }, "--header-location must have the form"],
  [{ "header-location": "52.5,13.4,Office" }, "needs a name and an address"],
])("%j is a mistake in the command about a template", (given, text) => {
  expect(() => givenParts(given)).toThrow(
    expect.objectContaining({ message: expect.stringContaining(text), exitCode: 2 }),
  );
});

test.each([
  [{ text: "Hello" }, "Hello"],
  [{ content: "Hello" }, "Hello"],
  [{ text: "Today", choice: { id: "a", title: "Today" }, replyTo: "msg_1" }, "(reply to msg_1) Today (tapped)"],
  [{ text: "Sticker 👍", sticker: { emoji: "👍" } }, "Sticker 👍 (sticker)"],
  [{ text: "Yes", editedAt: "2026-11-20T10:00:00Z" }, "Yes (edited)"],
  [{ text: "", redactedAt: "2026-11-20T10:00:00Z" }, "(redacted)"],
  [{ text: "", deletedAt: "2026-11-20T10:00:00Z" }, "(deleted by the contact)"],
  [{ text: "", direction: "OUTBOUND", origin: "app", deletedAt: "2026-11-20T10:00:00Z" }, "(from the app) (deleted)"],
  [{ text: "Hi", direction: "OUTBOUND", origin: "network" }, "Hi (from the network's agent)"],
  [{ text: "Hi", direction: "OUTBOUND", origin: "away" }, "Hi (away)"],
  [{ text: "Hi", direction: "INBOUND", standby: true }, "Hi (to the network's agent)"],
  [
    {
      text: "Hi",
      author: { id: "5", name: "Bo" },
      referral: { headline: "Tea", url: "https://fb.me/a" },
      product: { productId: "tea" },
      forwarded: "many",
    },
    "Bo: Hi (from Tea https://fb.me/a) (about product tea) (forwarded many times)",
  ],
  [{ text: "", voice: false, price: { category: "utility", billable: false } }, "(sent as audio) (free: utility)"],
  [
    {
      text: "Hi",
      reactions: [
        { by: "contact", emoji: "❤️" },
        { by: "organization", emoji: "👍" },
      ],
    },
    "Hi (❤️ by the contact) (👍 by you)",
  ],
])("%j is shown as %j", (message, text) => {
  expect(messageText(message)).toBe(text);
});
