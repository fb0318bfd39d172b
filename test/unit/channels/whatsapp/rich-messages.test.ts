import fc from "fast-check";
import { expect, test, vi } from "vitest";
import type {
  ServerButtonMessage,
  ServerContactsMessage,
  ServerInteractiveMessage,
  ServerLocationMessage,
  ServerMessage,
  ServerReactionMessage,
  ServerStickerMessage,
} from "whatsapp-api-js/types";
import { callOf } from "./network.ts";
import { came, itemOf, PHONE, receive, status } from "./received.ts";

const TAP = "msg_g0123456789ABCDE1:2";
const AT = 1_700_000_000_000;

/** What one message makes, without what every message has. */
async function read(fields: object) {
  return itemOf({ messages: [came(fields)] });
}

test.each<[string, ServerInteractiveMessage | ServerButtonMessage, { data: string; title: string }, string?]>([
  [
    "a button",
    { type: "interactive", interactive: { type: "button_reply", button_reply: { id: TAP, title: "Yes" } } },
    { data: TAP, title: "Yes" },
  ],
  [
    "a row of a list",
    {
      type: "interactive",
      interactive: { type: "list_reply", list_reply: { id: TAP, title: "Large", description: "50 cm" } },
    },
    { data: TAP, title: "Large" },
    "Large\n50 cm",
  ],
  [
    "a quick reply of a template",
    { type: "button", button: { text: "Stop", payload: "STOP" } },
    { data: "STOP", title: "Stop" },
  ],
])("a tap on %s is a text with its title, and a quote", async (_, fields, tap, content = tap.title) => {
  expect(await read({ ...fields, context: { from: "15550001111", id: "wamid.ours" } })).toEqual({
    kind: "message",
    networkId: "wamid.1",
    address: PHONE,
    addresses: [],
    name: null,
    type: "TEXT",
    content,
    media: null,
    networkTime: new Date(AT).toISOString(),
    quote: "wamid.ours",
    tap,
  });
  expect(await read(fields)).not.toHaveProperty("quote");
});

test("a tap's data and title are bounded, and a tap without a title is described", async () => {
  const reply = (id: unknown, title: unknown) =>
    read({ type: "interactive", interactive: { type: "button_reply", button_reply: { id, title } } });
  expect(await reply("x".repeat(300), "y".repeat(300))).toMatchObject({
    content: "y".repeat(256),
    tap: { data: "x".repeat(256), title: "y".repeat(256) },
  });
  expect(await reply(TAP, 5)).toMatchObject({ content: "[Reply] 5", tap: { data: TAP, title: "" } });
  expect(await reply(TAP, undefined)).toMatchObject({ content: "[Reply]", tap: { data: TAP, title: "" } });
  expect(await reply(5, "Yes")).not.toHaveProperty("tap");
});

test("a reply quotes a message, and a forwarded message and a strange context quote none", async () => {
  const text = { type: "text", text: { body: "Yes" } };
  const context: ServerMessage["context"] = { from: "15550001111", id: "wamid.ours" };
  expect(await read({ ...text, context })).toMatchObject({ content: "Yes", quote: "wamid.ours" });
  for (const strange of [{ forwarded: true }, { id: 5 }, { id: "" }, { id: "x".repeat(513) }, "wamid.ours", null]) {
    const item = await read({ ...text, context: strange });
    expect(item).toMatchObject({ content: "Yes" });
    expect(item).not.toHaveProperty("quote");
  }
});

test("a location has its place and a description, and what is not one line becomes one", async () => {
  const message: ServerLocationMessage = {
    type: "location",
    location: { latitude: "52.5", longitude: "-13.4", name: "Alex", address: "Mitte\n10178", url: "https://x.test" },
  };
  expect(await read(message)).toMatchObject({
    type: "TEXT",
    content: "[Location] Alex, Mitte\n10178, 52.5, -13.4, https://x.test",
    location: { latitude: 52.5, longitude: -13.4, name: "Alex", address: "Mitte 10178" },
  });
  const bare = await read({ type: "location", location: { latitude: 90, longitude: -180, name: "\n", address: 7 } });
  expect(bare).toMatchObject({ location: { latitude: 90, longitude: -180 } });
  expect(Object.keys(bare && "location" in bare ? (bare.location ?? {}) : {})).toEqual(["latitude", "longitude"]);
  const long = { latitude: 0, longitude: 0, name: "n".repeat(300), address: "a".repeat(300) };
  expect(await read({ type: "location", location: long })).toMatchObject({
    location: { name: "n".repeat(256), address: "a".repeat(256) },
  });
});

