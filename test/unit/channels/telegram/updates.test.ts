import type {
  CallbackQuery,
  Contact,
  Location,
  Message,
  MessageReactionUpdated,
  Sticker,
  Venue,
} from "@grammyjs/types";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { readUpdate } from "../../../../src/channels/telegram/update.ts";
import { TOKEN } from "./network.ts";

const ann = { id: 42, is_bot: false, first_name: "Ann", last_name: "Lee" } as const;
const withAnn = { id: 42, type: "private", first_name: "Ann", last_name: "Lee" } as const;
const group = { id: -1_001_234, type: "supergroup", title: "The Team" } as const;
const DATE = 1_700_000_000;
const TAP = "msg_g0123456789ABCDE1:2";

const read = (update: object) => readUpdate({ update_id: 1, ...update }, TOKEN);
const base = { message_id: 7, date: DATE, chat: withAnn, from: ann };
/** What a message with these fields makes. */
const came = (fields: Partial<Message> | object) => read({ message: { ...base, ...fields } }).items[0]?.item;
const edited = (fields: Partial<Message> | object) => read({ edited_message: { ...base, ...fields } });
const file = { file_id: "F1", file_unique_id: "U1" };

test.each<[string, Partial<Sticker>, string, string]>([
  ["a picture", { is_animated: false, is_video: false }, "IMAGE", "image/webp"],
  ["a video", { is_animated: false, is_video: true }, "VIDEO", "video/webm"],
  ["an animation", { is_animated: true, is_video: false }, "DOCUMENT", "application/x-tgsticker"],
  ["a picture, as far as Telegram tells", {}, "IMAGE", "image/webp"],
])("a sticker that is %s comes as media with a description", (_, fields, type, contentType) => {
  const sticker = { ...file, type: "regular", width: 512, height: 512, emoji: "🎉", set_name: "party", ...fields };
  expect(came({ sticker })).toMatchObject({
    type,
    content: "[sticker: 🎉]",
    media: { id: "F1", contentType, fileName: null },
    sticker: { emoji: "🎉" },
  });
});

test.each<[string, object, object]>([
  [
    "the largest photo",
    {
      photo: [
        { ...file, width: 90, height: 60, file_size: 1_000 },
        { ...file, file_id: "F2", width: 900, height: 600, file_size: 50_000 },
      ],
    },
    { id: "F2", contentType: "image/jpeg", fileName: null, size: 50_000, width: 900, height: 600 },
  ],
  [
    "a video",
    { video: { ...file, width: 640, height: 360, duration: 3, file_name: "a.mp4", mime_type: "video/mp4" } },
    { id: "F1", contentType: "video/mp4", fileName: "a.mp4", width: 640, height: 360 },
  ],
  [
    "a round video",
    { video_note: { ...file, length: 240, duration: 3, file_size: 7 } },
    { id: "F1", contentType: "video/mp4", fileName: null, size: 7, width: 240, height: 240 },
  ],
  [
    "a voice note",
    { voice: { ...file, duration: 3, file_size: 9 } },
    { id: "F1", contentType: "audio/ogg", fileName: null, size: 9 },
  ],
  [
    "an animation that is a sticker",
    { sticker: { ...file, width: 512, height: 512, is_animated: true, file_size: 8 } },
    { id: "F1", contentType: "application/x-tgsticker", fileName: null, size: 8, width: 512, height: 512 },
  ],
  [
    "a file with numbers that are none",
    { document: { ...file, file_size: -1, width: 1.5, height: "9" } },
    { id: "F1", contentType: null, fileName: null },
  ],
  [
    "a video of unknown sides",
    { video: { ...file, width: 0, height: 0, file_size: 2 ** 60 } },
    { id: "F1", contentType: null, fileName: null },
  ],
])("the media of %s has the size and the sides that Telegram tells", (_, fields, media) => {
  expect(came(fields)).toMatchObject({ kind: "message", media: expect.toSatisfy(Boolean) });
  expect((came(fields) as { media: object }).media).toEqual(media);
});

