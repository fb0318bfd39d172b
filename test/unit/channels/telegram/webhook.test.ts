import type { Update } from "@grammyjs/types";
import fc from "fast-check";
import { expect, test } from "vitest";
import { telegram } from "../../../../src/channels/telegram/adapter.ts";
import { credentials } from "./network.ts";

const SECRET = "Zt9_-secretOfThisChannel0123456789";
const HEADER = "X-Telegram-Bot-Api-Secret-Token";

const ann = { id: 42, is_bot: false, first_name: "Ann", last_name: "Lee" } as const;
const withAnn = { id: 42, type: "private", first_name: "Ann", last_name: "Lee" } as const;
const group = { id: -1_001_234, type: "supergroup", title: "The Team" } as const;

function receive(body: unknown, headers: HeadersInit = { [HEADER]: SECRET }, secret = SECRET) {
  return telegram.receive(callOf(body, headers), credentials, secret);
}

function callOf(body: unknown, headers: HeadersInit) {
  const bytes = new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));
  return { headers: new Headers(headers), readBody: async () => Uint8Array.from(bytes) };
}

/** What came in an update with a message of these fields. */
function message(fields: Record<string, unknown>) {
  return receive({
    update_id: 1,
    message: { message_id: 7, date: 1_790_000_000, chat: withAnn, from: ann, ...fields },
  });
}

const hello: Update = {
  update_id: 1,
  message: { message_id: 7, date: 1_790_000_000, chat: withAnn, from: ann, text: "Hello" },
};

test("a genuine update with a text is one message", async () => {
  expect(await receive(hello)).toEqual({
    genuine: true,
    items: [
      {
        account: null,
        item: {
          kind: "message",
          networkId: "123456:42:7",
          address: "42",
          addresses: [],
          username: null,
          name: "Ann Lee",
          type: "TEXT",
          content: "Hello",
          media: null,
          networkTime: "2026-09-21T14:13:20.000Z",
        },
      },
    ],
    notes: [],
  });
});

test.each<[string, HeadersInit]>([
  ["no header", {}],
  ["an empty header", { [HEADER]: "" }],
  ["another secret", { [HEADER]: "Zt9_-secretOfAnotherChannel012345" }],
  ["the secret in other case", { [HEADER]: SECRET.toLowerCase() }],
  ["the secret cut", { [HEADER]: SECRET.slice(0, -1) }],
  ["the secret and more", { [HEADER]: `${SECRET}0` }],
  [
    "the secret twice",
    [
      [HEADER, SECRET],
      [HEADER, SECRET],
    ],
  ],
  ["the secret as a bearer token", { Authorization: `Bearer ${SECRET}` }],
  ["a signature", { "X-Hub-Signature-256": `sha256=${SECRET}` }],
  ["the header's name cut", { "X-Telegram-Bot-Api-Secret": SECRET }],
  ["the bot's token", { [HEADER]: credentials.botToken }],
])("an update with %s is not genuine", async (_, headers) => {
  expect(await receive(hello, headers)).toEqual({ genuine: false });
});

test("the header's name counts in any case", async () => {
  expect(await receive(hello, { [HEADER.toLowerCase()]: SECRET })).toMatchObject({ genuine: true });
});

test.each<[string, HeadersInit]>([
  ["no header", {}],
  ["an empty header", { [HEADER]: "" }],
  ["any header", { [HEADER]: SECRET }],
])("a channel without a secret takes nothing, with %s", async (_, headers) => {
  expect(await receive(hello, headers, "")).toEqual({ genuine: false });
});

test("an update without the header is not genuine, whatever the secret", async () => {
  expect(await receive(hello, {}, "null")).toEqual({ genuine: false });
});

