import { expect, test } from "vitest";
import { readUpdate } from "../../../../src/channels/telegram/update.ts";
import { ann, arrived, came, group, withAnn } from "./arrived.ts";
import { TOKEN } from "./network.ts";

test.each<[string, object, string | undefined]>([
  ["a topic", { message_thread_id: 9, is_topic_message: true }, "9"],
  ["the second topic", { message_thread_id: 2, is_topic_message: true }, "2"],
  ["the general topic", { message_thread_id: 1, is_topic_message: true }, undefined],
  ["a thread of replies", { message_thread_id: 9 }, undefined],
  ["a thread of replies outside topics", { message_thread_id: 9, is_topic_message: false }, undefined],
  ["a topic without an id", { is_topic_message: true }, undefined],
])("a message in %s", (_, fields, topic) => {
  expect((came({ chat: group, text: "Hi", ...fields }) as { topic?: string }).topic).toBe(topic);
});

test.each<[string, object, object | undefined]>([
  ["a member", { from: ann }, { id: "42", name: "Ann Lee" }],
  ["a member of a small group", { chat: { ...group, type: "group" } }, { id: "42", name: "Ann Lee" }],
  ["a member with a tag", { sender_tag: "Sales" }, { id: "42", name: "Ann Lee (Sales)" }],
  [
    "an administrator with a title",
    { author_signature: "Owner", sender_tag: "x" },
    { id: "42", name: "Ann Lee (Owner)" },
  ],
  ["the group itself", { sender_chat: group }, { id: "-1001234", name: "The Team" }],
  ["a member without a name", { from: { id: 42 }, sender_tag: "Sales" }, { id: "42", name: null }],
  ["a member without an id", { from: { first_name: "Ann" } }, undefined],
  ["nobody", { from: undefined }, undefined],
  ["the contact of a private chat", { chat: withAnn }, undefined],
  ["a chat of a kind that begins like a group", { chat: { ...group, type: "groups" } }, undefined],
  ["a chat of a kind that ends like a group", { chat: { ...group, type: "megagroup" } }, undefined],
  ["a chat of no kind", { chat: { id: -7, title: "T" } }, undefined],
])("the author of a message by %s", (_, fields, author) => {
  expect((came({ chat: group, text: "Hi", ...fields }) as { author?: object }).author).toEqual(author);
});

test("a member's title has one line of at most 200 characters", () => {
  const authorOf = (sender_tag: string) =>
    (came({ chat: group, text: "Hi", sender_tag }) as { author?: object }).author;
  expect(authorOf("Sales\nNorth")).toMatchObject({ name: "Ann Lee (Sales North)" });
  expect(authorOf("x".repeat(201))).toMatchObject({ name: `Ann Lee (${"x".repeat(200)})` });
});

test.each<[string, object, boolean]>([
  ["a message of another chat", { forward_origin: { type: "user" } }, true],
  ["a post of the linked channel", { is_automatic_forward: true }, true],
  ["a message of its own", { is_automatic_forward: false }, false],
  ["a message", {}, false],
])("%s is forwarded: %s", (_, fields, forwarded) => {
  expect((came({ text: "Hi", ...fields }) as { forwarded?: string }).forwarded).toBe(forwarded ? "once" : undefined);
});

test("a chat's user name is stored, and null in place of an empty one", () => {
  expect(came({ text: "Hi", chat: { ...withAnn, username: "ann" } })).toMatchObject({ username: "ann" });
  expect(came({ text: "Hi", chat: { ...withAnn, username: "" } })).toMatchObject({ username: null });
});

