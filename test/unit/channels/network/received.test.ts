import { expect, test } from "vitest";
import { receivedEmoji, receivedFileName } from "../../../../src/channels/network/received.ts";

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

test.each([
  ["plan.pdf", "plan.pdf"],
  ["../../etc/passwd", "passwd"],
  ["C:\\Users\\ann\\plan.pdf", "plan.pdf"],
  ["a\r\nb\u0000.pdf", "a b .pdf"],
  ["invoice\u202Efdp.exe", "invoicefdp.exe"],
  ["one\u2028two.txt", "onetwo.txt"],
  ["a".repeat(300), "a".repeat(255)],
  ["..", null],
  ["folder/", null],
  ["\u202E", null],
  ["", null],
  [7, null],
])("a file that a network calls %j is %j", (given, name) => {
  expect(receivedFileName(given)).toBe(name);
});