test("no text but the secret is genuine", async () => {
  const printable = fc.string({ unit: fc.constantFrom(...SECRET.split("")), maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(printable, async (text) => {
      fc.pre(text !== SECRET);
      expect(await receive(hello, { [HEADER]: text })).toEqual({ genuine: false });
    }),
    { numRuns: 500 },
  );
});

const file = { file_id: "F1", file_unique_id: "U1", file_size: 9 };

test.each([
  [
    "a photo, in its largest size wherever that stands",
    {
      photo: [
        { ...file, width: 90, height: 60 },
        { ...file, file_id: "F3", width: 1_280, height: 853 },
        { ...file, file_id: "F2", width: 320, height: 213 },
      ],
    },
    "IMAGE",
    { id: "F3", contentType: "image/jpeg", fileName: null },
  ],
  [
    "a photo in two copies of one size, as the first",
    {
      photo: [
        { ...file, width: 90, height: 60 },
        { ...file, file_id: "F2", width: 90, height: 60 },
      ],
    },
    "IMAGE",
    { id: "F1", contentType: "image/jpeg", fileName: null },
  ],
  [
    "a document",
    { document: { ...file, file_name: "a.pdf", mime_type: "application/pdf" } },
    "DOCUMENT",
    { id: "F1", contentType: "application/pdf", fileName: "a.pdf" },
  ],
  ["a document without a name", { document: file }, "DOCUMENT", { id: "F1", contentType: null, fileName: null }],
  [
    "a document that a browser would run",
    { document: { ...file, file_name: "a.html", mime_type: "text/html" } },
    "DOCUMENT",
    { id: "F1", contentType: "text/html", fileName: "a.html" },
  ],
  [
    "audio",
    { audio: { ...file, duration: 3, file_name: "a.mp3", mime_type: "audio/mpeg" } },
    "AUDIO",
    { id: "F1", contentType: "audio/mpeg", fileName: "a.mp3" },
  ],
  [
    "a voice message",
    { voice: { ...file, duration: 3 } },
    "AUDIO",
    { id: "F1", contentType: "audio/ogg", fileName: null },
  ],
  [
    "a video",
    { video: { ...file, width: 4, height: 3, duration: 3, mime_type: "video/mp4" } },
    "VIDEO",
    { id: "F1", contentType: "video/mp4", fileName: null },
  ],
  [
    "a video note",
    { video_note: { ...file, length: 240, duration: 3 } },
    "VIDEO",
    { id: "F1", contentType: "video/mp4", fileName: null },
  ],
  [
    "an animation, with its twin document",
    { document: { ...file, file_id: "F9" }, animation: { ...file, mime_type: "video/mp4" } },
    "VIDEO",
    { id: "F1", contentType: "video/mp4", fileName: null },
  ],
])("%s comes as media, with its caption", async (_, fields, type, media) => {
  const bare = await message(fields);
  const captioned = await message({ ...fields, caption: "Look" });
  expect(bare).toMatchObject({ items: [{ item: { type, content: "", media } }], notes: [] });
  expect(captioned).toMatchObject({ items: [{ item: { type, content: "Look", media } }], notes: [] });
});

test.each([
  [{ sticker: { type: "regular", emoji: "🎉" } }, "[sticker: 🎉]"],
  [{ sticker: { file_id: "F".repeat(513) } }, "[sticker]"],
  [{ location: { latitude: 52.52, longitude: -13.4 } }, "[location: 52.52, -13.4]"],
  [{ location: { latitude: 0, longitude: 0 } }, "[location: 0, 0]"],
  [
    { location: { latitude: 1, longitude: 2 }, venue: { title: "Café", address: "Main St 1" } },
    "[venue: Café, Main St 1]",
  ],
  [{ contact: { first_name: "Bob", phone_number: "+49123" } }, "[contact: Bob, +49123]"],
  [{ contact: { first_name: "", last_name: "Lee", phone_number: "+49" } }, "[contact: Lee, +49]"],
  [{ poll: { id: "1", question: "Tea?", options: [] } }, "[poll: Tea?]"],
  [{ poll: { question: "" } }, "[poll]"],
  [{ dice: { emoji: "🎲", value: 0 } }, "[dice: 🎲, 0]"],
  [{ game: { title: "Chess" } }, "[game: Chess]"],
  [{ checklist: { title: "Go" } }, "[checklist: Go]"],
  [{ invoice: { title: "Go" } }, "[invoice: Go]"],
  [{ story: { id: 1 } }, "[story]"],
  [{ rich_message: { blocks: [] } }, "[rich message]"],
  [{ paid_media: { star_count: 1, paid_media: [] }, caption: "Buy" }, "[paid media] Buy"],
  [{ photo: [] }, "[photo]"],
  [{ photo: "not a list" }, "[photo]"],
  [{ document: { file_name: "a.pdf" }, caption: "Read" }, "[document: a.pdf] Read"],
  [{ document: { file_id: "F".repeat(513), file_name: "a.pdf" } }, "[document: a.pdf]"],
  [{ text: "" }, "[unsupported message]"],
  [{ text: 5 }, "[unsupported message]"],
  [{ sticker: null }, "[sticker]"],
  [{ poll: { question: { toString: "x" } } }, "[poll]"],
])("what has no counterpart comes as text that says what it was: %j", async (fields, content) => {
  expect(await message(fields)).toMatchObject({
    genuine: true,
    items: [{ item: { kind: "message", type: "TEXT", content, media: null } }],
    notes: [],
  });
});

test("a kind of the future is described by its name, which is in a note too", async () => {
  expect(await message({ kind_of_the_future: { text: "x" }, "a b": 1 })).toMatchObject({
    items: [{ item: { type: "TEXT", content: "[kind of the future]" } }],
    notes: ["message field kind_of_the_future is new", "message field with an unknown name is new"],
  });
});

test.each([
  ["the contact's names", { chat: withAnn }, "Ann Lee"],
  ["one name", { chat: { id: 42, type: "private", first_name: "Ann" } }, "Ann"],
  ["a username", { chat: { id: 42, type: "private", username: "ann" } }, "ann"],
  ["the sender's, where the chat tells none", { chat: { id: 42, type: "private" } }, "Ann Lee"],
  ["a group's title before its member's name", { chat: group }, "The Team"],
  ["none", { chat: { id: 42, type: "private" }, from: undefined }, null],
  ["none of a wrong type", { chat: { id: 42, type: "private", first_name: 5 }, from: "Ann" }, null],
  ["none of white space", { chat: { id: 42, type: "private", first_name: " " }, from: undefined }, null],
  ["one that is cut", { chat: { id: 42, type: "private", first_name: "a".repeat(500) } }, "a".repeat(200)],
])("the name is %s", async (_, fields, name) => {
  expect(await message({ text: "Hi", ...fields })).toMatchObject({ items: [{ item: { name } }] });
});

test("a group's messages have the group's address", async () => {
  const receipt = await message({ chat: group, text: "Hi" });
  expect(receipt).toMatchObject({ items: [{ item: { address: "-1001234", networkId: "123456:-1001234:7" } }] });
});

test("two bots' messages with the same number in the same chat are two", async () => {
  const receipt = await telegram.receive(callOf(hello, { [HEADER]: SECRET }), { botToken: "99:other" }, SECRET);
  expect(receipt).toMatchObject({ items: [{ item: { networkId: "99:42:7" } }] });
});

test("a repeated update has the same id though its update_id is another", async () => {
  const [one, other] = await Promise.all([receive(hello), receive({ ...hello, update_id: 900 })]);
  expect(one).toEqual(other);
});

test("ephemeral messages, which all have the number 0, are told apart", async () => {
  const receipts = await Promise.all(
    [
      { ephemeral_message_id: 1, date: 10 },
      { ephemeral_message_id: 2, date: 10 },
      { ephemeral_message_id: 1, date: 99 },
    ].map((fields) => message({ message_id: 0, text: "Hi", ...fields })),
  );
  const ids = receipts.flatMap((receipt) => (receipt.genuine ? receipt.items : [])).map(({ item }) => item);
  expect(ids).toMatchObject(
    ["123456:42:0.1.10", "123456:42:0.2.10", "123456:42:0.1.99"].map((networkId) => ({ networkId })),
  );
});

test.each([
  ["the old group", { chat: { id: -55, type: "group", title: "T" }, migrate_to_chat_id: -1_001_234 }],
  ["the new group", { chat: group, migrate_from_chat_id: -55 }],
])("a group's move, told by %s, changes the address and is no message", async (_, fields) => {
  expect(await message(fields)).toEqual({
    genuine: true,
    items: [{ account: null, item: { kind: "address", from: ["-55"], to: ["-1001234"], at: expect.any(Number) } }],
    notes: [],
  });
});

test.each([
  ["a channel's post", { update_id: 1, channel_post: hello.message }, "update not stored: channel_post"],
  ["a callback", { update_id: 1, callback_query: { id: "1", data: "x" } }, "update not stored: callback_query"],
  ["nothing else", { update_id: 1 }, "update not stored: empty"],
  ["a message without a number", { message: { chat: withAnn, text: "secret" } }, "update not stored: message"],
  ["a message without a chat", { message: { message_id: 7, text: "secret" } }, "update not stored: message"],
  ["a chat without an id", { message: { message_id: 7, chat: {} } }, "update not stored: message"],
  ["a chat id as text", { message: { message_id: 7, chat: { id: "42" } } }, "update not stored: message"],
  ["a chat id too large", { message: { message_id: 7, chat: { id: 1e30 } } }, "update not stored: message"],
  ["a message that is null", { message: null }, "update not stored: message"],
  ["null", "null", "update not stored: empty"],
  ["a number", "5", "update not stored: empty"],
  ["a list", "[]", "update not stored: empty"],
  [
    "four kinds, of which three are noted",
    { poll: {}, poll_answer: {}, my_chat_member: {}, chat_member: {} },
    "update not stored: poll, poll_answer, my_chat_member",
  ],
  [
    "keys that are no kinds",
    { "Ann's text": 1, UPPER: {}, words2: {}, ["x".repeat(41)]: {} },
    "update not stored: empty",
  ],
  ["a body cut short", '{"update_id":1,"mess', "body is not JSON"],
  ["an empty body", "", "body is not JSON"],
])("an update with %s is genuine and leaves a note alone", async (_, body, note) => {
  expect(await receive(body)).toEqual({ genuine: true, items: [], notes: [note] });
});

test("whatever a genuine body holds, nothing is thrown", async () => {
  await fc.assert(
    fc.asyncProperty(fc.json(), fc.object(), async (json, fields) => {
      expect(await receive(json)).toMatchObject({ genuine: true });
      expect(await message(fields)).toMatchObject({ genuine: true });
    }),
    { numRuns: 300 },
  );
});
