import fc from "fast-check";
import { expect, test } from "vitest";
import { folded } from "../../../../src/model/folding.ts";
import { newId } from "../../../../src/model/id.ts";
import { queryOf, storedWords, weightOf } from "../../../../src/search/object/words.ts";

const channelId = newId("chn", null);

const words = (text: string) => new Set(storedWords({ channelId, direction: "INBOUND", text }).split(" ").slice(2));

/** Whether FTS5 finds a message: by all words of the query, or by the beginning of one. */
function finds(search: string, text: string): boolean {
  const query = queryOf({ search, channelId: null, direction: null });
  const [, start] = /^"(.+)"\*$/.exec(query) ?? [];
  const found = words(text);
  if (start !== undefined) return [...found].some((word) => word.startsWith(start));
  return query.split(" ").every((word) => found.has(word.slice(1, -1)));
}

const unit = fc.oneof(
  fc.constantFrom(..."AB \"*()-'^:+{}.\0\u007f\u0080\u00ff"),
  fc.constantFrom("ก", "ำ", "中", "م", "😀", "😁", "\ud83d", "\ude00", "\uffff", "\ue000"),
);
const text = fc.array(unit, { maxLength: 12 }).map((units) => units.join(""));

test("each part of a text of at least two units is found", () => {
  fc.assert(
    fc.property(text, fc.nat(20), fc.integer({ min: 2, max: 20 }), (whole, from, length) => {
      const part = whole.slice(from, from + length);
      fc.pre(part.length >= 2);
      expect(finds(part, whole)).toBe(true);
    }),
  );
});

test("a text with two or three other units is not found", () => {
  fc.assert(
    fc.property(text, text, (whole, part) => {
      const isShort = part.length >= 2 && part.length <= 3;
      // These become the same as others.
      fc.pre(isShort && !/[\u0080-\u00ff\ue000-\uefff\uffff]/.test(whole + part));
      expect(finds(part, whole)).toBe(whole.includes(part));
    }),
  );
});

test("no word can be divided, folded or taken for a part of the query's language", () => {
  fc.assert(
    fc.property(text, (whole) => {
      for (const word of words(whole)) expect(word).toMatch(/^[^\0-\x7f\ud800-\udfff]{3}$/);
      if (whole.length < 2) return;
      const query = queryOf({ search: whole, channelId, direction: "OUTBOUND" });
      expect(query).toMatch(
        /^"OUTBOUND" "c[^\0-\x7f]+"( "[^\0-\x7f\ud800-\udfff]{3}")+$|^"OUTBOUND" "c[^\0-\x7f]+" "[^\0-\x7f\ud800-\udfff]{2}"\*$/,
      );
    }),
  );
});

test("a gram that repeats is one word", () => {
  expect(words("AAAAAAAA").size).toBe(2);
});

test("a long search asks for 64 grams from all over it", () => {
  const long = Array.from({ length: 1_000 }, (_, n) => String.fromCharCode(0x4e00 + n)).join("");
  const grams = queryOf({ search: folded(long), channelId: null, direction: null }).split(" ");
  expect(grams).toHaveLength(64);
  const units = grams.map((gram) => gram.charCodeAt(1) - 0x4e00);
  expect([Math.min(...units), Math.max(...units) > 950]).toEqual([0, true]);
  expect(finds(long, `x${long}y`)).toBe(true);
});

test("channels whose ids differ only in case are different words", () => {
  const wordOf = (id: string) =>
    storedWords({ channelId: id, direction: "INBOUND", text: "" })
      .split(" ")[1]
      ?.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  expect(wordOf("chn_gaaaaaaaaaaaaaaa")).not.toBe(wordOf("chn_gAaaaaaaaaaaaaaa"));
});

const weight = (text: string) => weightOf(storedWords({ channelId, direction: "INBOUND", text }));

test("a message weighs as much as it has grams, and many more if they begin alike", () => {
  expect(weight("ABCDEFGHIJKLMNOP")).toBe(15);
  // The folded form of a ligature of 18 letters repeats few grams.
  expect(weight(folded("\ufdfa".repeat(4_096)))).toBeLessThan(100);
  const faces = Array.from({ length: 1_000 }, (_, n) => `🙂${String.fromCharCode(0x4e00 + n)}`).join("");
  expect(weight(faces)).toBe(12_000);
  expect(weight("")).toBe(0);
});