test("a sticker without an emoji, or with an invalid one, is still a sticker", () => {
  for (const emoji of [undefined, 5, "", "x".repeat(33)]) {
    expect(came({ sticker: { ...file, emoji } })).toMatchObject({ type: "IMAGE", sticker: { emoji: null } });
  }
});

test("a location, a venue and a contact have their fields and a description", () => {
  const location: Location = { latitude: 52.52, longitude: -13.4, live_period: 60 };
  expect(came({ location })).toMatchObject({
    type: "TEXT",
    content: "[location: 52.52, -13.4]",
    location: { latitude: 52.52, longitude: -13.4 },
  });
  const venue: Venue = { location: { latitude: 1, longitude: 2 }, title: "Café", address: "Main St 1\nTown" };
  expect(came({ venue, location: venue.location })).toMatchObject({
    content: "[venue: Café, Main St 1\nTown]",
    location: { latitude: 1, longitude: 2, name: "Café", address: "Main St 1 Town" },
  });
  const contact: Contact = { phone_number: "+49123", first_name: "Bob", last_name: "Lee", vcard: "BEGIN:VCARD" };
  expect(came({ contact })).toMatchObject({
    content: "[contact: Bob, Lee, +49123]",
    contacts: [{ name: "Bob Lee", phones: ["+49123"] }],
  });
});

test.each<[string, object]>([
  ["a place off the earth", { location: { latitude: 91, longitude: 0 } }],
  ["a place without a longitude", { location: { latitude: 1 } }],
  ["a contact without a number", { contact: { first_name: "Bob" } }],
  ["a contact that is not one", { contact: "Bob" }],
])("%s is described alone", (_, fields) => {
  const item = came(fields);
  expect(item).toMatchObject({ kind: "message", type: "TEXT" });
  expect(item).not.toHaveProperty("location");
  expect(item).not.toHaveProperty("contacts");
});

test("a reply quotes a message of its chat, and one that can't be read quotes none", () => {
  const quoted = { message_id: 5, date: DATE, chat: withAnn };
  expect(came({ text: "Yes", reply_to_message: quoted })).toMatchObject({ content: "Yes", quote: "123456:42:5" });
  const ephemeral = { message_id: 0, ephemeral_message_id: 3, date: DATE };
  expect(came({ text: "Yes", reply_to_message: ephemeral })).toMatchObject({ quote: `123456:42:0.3.${DATE}` });
  for (const reply_to_message of [{}, "5", null, { message_id: "5" }]) {
    const item = came({ text: "Yes", reply_to_message });
    expect(item).toMatchObject({ content: "Yes" });
    expect(item).not.toHaveProperty("quote");
  }
});

const markup = {
  inline_keyboard: [[{ text: "No", callback_data: "msg_g0123456789ABCDE1:1" }], [{ text: "Yes", callback_data: TAP }]],
};
const query: CallbackQuery = {
  id: "4382bfdwdsb323b2d9",
  from: ann,
  message: { message_id: 5, date: DATE, chat: withAnn, text: "Tea?", reply_markup: markup },
  chat_instance: "8428209589180549439",
  data: TAP,
};

test("a tap is a text with the button's title, a quote and a receipt", () => {
  expect(read({ callback_query: query })).toEqual({
    items: [
      {
        account: null,
        item: {
          kind: "message",
          networkId: "123456:42:tap.4382bfdwdsb323b2d9",
          address: "42",
          addresses: [],
          username: null,
          name: "Ann Lee",
          type: "TEXT",
          content: "Yes",
          media: null,
          tap: { data: TAP, title: "Yes" },
          quote: "123456:42:5",
        },
        receipt: "4382bfdwdsb323b2d9",
      },
    ],
    notes: [],
  });
});

