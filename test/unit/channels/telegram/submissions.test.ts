import { expect, test } from "vitest";
import { came } from "./arrived.ts";

test.each<[string, object, string, object]>([
  [
    "a web app's data",
    { web_app_data: { button_text: "Order", data: '{"tea":2}' } },
    '[web app data: Order, {"tea":2}]',
    { kind: "web_app", data: { button_text: "Order", data: '{"tea":2}' } },
  ],
  [
    "a payment",
    { successful_payment: { currency: "EUR", total_amount: 250, invoice_payload: "7" } },
    "[successful payment: 250 of the smallest unit of EUR]",
    { kind: "payment", data: { currency: "EUR", total_amount: 250, invoice_payload: "7" } },
  ],
  [
    "a payment of Stars",
    { successful_payment: { currency: "XTR", total_amount: 5 } },
    "[successful payment: 5 XTR]",
    { kind: "payment", data: { currency: "XTR", total_amount: 5 } },
  ],
  [
    "a payment that says little",
    { successful_payment: {} },
    "[successful payment: ? of the smallest unit of a currency]",
    { kind: "payment", data: {} },
  ],
  [
    "a refund",
    { refunded_payment: { currency: "XTR", total_amount: 5 } },
    "[refunded payment: 5 XTR]",
    { kind: "payment", data: { refunded: true, currency: "XTR", total_amount: 5 } },
  ],
  [
    "shared people, without their pictures",
    {
      users_shared: {
        request_id: 1,
        users: [
          { user_id: 8, first_name: "Bo", username: "bo", photo: [{}] },
          { user_id: 9, username: "cy" },
          { user_id: 10 },
        ],
      },
    },
    "[users shared: Bo, cy, 10]",
    {
      kind: "users",
      data: {
        request_id: 1,
        users: [{ user_id: 8, first_name: "Bo", username: "bo" }, { user_id: 9, username: "cy" }, { user_id: 10 }],
      },
    },
  ],
  [
    "shared people that are no list",
    { users_shared: { request_id: 1, users: "Bo" } },
    "[users shared]",
    { kind: "users", data: { request_id: 1 } },
  ],
  [
    "a shared chat, without its picture",
    { chat_shared: { request_id: 1, chat_id: -7, title: "Team", username: "team", photo: [{}] } },
    "[chat shared: Team, team, -7]",
    { kind: "chat", data: { request_id: 1, chat_id: -7, title: "Team", username: "team" } },
  ],
])("%s is described, and handed over as it is", (_, fields, content, submitted) => {
  const item = came(fields);
  expect(item).toMatchObject({ type: "TEXT", content, media: null });
  expect(item).toHaveProperty("submitted", submitted);
});

test("a message that has a text or hands nothing over has no submission", () => {
  const web_app_data = { button_text: "Order", data: "1" };
  for (const fields of [{ text: "Hi", web_app_data }, { text: "Hi" }, { poll: { question: "Tea?" } }]) {
    expect(came(fields)).not.toHaveProperty("submitted");
  }
});

test.each<[object, string]>([
  [{ gift: { gift: { id: "1" } } }, "[gift]"],
  [{ unique_gift: { gift: { name: "x" } } }, "[unique gift]"],
  [{ giveaway: { prize_description: "A cup" } }, "[giveaway: A cup]"],
  [{ giveaway_winners: { prize_description: "A cup" } }, "[giveaway winners: A cup]"],
  [{ live_photo: { file_id: "F1" } }, "[live photo]"],
  [{ animation: { file_name: "a.gif" } }, "[animation: a.gif]"],
  [{ audio: { file_name: "a.mp3" } }, "[audio: a.mp3]"],
  [{ poll: { question: ` ${"x".repeat(400)}` } }, `[poll: ${"x".repeat(300)}]`],
  [{ poll: { question: `${"x".repeat(299)}🎉` } }, `[poll: ${"x".repeat(299)}\ufffd]`],
])("what Telegram alone has is described: %j", (fields, content) => {
  expect(came(fields)).toMatchObject({ type: "TEXT", content, media: null });
});

