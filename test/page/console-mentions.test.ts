import { expect, test } from "vitest";
import { piecesOf } from "../../src/web/console/notes/mentions.ts";
import { matchesOf, mentionsIn, queryAt } from "../../src/web/console/notes/written-mentions.ts";

const ANN = { id: "ann", name: "Ann" };
const LEE = { id: "lee", name: "Ann Lee" };
const OTHER_ANN = { id: "other", name: "Ann" };
const MEMBERS = [ANN, LEE];

test.each([
  ["@Ann, please", ["ann"]],
  ["@Ann Lee knows", ["lee"]],
  ["(@Ann) and @Ann Lee and @Ann again", ["ann", "lee"]],
  ["@Anna", []],
  ["mail@Ann", []],
  ["@ann", []],
  ["@", []],
])("who is mentioned in %j", (text, mentioned) => {
  expect(mentionsIn(text, MEMBERS)).toEqual(mentioned);
  expect(
    piecesOf(text, MEMBERS)
      .map((piece) => piece.text)
      .join(""),
  ).toBe(text);
});

test("of two members with one name the first counts", () => {
  expect(mentionsIn("@Ann", [OTHER_ANN, ANN])).toEqual(["other"]);
});

test.each([
  ["Ask @", 5, { from: 4, words: "" }],
  ["Ask @an", 7, { from: 4, words: "an" }],
  ["Ask @an", 6, { from: 4, words: "a" }],
  ["Ask @an\nb", 9, null],
  ["a@b", 3, null],
  ["Ask", 3, null],
  ["@Ann", 0, null],
  [`@${"x".repeat(41)}`, 42, null],
])("the name that is being written in %j at %i", (text, caret, query) => {
  expect(queryAt(text, caret)).toEqual(query);
});

test("the words can begin any word of a name, in any case", () => {
  expect(matchesOf("le", MEMBERS, 6)).toEqual([LEE]);
  expect(matchesOf("ANN L", MEMBERS, 6)).toEqual([LEE]);
  expect(matchesOf("", MEMBERS, 1)).toEqual([ANN]);
  expect(matchesOf("nn", MEMBERS, 6)).toEqual([]);
});