test.each<[string, object, object]>([
  [
    "on an old message, which has nothing but its ids",
    { message: { message_id: 5, date: 0, chat: withAnn } },
    { address: "42", quote: "123456:42:5", content: "[button]", tap: { data: TAP, title: "" } },
  ],
  [
    "in a group",
    { message: { message_id: 5, date: 0, chat: group } },
    { address: "-1001234", name: "The Team", networkId: "123456:-1001234:tap.4382bfdwdsb323b2d9" },
  ],
  ["on a message that can't be read", { message: "x" }, { address: "42", content: "[button]" }],
  ["with forged data", { data: "x".repeat(300) }, { tap: { data: "x".repeat(256), title: "" } }],
  [
    "on a button with a strange title",
    { message: { ...query.message, reply_markup: { inline_keyboard: [[{ text: 5, callback_data: TAP }], 7] } } },
    { content: "[button]", tap: { data: TAP, title: "" } },
  ],
])("a tap %s is still stored", (_, fields, expected) => {
  const { items } = read({ callback_query: { ...query, ...fields } });
  expect(items).toMatchObject([{ item: expected, receipt: query.id }]);
});

test("a tap without a message is its sender's, and quotes nothing", () => {
  const { message: _, ...inline } = query;
  const { items } = read({ callback_query: { ...inline, inline_message_id: "1" } });
  expect(items).toMatchObject([{ item: { address: "42", name: "Ann Lee" } }]);
  expect(items[0]?.item).not.toHaveProperty("quote");
});

test.each<[string, object]>([
  ["a game's button", { data: undefined, game_short_name: "chess" }],
  ["nobody's tap", { from: undefined }],
  ["a tap without an id", { id: "" }],
  ["a tap with a long id", { id: "x".repeat(65) }],
])("%s leaves a note", (_, fields) => {
  const note = "update not stored: callback_query";
  expect(read({ callback_query: { ...query, ...fields } })).toEqual({ items: [], notes: [note] });
});

test.each<[string, object, string]>([
  ["a text", { text: "New" }, "New"],
  ["a caption", { photo: [{ ...file, width: 1, height: 1 }], caption: "New" }, "New"],
  ["a caption that was removed", { document: file }, ""],
  ["a caption of what is described", { paid_media: {}, caption: "New" }, "[paid media] New"],
])("an edit of %s is one, from its own time", (_, fields, content) => {
  expect(edited({ ...fields, edit_date: DATE + 60 })).toEqual({
    items: [
      {
        account: null,
        item: { kind: "edit", networkId: "123456:42:7", address: "42", content, at: (DATE + 60) * 1_000 },
      },
    ],
    notes: [],
  });
});

test.each<[string, object]>([
  ["a live location that moves", { location: { latitude: 1, longitude: 2 } }],
  ["a poll", { poll: { question: "Tea?" } }],
  ["an empty text", { text: "" }],
  ["a message without a number", { message_id: undefined, text: "New" }],
])("an edit of %s leaves a note", (_, fields) => {
  expect(edited({ ...fields, edit_date: DATE })).toEqual({ items: [], notes: ["update not stored: edited_message"] });
});

test("an edit without a time, or with one far ahead, is one of now", () => {
  const now = DATE * 1_000 + 5;
  vi.useFakeTimers({ toFake: ["Date"], now });
  const day = DATE + 86_400;
  for (const edit_date of [undefined, "x", -1, 1e12, day + 1, 9_999_999_999]) {
    expect(edited({ text: "New", edit_date }).items).toMatchObject([{ item: { at: now } }]);
  }
  // Clocks may differ.
  expect(edited({ text: "New", edit_date: day }).items).toMatchObject([{ item: { at: day * 1_000 } }]);
  vi.useRealTimers();
});

const like = { type: "emoji", emoji: "👍" } as const;
const fire = { type: "emoji", emoji: "🔥" } as const;
const custom = { type: "custom_emoji", custom_emoji_id: "1" } as const;
type Reactions = Pick<MessageReactionUpdated, "old_reaction" | "new_reaction">;

test.each<[string, Reactions, string | null]>([
  ["the first", { old_reaction: [], new_reaction: [like] }, "👍"],
  ["another one", { old_reaction: [like], new_reaction: [fire] }, "🔥"],
  ["taken back", { old_reaction: [like], new_reaction: [] }, null],
  ["a second one", { old_reaction: [fire], new_reaction: [like, fire] }, "👍"],
  ["one of two", { old_reaction: [like, fire], new_reaction: [like] }, "👍"],
  ["a custom one, which counts as none", { old_reaction: [like], new_reaction: [custom] }, null],
  ["a custom one and another", { old_reaction: [], new_reaction: [like, custom] }, "👍"],
  ["a paid one", { old_reaction: [], new_reaction: [{ type: "paid" }] }, null],
])("a reaction that is %s", (_, reactions, emoji) => {
  const update: MessageReactionUpdated = { chat: withAnn, message_id: 5, user: ann, date: DATE, ...reactions };
  const item = { kind: "reaction", networkId: "123456:42:5", address: "42", emoji, at: DATE * 1_000 };
  expect(read({ message_reaction: update })).toEqual({ items: [{ account: null, item }], notes: [] });
});