test.each<[unknown, unknown]>([
  [90.000_1, 0],
  [0, 180.000_1],
  [null, 0],
  ["52,5", 0],
  ["1e1", 0],
  [0, undefined],
  [{}, []],
  [Number.NaN, 0],
])("%j, %j is no place on the earth", async (latitude, longitude) => {
  expect(await read({ type: "location", location: { latitude, longitude } })).not.toHaveProperty("location");
});

test("contact cards keep a name and their phones, at most five of each, in one line each", async () => {
  const card = (formatted_name: unknown, ...phones: unknown[]) => ({
    name: { formatted_name, first_name: "B" },
    phones: phones.map((phone) => ({ phone, wa_id: "1", type: "CELL" })),
  });
  const { contacts } = { contacts: [card("Bob", "+1 555", "+1 556")] } as Pick<ServerContactsMessage, "contacts">;
  expect(await read({ type: "contacts", contacts })).toMatchObject({
    type: "TEXT",
    content: "[Contact] Bob +1 555 +1 556",
    contacts: [{ name: "Bob", phones: ["+1 555", "+1 556"] }],
  });
  const many = Array.from({ length: 7 }, (_, i) => card(`C${i}`, ...Array.from({ length: 7 }, (_, j) => `+${i}${j}`)));
  const strange = [card("No phone"), 5, { phones: "x" }, card(7, " +49\n1 ", 3), card("n".repeat(200), "1".repeat(99))];
  const item = await read({ type: "contacts", contacts: [...strange, ...many] });
  expect(item && "contacts" in item ? item.contacts : null).toEqual([
    { name: "+49 1", phones: ["+49 1"] },
    { name: "n".repeat(128), phones: ["1".repeat(32)] },
    ...[0, 1, 2].map((i) => ({ name: `C${i}`, phones: [0, 1, 2, 3, 4].map((j) => `+${i}${j}`) })),
  ]);
});

test("a sticker is an image with a description", async () => {
  const message: ServerStickerMessage = {
    type: "sticker",
    sticker: { id: "9", mime_type: "image/webp", sha256: "x", animated: true, url: "https://lookaside.fbsbx.com/x" },
  };
  expect(await read(message)).toMatchObject({
    type: "IMAGE",
    content: "[Sticker]",
    media: { id: "9", contentType: "image/webp", fileName: null },
    sticker: { emoji: null },
  });
});

test.each<[ServerReactionMessage["reaction"] | { emoji: null; message_id: string }, string | null]>([
  [{ message_id: "wamid.ours", emoji: "👍" }, "👍"],
  [{ message_id: "wamid.ours", emoji: "" }, null],
  [{ message_id: "wamid.ours" } as ServerReactionMessage["reaction"], null],
  [{ message_id: "wamid.ours", emoji: null }, null],
])("the reaction %j is no message", async (reaction, emoji) => {
  expect(await read({ type: "reaction", reaction })).toEqual({
    kind: "reaction",
    networkId: "wamid.ours",
    address: PHONE,
    emoji,
    at: AT,
  });
});

test("an invalid emoji takes no reaction back: it is described", async () => {
  for (const emoji of [5, "x".repeat(33), "\n"]) {
    const item = await read({ type: "reaction", reaction: { message_id: "wamid.ours", emoji } });
    expect(item).toMatchObject({ kind: "message", type: "TEXT" });
  }
});

test.each([undefined, "soon", "9999999999", "99999999999", 12, null, {}])(
  "the time %j is the time now",
  async (timestamp) => {
    vi.useFakeTimers({ toFake: ["Date"], now: AT + 5 });
    const reaction = { message_id: "wamid.ours", emoji: "👍" };
    expect(await read({ type: "reaction", reaction, timestamp })).toMatchObject({ at: AT + 5 });
    expect(await read({ type: "reaction", reaction, timestamp: 1_700_000_000 })).toMatchObject({ at: AT });
    vi.useRealTimers();
  },
);

