import { expect, test } from "vitest";
import { excerptOf } from "../../../src/model/marked-text.ts";

/** The excerpt with its matches in brackets. */
const shown = (text: string, search: string, before = 10, most = 40) =>
  excerptOf(text, search, before, most)
    .map((part) => (part.isMatch ? `[${part.text}]` : part.text))
    .join("");

test.for([
  ["No refunds here", "fund", "No re[fund]s here"],
  ["José and Jose", "jose", "[José] and [Jose]"],
  ["Jose\u0301 said", "JOSÉ", "[Jose\u0301] said"],
  ["Die Straße", "strasse", "Die [Straße]"],
  ["Straße", "s", "[S]tra[ß]e"],
  ["İstanbul", "istanbul", "[İstanbul]"],
  ["ёлка", "елка", "[ёлка]"],
  ["ｆｕｌｌ width", "full w", "[ｆｕｌｌ w]idth"],
  ["yes 👍🏽 no", "👍🏽", "yes [👍🏽] no"],
  ["a\u200Bb", "ab", "[a\u200Bb]"],
  ["ภาษาไทย", "ไทย", "ภาษา[ไทย]"],
  ["aaaa", "aa", "[aa][aa]"],
  ["nothing of it", "refund", "nothing of it"],
  ["", "refund", ""],
] as const)("in %j, %j is marked", ([text, search, expected]) => {
  expect(shown(text, search)).toBe(expected);
});

test("a long text is cut before a word and behind the match, and says so", () => {
  const text = "Hello there, I have been waiting for my refund for three weeks now, and nobody answers.";
  expect(shown(text, "refund", 20, 40)).toBe("…waiting for my [refund] for three weeks no…");
});

test("without a match, the beginning is shown", () => {
  expect(shown("x".repeat(50), "refund")).toBe(`${"x".repeat(40)}…`);
});

test("a match that is longer than what is shown is whole", () => {
  expect(shown(`${"y".repeat(30)} ${"x".repeat(50)}z`, "x".repeat(50))).toBe(`…${"y".repeat(9)} [${"x".repeat(50)}]…`);
});

test("no character is cut in two", () => {
  expect(shown("👍".repeat(30), "refund", 10, 41)).toBe(`${"👍".repeat(20)}…`);
  expect(shown(`${"👍".repeat(30)}refund`, "refund", 11, 40)).toBe(`…${"👍".repeat(6)}[refund]`);
});
