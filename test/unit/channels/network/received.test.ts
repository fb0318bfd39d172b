import { expect, test } from "vitest";
import { receivedEmoji } from "../../../../src/channels/network/received.ts";

test.each([
  ["❤", "❤️"],
  ["❤️", "❤️"],
  ["❤\u200d🔥", "❤️\u200d🔥"],
  ["🤷\u200d♂", "🤷\u200d♂️"],
  ["👍", "👍"],
  ["👍🏽", "👍🏽"],
  ["☃", "☃️"],
  ["a", "a"],
  ["", null],
  ["👍".repeat(100), null],
  [7, null],
])("the emoji %j comes in as %j", (value, emoji) => {
  expect(receivedEmoji(value)).toBe(emoji);
});