/** As the networks' documents show it: no package has this type. */
const edited = (message: unknown) => ({ type: "edit", edit: { original_message_id: "wamid.0", message } });

test.each<[string, object, string]>([
  ["a text", { type: "text", text: { body: "New" }, context: { message_id: "wamid.x" } }, "New"],
  ["a caption", { type: "image", image: { id: "9", caption: "New" } }, "New"],
  ["a caption that was removed", { type: "video", video: { id: "9" } }, ""],
])("an edit of %s is one, from its own time", async (_, message, content) => {
  expect(await read(edited(message))).toEqual({
    kind: "edit",
    networkId: "wamid.0",
    address: PHONE,
    content,
    at: AT,
  });
});

test("a deletion names the message", async () => {
  expect(await read({ type: "revoke", revoke: { original_message_id: "wamid.0" } })).toEqual({
    kind: "revoke",
    networkId: "wamid.0",
    address: PHONE,
  });
});

test.each<[string, object, string]>([
  ["an edit without its message", { type: "edit", edit: { message: { type: "text" } } }, "edit not understood"],
  [
    "an edit of a location",
    edited({ type: "location", location: { latitude: 1, longitude: 2 } }),
    "edit not understood",
  ],
  ["an edit of a text without a text", edited({ type: "text", text: {} }), "edit not understood"],
  ["an edit of media that is not one", edited({ type: "image", image: "x" }), "edit not understood"],
  ["an edit without content", edited(undefined), "edit not understood"],
  ["an edit that is not one", { type: "edit", edit: 5 }, "edit not understood"],
  ["a deletion of nothing", { type: "revoke", revoke: {} }, "revoke not understood"],
  ["a deletion that is not one", { type: "revoke" }, "revoke not understood"],
  ["a deletion by nobody", { type: "revoke", from: undefined }, "message without a sender"],
])("%s leaves a note, and does not hold up the rest", async (_, fields, note) => {
  const good = came({ id: "wamid.2", type: "text", text: { body: "Hi" } });
  const { items, notes } = await receive(callOf({ messages: [came(fields), good] }));
  expect(notes).toEqual([note]);
  expect(items).toMatchObject([{ item: { networkId: "wamid.2" } }]);
});

test("a status of our reaction says when we reacted, and others don't", async () => {
  const ids = "cht_g0123456789ABCDE.msg_g0123456789ABCDE";
  const ofStatus = (biz_opaque_callback_data: string) => itemOf({ statuses: [status({ biz_opaque_callback_data })] });
  expect(await ofStatus(`${ids}.reaction.1790000000123`)).toMatchObject({
    chatId: "cht_g0123456789ABCDE",
    messageId: "msg_g0123456789ABCDE",
    reactionAt: 1_790_000_000_123,
  });
  expect(await ofStatus(ids)).not.toHaveProperty("reactionAt");
  for (const wrong of [".reaction", ".reaction.", ".reaction.x", `.reaction.${"1".repeat(16)}`, ".other.5"]) {
    expect(await ofStatus(ids + wrong)).toMatchObject({ chatId: null, messageId: null });
    expect(await ofStatus(ids + wrong)).not.toHaveProperty("reactionAt");
  }
});

test("whatever these messages hold, nothing is lost without a note, and nothing is thrown", async () => {
  const types = ["interactive", "button", "location", "contacts", "sticker", "reaction", "edit", "revoke"];
  const keys = [
    "id",
    "title",
    "payload",
    "text",
    "type",
    "button_reply",
    "list_reply",
    "latitude",
    "longitude",
    "name",
  ];
  const more = [
    "phones",
    "phone",
    "message_id",
    "emoji",
    "original_message_id",
    "message",
    "caption",
    "formatted_name",
  ];
  const part = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom<unknown>("text", "button_reply", TAP, "👍", 0, 91, -1, null, true, "", "__proto__", "\ud800"),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...keys, ...more), tie("value"), { maxKeys: 5 }),
    ),
  })).value;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...types), part, part, part, async (type, value, context, timestamp) => {
      const message = came({ type, [type]: value, context, timestamp });
      const { items, notes } = await receive(callOf({ messages: [message] }));
      const others = notes.filter((note) => !note.endsWith(" is new"));
      expect(items.length + others.length).toBe(1);
    }),
    { numRuns: 500 },
  );
});