test("a contact without one of its names has the other", () => {
  const namesOf = (contact: object) => (came({ contact }) as { contacts?: object[] }).contacts;
  expect(namesOf({ first_name: "", last_name: "Lee", phone_number: "1" })).toEqual([{ name: "Lee", phones: ["1"] }]);
  expect(namesOf({ first_name: "Bob", last_name: 5, phone_number: "1" })).toEqual([{ name: "Bob", phones: ["1"] }]);
});

test("a place, a card and a sticker beside a text are no part of it", () => {
  const location = { latitude: 1, longitude: 2 };
  const sticker = { file_id: "F1", emoji: "🎉" };
  const item = came({ text: "Hi", location, sticker, contact: { first_name: "Bob", phone_number: "1" } });
  expect(item).toMatchObject({ type: "TEXT", content: "Hi", media: null });
  for (const name of ["location", "contacts", "sticker"]) expect(item).not.toHaveProperty(name);
});

test.each<[string, object, string]>([
  ["words that the contact chose", { quote: { text: "at noon", is_manual: true } }, "Yes\n[quote: at noon]"],
  ["words that Telegram chose", { quote: { text: "at noon", is_manual: false } }, "Yes"],
  ["words that nobody is said to have chosen", { quote: { text: "at noon" } }, "Yes"],
  ["another chat's photo", { external_reply: { photo: [] } }, "Yes\n[external reply: photo]"],
  ["another chat's text", { external_reply: {} }, "Yes\n[external reply]"],
  ["a story", { reply_to_story: { id: 1 } }, "Yes\n[reply to story]"],
  [
    "all of them",
    { quote: { text: "a", is_manual: true }, external_reply: { dice: {} }, reply_to_story: {} },
    "Yes\n[quote: a]\n[external reply: dice]\n[reply to story]",
  ],
])("a message that answers %s says so on a line of its own", (_, fields, content) => {
  expect(came({ text: "Yes", ...fields })).toMatchObject({ content });
});

test("a file without a caption that answers a story says only that", () => {
  const voice = { file_id: "F1", duration: 3 };
  expect(came({ voice, reply_to_story: {} })).toMatchObject({ type: "AUDIO", content: "[reply to story]" });
});

test("links behind the words of a text and of a caption follow them", () => {
  const link = [{ type: "text_link", offset: 0, length: 4, url: "https://a.example/" }];
  expect(came({ text: "Shop", entities: link })).toMatchObject({ content: "Shop (https://a.example/)" });
  const photo = [{ file_id: "F1", width: 1, height: 1 }];
  expect(came({ photo, caption: "Shop", caption_entities: link })).toMatchObject({
    content: "Shop (https://a.example/)",
  });
});

test("a voice note is told from other audio", () => {
  const file = { file_id: "F1", duration: 3 };
  expect(came({ voice: file })).toMatchObject({ type: "AUDIO", voice: true });
  expect(came({ audio: file })).not.toHaveProperty("voice");
  expect(came({ audio: file, voice: file })).not.toHaveProperty("voice");
});

test.each([
  ["F".repeat(512), true],
  ["F".repeat(513), false],
  ["", false],
])("an id of a file has 1 to 512 characters: %s", (file_id, isFile) => {
  expect((came({ document: { file_id } }) as { media: unknown }).media !== null).toBe(isFile);
});

test("a file of unknown size and type says nothing of them", () => {
  const { media } = came({ document: { file_id: "F1" } }) as { media: object };
  expect(Object.keys(media)).toEqual(["id", "contentType", "fileName"]);
});

test("a file of zero bytes has its size, and sides need each other", () => {
  const mediaOf = (fields: object) => (came({ video: { file_id: "F1", ...fields } }) as { media: unknown }).media;
  const known = { id: "F1", contentType: null, fileName: null };
  expect(mediaOf({ file_size: 0, width: 640 })).toEqual({ ...known, size: 0 });
  expect(mediaOf({ height: 480, width: 0 })).toEqual(known);
  expect(mediaOf({ height: 0, width: 640 })).toEqual(known);
});
