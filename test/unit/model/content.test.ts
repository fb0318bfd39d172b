import { expect, test } from "vitest";
import {
  type Choice,
  hasDetails,
  isMediaType,
  MESSAGE_TYPES,
  parseTap,
  RENDERINGS,
  tapData,
} from "../../../src/model/content.ts";

test("types and renderings are those that clients and stored messages have", () => {
  expect(MESSAGE_TYPES).toEqual(["TEXT", "IMAGE", "DOCUMENT", "AUDIO", "VIDEO", "TEMPLATE"]);
  expect(RENDERINGS).toEqual(["buttons", "list", "link", "keyboard", "text"]);
});

test("all messages but texts and templates have media", () => {
  expect(MESSAGE_TYPES.filter(isMediaType)).toEqual(["IMAGE", "DOCUMENT", "AUDIO", "VIDEO"]);
});

test.each<[boolean, Choice]>([
  [false, { type: "reply", id: "a", title: "A" }],
  [true, { type: "reply", id: "a", title: "A", description: "More" }],
  [true, { type: "reply", id: "a", title: "A", section: "B" }],
  [false, { type: "link", title: "A", url: "https://a.example" }],
  [false, { type: "location", title: "A" }],
])("it is %s that the choice %j says more than its title", (expected, choice) => {
  expect(hasDetails(choice)).toBe(expected);
});

test("a tap names the message and the choice that were sent with it", () => {
  expect(tapData("msg_g0123456789ABCDE", 9)).toBe("msg_g0123456789ABCDE:9");
  expect(parseTap("msg_g0123456789ABCDE:9")).toEqual({ messageId: "msg_g0123456789ABCDE", index: 9 });
});

test.each([
  "",
  "msg_g0123456789ABCDE",
  "msg_g0123456789ABCDE:",
  "msg_g0123456789ABCDE:10",
  "msg_g0123456789ABCDE:-1",
  "msg_g0123456789ABCDE:1\n",
  " msg_g0123456789ABCDE:1",
  "cht_g0123456789ABCDE:1",
  "msg_:1",
  "msg_g-:1",
  `msg_${"a".repeat(41)}:1`,
  "refund",
])("%j is not what a choice that the service sent brings back", (data) => {
  expect(parseTap(data)).toBeNull();
});