test("a reaction with very many emojis is read in one pass", () => {
  // So many that the test would run out of time if they were compared in pairs.
  const many = <T>(each: T) => Array<T>(200_000).fill(each);
  const reactions = { old_reaction: [...many(like), fire], new_reaction: many(fire) };
  const update = { chat: withAnn, message_id: 5, user: ann, date: DATE, ...reactions };
  expect(read({ message_reaction: update }).items).toMatchObject([{ item: { emoji: "🔥" } }]);
});

test("an anonymous reaction is the group's, and one that can't be read leaves a note", () => {
  const update: MessageReactionUpdated = {
    ...{ chat: group, message_id: 5, date: DATE, actor_chat: group },
    ...{ old_reaction: [], new_reaction: [like] },
  };
  expect(read({ message_reaction: update }).items).toMatchObject([{ item: { address: "-1001234", emoji: "👍" } }]);
  const strange = { ...update, old_reaction: 5, date: "x" };
  expect(read({ message_reaction: strange }).items).toMatchObject([{ item: { emoji: "👍" } }]);
  for (const fields of [{ new_reaction: undefined }, { message_id: "5" }, { chat: {} }]) {
    const note = "update not stored: message_reaction";
    expect(read({ message_reaction: { ...update, ...fields } })).toEqual({ items: [], notes: [note] });
  }
  const long = { ...update, new_reaction: [{ type: "emoji", emoji: "x".repeat(33) }, 7, { type: "emoji" }] };
  expect(read({ message_reaction: long }).items).toMatchObject([{ item: { emoji: null } }]);
});

test("whatever an update of these kinds holds, it is an item or a note, and nothing is thrown", () => {
  const part = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom<unknown>("emoji", "👍", TAP, 42, 0, -1, 1e30, null, true, "", "__proto__", "\ud800"),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(
        fc.constantFrom("id", "chat", "from", "message", "message_id", "data", "type", "emoji", "file_id", "latitude"),
        tie("value"),
        { maxKeys: 5 },
      ),
    ),
  })).value;
  const kinds = ["message", "edited_message", "callback_query", "message_reaction"];
  const names = ["sticker", "location", "venue", "contact", "new_reaction", "old_reaction", "data", "reply_to_message"];
  fc.assert(
    fc.property(
      fc.constantFrom(...kinds),
      fc.dictionary(fc.constantFrom(...names), part),
      part,
      (kind, fields, any) => {
        for (const update of [{ [kind]: { ...base, id: "1", ...fields } }, { [kind]: any }]) {
          const { items, notes } = read(update);
          const others = notes.filter((note) => !note.endsWith(" is new"));
          expect(items.length + others.length).toBe(1);
        }
      },
    ),
    { numRuns: 500 },
  );
});

test.each<[string, object, string]>([
  ["a link", { text: "Hi", entities: [{ type: "text_link", offset: 0, length: {}, url: "https://a.example" }] }, "Hi"],
  ["a link's place", { text: "Hi", entities: [{ type: "text_link", offset: {}, length: 2 }] }, "Hi"],
  ["a list", { rich_message: { blocks: [{ items: [{ label: {}, text: "One" }] }] } }, "One"],
  ["shared people", { users_shared: { users: [{ first_name: {} }, { user_id: 8 }] } }, "[users shared: 8]"],
])("%s that has an object in place of a value does not hide its message", (_, fields, content) => {
  // Made by JSON, so that it has no method.
  const strange = JSON.stringify(fields).replaceAll("{}", '{"toString":"text","valueOf":1}');
  expect(came(JSON.parse(strange) as object)).toMatchObject({ content });
});
