import { expect, test } from "vitest";
import { describe } from "../../../../src/channels/whatsapp/describe.ts";
import { callOf, PHONE_ID } from "./network.ts";
import { came, itemOf, receive } from "./received.ts";

const SHOWN = ["text", "image", "video", "audio", "document", "sticker", "location", "contacts", "button"];
const KNOWN = [...SHOWN, "interactive", "order", "reaction", "edit", "revoke", "system", "unsupported", "unknown"];

test.each([...KNOWN, "request_welcome"])("the type %s of a message is not new", async (type) => {
  expect((await receive(callOf({ messages: [came({ type })] }))).unknown).toBeUndefined();
});

test.each(KNOWN.flatMap((type) => [`${type}x`, `x${type}`]))("the type %s of a message is new", async (type) => {
  expect((await receive(callOf({ messages: [came({ type })] }))).unknown).toEqual([
    { account: PHONE_ID, name: `type.${type}` },
  ]);
});

test("a first word to the company without a message is no item", async () => {
  expect(await receive(callOf({ messages: [came({ type: "request_welcome" })] }))).toEqual({
    genuine: true,
    items: [],
    notes: ["request_welcome ignored"],
  });
});

test.each([{ type: "text", text: { body: "Hi" } }, { type: "request_welcome" }, { type: "system" }])(
  "a message to a group is no item, nor its sender's: %j",
  async (fields) => {
    expect(await receive(callOf({ messages: [came({ ...fields, group_id: "Y2F" })] }))).toEqual({
      genuine: true,
      items: [],
      notes: ["groups_not_supported"],
      groups: [PHONE_ID],
    });
  },
);

test("only a text has a body, and only buttons and rows of a list are taps", async () => {
  for (const type of ["hologram", "button", "location"]) {
    const { items } = await receive(callOf({ messages: [came({ type, [type]: { body: "Hi" } })] }));
    expect(items).toMatchObject([{ item: { content: `[${type[0]?.toUpperCase()}${type.slice(1)}]` } }]);
  }
  const interactive = { type: "new_reply", new_reply: { id: "1", title: "Yes" } };
  const { items } = await receive(callOf({ messages: [came({ type: "interactive", interactive })] }));
  expect(items).toMatchObject([{ item: { content: "[Form]" } }]);
  expect(items[0]?.item).not.toHaveProperty("tap");
});

test("a row of a list without a text for its description has its title alone", async () => {
  const list_reply = { id: "1", title: "Large", description: 5 };
  const interactive = { type: "list_reply", list_reply };
  expect(await itemOf({ messages: [came({ type: "interactive", interactive })] })).toMatchObject({ content: "Large" });
});

test("an edit of a text has a body, and not a caption", async () => {
  const edit = (message: object) =>
    receive(callOf({ messages: [came({ type: "edit", edit: { original_message_id: "wamid.0", message } })] }));
  expect((await edit({ type: "text", text: { caption: "New" } })).notes).toEqual(["edit not understood"]);
  expect((await edit({ type: "image", image: { body: "New" } })).items).toMatchObject([{ item: { content: "" } }]);
});

test.each([
  ["audio", { id: "1", voice: true }, true],
  ["audio", { id: "1", voice: "true" }, undefined],
  ["audio", { id: "1" }, undefined],
])("%s with %j is a voice note: %s", async (type, part, voice) => {
  const item = await itemOf({ messages: [came({ type, [type]: part })] });
  expect(item && "voice" in item ? item.voice : undefined).toBe(voice);
});

test("only audio is a voice note", async () => {
  const { items } = await receive(callOf({ messages: [came({ type: "video", video: { id: "1", voice: true } })] }));
  expect(items).toMatchObject([{ item: { type: "VIDEO" } }]);
  expect(items[0]?.item).not.toHaveProperty("voice");
});

