import { expect, test } from "vitest";
import { bySection, choiceLines, detailLines, framedText, splitText } from "../../../src/model/choices-text.ts";
import type { Choice } from "../../../src/model/content.ts";

function reply(title: string, more: { description?: string; section?: string } = {}): Choice {
  return { type: "reply", id: title, title, ...more };
}

const link: Choice = { type: "link", title: "Track", url: "https://shop.example/" };
const where: Choice = { type: "location", title: "Where?" };

test("a text stands between its header and its footer, the lines before the footer", () => {
  expect(framedText({ choices: [] }, "Text")).toBe("Text");
  expect(framedText({ choices: [], header: "Head" }, "Text", ["A"])).toBe("Head\n\nText\n\nA");
  expect(framedText({ choices: [], header: "Head", footer: "Foot" }, "Text", ["A", "B"])).toBe(
    "Head\n\nText\n\nA\nB\n\nFoot",
  );
});

test("each choice is a line with what it says, under its section", () => {
  expect(choiceLines({ choices: [link, where] })).toEqual(["Track: https://shop.example/", "Where?"]);
  const choices = [reply("A", { section: "S", description: "first" }), reply("B"), reply("C", { section: "S" })];
  expect(choiceLines({ choices })).toEqual(["S", "A: first", "C", "B"]);
});

test("only a description or a section needs a line beside buttons", () => {
  expect(detailLines({ choices: [reply("A"), reply("B")] })).toEqual([]);
  expect(detailLines({ choices: [link] })).toEqual([]);
  expect(detailLines({ choices: [where] })).toEqual([]);
  expect(detailLines({ choices: [reply("A"), reply("B", { description: "b" })] })).toEqual(["A", "B: b"]);
  expect(detailLines({ choices: [reply("A", { section: "S" })] })).toEqual(["S", "A"]);
});

test("a section stands where its first choice is, and a choice keeps its index", () => {
  const choices = [reply("A"), reply("B", { section: "S" }), link, reply("C", { section: "S" })];
  expect(bySection(choices).map(({ section, entries }) => [section, entries.map(({ index }) => index)])).toEqual([
    [undefined, [0, 2]],
    ["S", [1, 3]],
  ]);
});

test.each([
  ["", 5, [""]],
  ["ab\ncd", 5, ["ab\ncd"]],
  ["\n\nab", 5, ["\n\nab"]],
  ["\n\nab", 4, ["\n\nab"]],
  ["ab\ncde", 5, ["ab", "cde"]],
  ["ab\n\n\ncde", 5, ["ab", "cde"]],
  ["abcde\nab\nab", 5, ["abcde", "ab\nab"]],
  ["abc\nab\nabc\na", 5, ["abc", "ab", "abc\na"]],
])("%j is split between lines into texts of at most %i characters", (text, max, parts) => {
  expect(splitText(text, max)).toEqual(parts);
});
