import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { folded } from "../../../src/model/folding.ts";

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
  ["jose", "José"],
  ["gro", "GRÖ"],
  ["nguyen", "Nguyễn"],
  ["Đặng Łódź Øre", "dang lodz ore"],
  ["Ælfrēd", "ælfred"],
  ["İzmir", "ızmır"],
  ["Άδης ᾳ ΐ", "αδης α ι"],
  ["ёлка", "елка"],
  ["ЁЛКА", "е\u0308лка"],
  ["ё\u0323лка", "е\u0323лка"],
  ["مُحَمَّد", "محمد"],
  ["שָׁלוֹם", "שלום"],
  ["がｶﾞ", "か\u3099ガ"],
])("%s and %s are the same in a search", (one, other) => {
  expect(folded(one)).toBe(folded(other));
});

test.each([
  ["й", "и"],
  ["が", "か"],
  ["ガ", "カ"],
  ["कि", "क"],
  ["กี", "ก"],
  ["أحمد", "احمد"],
  ["ї", "і"],
  ["100%", "100_"],
  ["O'Neil", "ONeil"],
])("%s and %s are not the same", (one, other) => {
  expect(folded(one)).not.toBe(folded(other));
});

/** Letters with a few marks, of scripts that fold differently. A prefix ends between two of them. */
const LETTERS = [..."aåßıİøĐ ﬁΑαςᾳеЁйカがｶحأשक한漢1Ａ👍ⅷ"];
const MARKS = [..."\u0301\u0308\u0323\u0345\u0307\u0654\u064b\u05b8\u093f\u3099ﾞ\u20dd\u034f"];
const cluster = fc
  .tuple(fc.constantFrom(...LETTERS), fc.array(fc.constantFrom(...MARKS), { maxLength: 4 }))
  .map(([letter, marks]) => letter + marks.join(""));
/** Invisible, and without marks: those would fall to the letter before. */
const JOINER = "\u200d";
const clusters = fc.array(fc.oneof({ weight: 20, arbitrary: cluster }, fc.constant(JOINER)), { maxLength: 12 });
const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  clusters.map((all) => all.join("")),
);

test("folding twice changes nothing more", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(folded(folded(text))).toBe(folded(text));
    }),
  );
  const long = fc.tuple(fc.constantFrom(...LETTERS), fc.array(fc.constantFrom(...MARKS, "\u0344"), { minLength: 60 }));
  fc.assert(
    fc.property(long, ([letter, marks]) => {
      const form = folded(letter + marks.join(""));
      expect(folded(form)).toBe(form);
    }),
  );
});

test("canonical equivalents fold alike", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(folded(text.normalize("NFC"))).toBe(folded(text));
      expect(folded(text.normalize("NFD"))).toBe(folded(text));
    }),
  );
});

test("the beginning of a text is found in the text", () => {
  fc.assert(
    fc.property(clusters, fc.nat(12), (all, count) => {
      expect(folded(all.join("")).startsWith(folded(all.slice(0, count).join("")))).toBe(true);
    }),
  );
});

test.each([
  ["marks", "\u0301\u0323"],
  ["marks between invisible characters", "\u200d\u0301\u200d\u0323"],
  ["halfwidth sound marks", "ﾞ\u0323"],
  ["marks that become two", "\u0344\u0323"],
])("a run of %s is cut before anything sorts it", (_name, part) => {
  const normalize = vi.spyOn(String.prototype, "normalize");
  folded(`あ${part.repeat(2_000)}い${part.repeat(2_000)}`);
  const texts = normalize.mock.contexts.map(String);
  normalize.mockRestore();
  expect(texts).toHaveLength(2);
  for (const text of texts) expect(text).not.toMatch(/[\p{M}ﾞ\p{Default_Ignorable_Code_Point}]{31}/u);
});