test.each<[string, object, string[]]>([
  ["the contact's own", { contact: { user_id: 42, phone_number: "4915112345" } }, ["+4915112345"]],
  ["the contact's own, with a plus", { contact: { user_id: 42, phone_number: "+4915112345" } }, ["+4915112345"]],
  ["of 7 digits", { contact: { user_id: 42, phone_number: "1234567" } }, ["+1234567"]],
  ["of 6 digits", { contact: { user_id: 42, phone_number: "123456" } }, []],
  ["of 15 digits", { contact: { user_id: 42, phone_number: "1".repeat(15) } }, [`+${"1".repeat(15)}`]],
  ["of 16 digits", { contact: { user_id: 42, phone_number: "1".repeat(16) } }, []],
  ["with a zero in front", { contact: { user_id: 42, phone_number: "04915112345" } }, []],
  ["with other characters", { contact: { user_id: 42, phone_number: "x4915112345" } }, []],
  ["that is no text", { contact: { user_id: 42, phone_number: 4_915_112_345 } }, []],
  ["somebody else's", { contact: { user_id: 43, phone_number: "4915112345" } }, []],
  ["of a card without a user", { contact: { phone_number: "4915112345" } }, []],
  ["sent by somebody else", { contact: { user_id: 42, phone_number: "4915112345" }, from: { id: 43 } }, []],
  ["in a group", { contact: { user_id: 42, phone_number: "4915112345" }, chat: group }, []],
])("a number %s is an address only if it is the contact's: %j", (_, fields, addresses) => {
  expect(came(fields)).toMatchObject({ addresses });
});

test.each<[string, object]>([
  ["a new member", { new_chat_members: [ann] }],
  ["a pinned message", { pinned_message: { message_id: 5 } }],
  ["a new topic", { forum_topic_created: { name: "Orders" } }],
])("%s is a note and no message", (_, fields) => {
  expect(arrived({ chat: group, ...fields })).toEqual({ items: [], notes: ["service message"] });
});

test("a notice beside words or a kind that is described is a message", () => {
  const notice = { pinned_message: { message_id: 5 } };
  expect(came({ ...notice, text: "Hi" })).toMatchObject({ content: "Hi" });
  expect(came({ ...notice, dice: { emoji: "🎲", value: 3 } })).toMatchObject({ content: "[dice: 🎲, 3]" });
  expect(came({ ...notice, document: { file_id: "F1" } })).toMatchObject({ type: "DOCUMENT" });
  expect(came({ ...notice, rich_message: { blocks: [{ text: "Hi" }] } })).toMatchObject({ content: "Hi" });
});

test("fields that nobody knows are counted by their names, and only a plain name is told", () => {
  expect(arrived({ text: "Hi", brand_new: 1, "a b": 2 })).toMatchObject({
    notes: ["message field brand_new is new", "message field with an unknown name is new"],
    unknown: [
      { account: null, name: "message.brand_new" },
      { account: null, name: "message" },
    ],
  });
  expect(arrived({ text: "Hi" })).not.toHaveProperty("unknown");
});

test("an unknown kind of update is counted, and known ones beside it are not", () => {
  expect(readUpdate({ update_id: 1, brand_new: {}, poll: {}, message: {} }, TOKEN)).toEqual({
    items: [],
    notes: ["update not stored: brand_new, poll, message"],
    unknown: [{ account: null, name: "update.brand_new" }],
  });
});

test.each([
  ["a".repeat(40), true],
  ["a".repeat(41), false],
  ["kind of the future", false],
  ["Kind", false],
])("a field named %s is what the message says: %s", (name, isTold) => {
  expect(came({ [name]: {} })).toMatchObject({ content: isTold ? `[${name}]` : "[unsupported message]" });
});

const tap = (message: object, from: object = ann) => {
  const data = "msg_g0123456789ABCDE1:2";
  const update = { update_id: 1, callback_query: { id: "7", from, data, message: { message_id: 5, ...message } } };
  return readUpdate(update, TOKEN).items[0]?.item;
};

test("a tap has the topic of its message, and none is known of an old one", () => {
  const inTopic = { chat: group, message_thread_id: 9, is_topic_message: true };
  expect(tap({ ...inTopic, date: 1_700_000_000 })).toMatchObject({ topic: "9" });
  expect(tap({ chat: group, date: 1_700_000_000 })).not.toHaveProperty("topic");
  expect(tap({ ...inTopic, date: 0 })).toMatchObject({ topic: null });
});

test("a tap has the user name of its chat, and in a group the name of who tapped", () => {
  const date = 1_700_000_000;
  expect(tap({ chat: { ...withAnn, username: "ann" }, date })).toMatchObject({ username: "ann", name: "Ann Lee" });
  expect(tap({ chat: withAnn, date })).not.toHaveProperty("author");
  expect(tap({ chat: group, date })).toMatchObject({ name: "The Team", author: { id: "42", name: "Ann Lee" } });
  expect(tap({ chat: { id: -7 }, date })).toMatchObject({ name: "Ann Lee" });
});
