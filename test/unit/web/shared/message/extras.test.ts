import { expect, test } from "vitest";
import {
  isRemoved,
  type MessageExtras,
  reactionOf,
  readExtras,
  withReaction,
} from "../../../../../src/web/shared/message/extras.ts";

test.each<[string, string | null, boolean]>([
  ["", null, true],
  ["Hi", null, false],
  ["", "https://a.example/a.png", false],
  ["Hi", "https://a.example/a.png", false],
])("a message with the text %j and the file %j is removed: %j", (text, mediaUrl, removed) => {
  expect(isRemoved({ text, mediaUrl })).toBe(removed);
});

const both = [
  { by: "organization" as const, emoji: "👍" },
  { by: "contact" as const, emoji: "🎉" },
];
const bare: MessageExtras = {};

test("each side has a reaction of its own, or none", () => {
  expect([reactionOf("contact", { reactions: both }), reactionOf("organization", { reactions: both })]).toEqual([
    "🎉",
    "👍",
  ]);
  expect(reactionOf("contact", { reactions: both.slice(0, 1) })).toBeNull();
  expect(reactionOf("contact", {})).toBeNull();
});

test("a confirmed reaction takes the place of the same side's", () => {
  const message = { id: "msg_1", reactions: both };
  expect(withReaction(message, "😮", "organization")).toEqual({
    id: "msg_1",
    reactions: [
      { by: "contact", emoji: "🎉" },
      { by: "organization", emoji: "😮" },
    ],
  });
  expect(withReaction(bare, "😮", "contact")).toEqual({ reactions: [{ by: "contact", emoji: "😮" }] });
  expect(withReaction(message, undefined, "contact")).toBe(message);
});

test("a message whose last reaction is taken back has no list of reactions", () => {
  const message = { reactions: both.slice(0, 1) };
  expect(withReaction(message, null, "contact").reactions).toEqual(both.slice(0, 1));
  expect(withReaction(message, null, "organization").reactions).toBeUndefined();
  expect(withReaction(bare, null, "contact").reactions).toBeUndefined();
});

test("the person who wrote for the company is named, if the service names one", () => {
  expect(readExtras({ sender: { name: "Ada", id: "usr_1" } })).toEqual({ sender: "Ada" });
  for (const sender of [null, "Ada", {}, { name: "" }, { name: 5 }]) expect(readExtras({ sender })).toEqual({});
});

test.each([
  [8_000, 8_000, "picture"],
  [8_001, 8_000, "other"],
])("a picture of %i by %i pixels is shown as %s", (width, height, kind) => {
  expect(readExtras({ media: { contentType: "image/png", width, height } }).file?.kind).toBe(kind);
});

test("a place needs both coordinates", () => {
  for (const location of [{ latitude: 1 }, { longitude: 2 }, { latitude: 1, longitude: "2" }]) {
    expect(readExtras({ location })).toEqual({});
  }
});
