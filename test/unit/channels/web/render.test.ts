import { expect, test } from "vitest";
import { visitorMessage } from "../../../../src/channels/web/render.ts";
import type { Message } from "../../../../src/model/message.ts";

const AT = "2026-11-20T12:00:00.000Z";

function message(change: Partial<Message> = {}): Message {
  return {
    id: "msg_g000000000000000",
    chatId: "cht_g000000000000000",
    seq: 1,
    direction: "OUTBOUND",
    type: "TEMPLATE",
    content: "Hi",
    mediaUrl: null,
    senderId: "mbr_g000000000000000",
    templateId: "tpl_g000000000000000",
    variables: { name: "Ada" },
    text: "Hi Ada",
    status: "SENT",
    error: null,
    metadata: { ticket: "7" },
    createdAt: AT,
    updatedAt: AT,
    sentAt: AT,
    deliveredAt: AT,
    readAt: AT,
    failedAt: AT,
    scheduledAt: AT,
    expiresAt: AT,
    resendOf: "msg_g000000000000001",
    ...change,
  };
}

const shownOf = (shown: Message) => visitorMessage(shown, ({ id }) => `https://parley.test/${id}`);

test("a visitor sees of a message what is meant for a visitor", () => {
  expect(shownOf(message())).toEqual({
    id: "msg_g000000000000000",
    chatId: "cht_g000000000000000",
    seq: 1,
    direction: "OUTBOUND",
    type: "TEMPLATE",
    content: "Hi",
    mediaUrl: null,
    text: "Hi Ada",
    status: "SENT",
    error: null,
    createdAt: AT,
    updatedAt: AT,
  });
});

test("a message without more has no fields for it", () => {
  expect(Object.keys(shownOf(message()))).toEqual(
    "id chatId seq direction type content mediaUrl text status error createdAt updatedAt".split(" "),
  );
});

test("a visitor sees the choices, each reply with the message and its index in place of the company's own id", () => {
  const choices = [
    { type: "reply" as const, id: "refund-4711", title: "Refund", description: "In 3 days", section: "Money" },
    { type: "reply" as const, id: "exchange-4711", title: "Exchange" },
  ];
  const texts = { header: "Order", footer: "Shop", menuTitle: "Options", rendering: "list" as const };
  const shown = shownOf(message({ interactive: { choices, ...texts } }));
  expect(shown.interactive).toEqual({
    choices: [
      { ...choices[0], id: "msg_g000000000000000:0" },
      { ...choices[1], id: "msg_g000000000000000:1" },
    ],
    ...texts,
  });
  expect(JSON.stringify(shown)).not.toContain("4711");
});

test("links and a request for the location stay as they are", () => {
  const links = {
    choices: [{ type: "link" as const, title: "Track", url: "https://x.test/" }],
    rendering: "link" as const,
  };
  const place = { choices: [{ type: "location" as const, title: "Where?" }], rendering: "text" as const };
  expect(shownOf(message({ interactive: links })).interactive).toEqual(links);
  expect(shownOf(message({ interactive: place })).interactive).toEqual(place);
});

test("a visitor sees which choice was tapped, without the company's own id of it", () => {
  const choice = { id: "refund-4711", title: "Refund", messageId: "msg_g000000000000007" };
  expect(shownOf(message({ choice })).choice).toEqual({ title: "Refund", messageId: "msg_g000000000000007" });
});

test.each<Partial<Message>>([
  { sender: { name: "Ada" } },
  { replyTo: "msg_g000000000000007" },
  { location: { latitude: 52.5, longitude: 13.4, name: "Shop" } },
  { contacts: [{ name: "Ada", phones: ["+1"] }] },
  { sticker: { emoji: null } },
  { reactions: [{ by: "contact", emoji: "❤️", at: AT }] },
  { editedAt: AT },
  { deletedAt: AT },
  { redactedAt: AT },
])("a visitor sees %j", (field) => {
  expect(shownOf(message(field))).toMatchObject(field);
});

test("an uploaded file is shown by a link, and an address that the company gave as it is", () => {
  const media = { contentType: "image/png", size: 5 };
  const mediaUrl = "https://parley.test/api/v1/chats/cht_g000000000000000/messages/msg_g000000000000000/media";
  expect(shownOf(message({ media, mediaUrl }))).toMatchObject({
    media,
    mediaUrl: "https://parley.test/msg_g000000000000000",
  });
  expect(shownOf(message({ mediaUrl: "https://shop.example/a.png" })).mediaUrl).toBe("https://shop.example/a.png");
});