test.each<[string, unknown, unknown, string]>([
  ["button", { text: "Yes" }, undefined, "[Button] Yes"],
  ["button", { text: 5 }, undefined, "[Button] 5"],
  ["button", { text: true }, undefined, "[Button]"],
  ["reaction", { emoji: "" }, undefined, "[Reaction removed]"],
  ["reaction", {}, undefined, "[Reaction removed]"],
  ["reaction", { emoji: "👍" }, undefined, "[Reaction] 👍"],
  [
    "location",
    { name: "Alex", address: "Mitte", latitude: 52.5, longitude: 13.4, url: "https://x.test" },
    undefined,
    "[Location] Alex, Mitte, 52.5, 13.4, https://x.test",
  ],
  ["location", { latitude: 0, longitude: 0 }, undefined, "[Location] 0, 0"],
  [
    "contacts",
    [
      {
        name: { formatted_name: "Ann" },
        org: { company: "Acme" },
        phones: [{ phone: "+49" }],
        emails: [{ email: "a@x.test" }, { type: "WORK" }],
        urls: [{ url: "https://x.test" }],
      },
      { name: { formatted_name: "Bo" } },
    ],
    undefined,
    "[Contact] Ann Acme +49 a@x.test https://x.test, Bo",
  ],
  [
    "order",
    {
      text: "Please",
      product_items: [
        { quantity: 2, product_retailer_id: "P1", item_price: 9.5, currency: "EUR" },
        { quantity: "3", product_retailer_id: "P2", item_price: 1 },
        { product_retailer_id: "P3", currency: "EUR" },
        {},
      ],
    },
    undefined,
    "[Order] 2 × P1 (9.5 EUR), 3 × P2 (1), 1 × P3 (EUR), 1 × , Please",
  ],
  ["unsupported", { type: "poll" }, [{ code: 131051 }, { title: "no code" }], "[Unsupported message] poll, 131051"],
  ["unsupported", undefined, undefined, "[Unsupported message]"],
  ["text", undefined, [{ code: 1 }, { code: "2" }], "[Text] 1, 2"],
  ["text", undefined, { code: 1 }, "[Text]"],
  ["a_new_kind_of_it", {}, undefined, "[A new kind of it]"],
  ["a".repeat(40), {}, undefined, `[A${"a".repeat(39)}]`],
  ["aB", {}, undefined, "[Message]"],
  ["1a", {}, undefined, "[Message]"],
  ["_a", {}, undefined, "[Message]"],
  ["a\nb", {}, undefined, "[Message]"],
])("a message of type %j with %j and the errors %j is described as %s", (type, part, errors, text) => {
  expect(describe(type, part, errors)).toBe(text);
});

test.each<[object, string]>([
  [{ type: "button_reply", button_reply: { title: "Yes" } }, "[Reply] Yes"],
  [{ button_reply: { title: "Yes" } }, "[Reply] Yes"],
  [{ type: "list_reply", list_reply: { title: "Large", description: "50 cm" } }, "[Reply] Large, 50 cm"],
  [{ list_reply: { title: "Large" } }, "[Reply] Large"],
  [{ type: "button_reply" }, "[Reply]"],
  [{ type: "list_reply", list_reply: { description: "50 cm" } }, "[Reply] 50 cm"],
  [{ type: "call_permission_reply", call_permission_reply: { response: "accept" } }, "[Permission to call] accept"],
  [{ type: "nfm_reply" }, "[Form]"],
  [{ type: "button_replyx" }, "[Form]"],
  [{ type: "xlist_reply" }, "[Form]"],
])("the interactive message %j is described as %s", (part, text) => {
  expect(describe("interactive", part, undefined)).toBe(text);
});

test("a description has at most 1,000 characters, and none of what it only inherits", () => {
  const text = "x".repeat(1_000 - "[Button] ".length);
  expect(describe("button", { text }, undefined)).toBe(`[Button] ${text}`);
  expect(describe("button", { text: `${text}y` }, undefined)).toBe(`[Button] ${text}`);
  expect(describe("button", Object.create({ text: "Yes" }), undefined)).toBe("[Button]");
});
