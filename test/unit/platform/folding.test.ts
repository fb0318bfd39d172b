import { expect, test } from "vitest";
import { folded } from "../../../src/platform/folding.ts";

test.each([
  ["straße", "STRASSE"],
  ["Straße", "ſtraẞe"],
  ["ΟΔΟΣ", "οδος"],
  ["οδοσ", "οδος"],
  ["İzmir", "i̇zmir"],
  ["ﬁnd", "FIND"],
  ["Ｐａｒｌｅｙ", "parley"],
  ["café", "cafe\u0301"],
  ["❤️", "❤"],
  ["so\u00adft", "soft"],
  ["ﻣﺮﺣﺒﺎ", "مرحبا"],
  ["ǰ", "J\u030c"],
])("%s and %s are the same in a search", (one, other) => {
  expect(folded(one)).toBe(folded(other));
});

test.each([
  ["cafe", "café"],
  ["i", "İ"],
  ["100%", "100_"],
  ["O'Neil", "ONeil"],
])("%s and %s are not the same", (one, other) => {
  expect(folded(one)).not.toBe(folded(other));
});

test("folding twice changes nothing more", () => {
  for (const text of ["Straße İ ΟΔΟΣ ﬁ ŉ ǰ ΐ ﬃ", "مرحبا 👍🏽"]) expect(folded(folded(text))).toBe(folded(text));
});
