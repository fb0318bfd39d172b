import fc from "fast-check";
import { expect, test } from "vitest";
import { readCursor, writeCursor } from "../../../src/events/cursor.ts";

const text = (value: unknown, options: object = { alphabet: "base64url", omitPadding: true }) =>
  new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value)).toBase64(options);

test("a cursor is the base64url of its version, life, position and offset", () => {
  expect(writeCursor({ life: "0Vx3kQ2a", position: 17, offset: 3 })).toBe(text([1, "0Vx3kQ2a", 17, 3]));
});

test("every cursor is read as it was written", () => {
  const cursors = fc.record({
    life: fc.string({ maxLength: 8 }),
    position: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    offset: fc.maxSafeNat(),
  });
  fc.assert(
    fc.property(cursors, (cursor) => {
      const written = writeCursor(cursor);
      expect(written).toMatch(/^[\w-]+$/);
      expect(readCursor(written)).toEqual(cursor);
    }),
  );
});

test("any other text is read as null or as a cursor that is written in the same way", () => {
  const parts = fc.anything({ maxDepth: 1 });
  const texts = fc.oneof(
    fc.string(),
    fc.base64String(),
    fc.tuple(fc.constant(1), parts, parts, parts).map((list) => text(JSON.stringify(list) ?? "")),
  );
  fc.assert(
    fc.property(texts, (given) => {
      const cursor = readCursor(given);
      if (cursor !== null) expect(writeCursor(cursor)).toBe(given);
    }),
  );
});

const good = [1, "0Vx3kQ2a", 17, 3];

test.each<[string, string]>([
  ["nothing", ""],
  ["no base64", "*"],
  ["no JSON", text("[1,")],
  ["no list", text("17")],
  ["null", text("null")],
  ["a number in place of the life", text([1, 2, 17, 3])],
  ["another version", text([2, "0Vx3kQ2a", 17, 3])],
  ["position 0", text([1, "0Vx3kQ2a", 0, 3])],
  ["a negative offset", text([1, "0Vx3kQ2a", 17, -1])],
  ["a fraction", text([1, "0Vx3kQ2a", 1.5, 0])],
  ["a position as text", text([1, "0Vx3kQ2a", "17", 3])],
  ["one part more", text([...good, 0])],
  ["one part less", text([1, "0Vx3kQ2a", 17])],
  ["blanks in the JSON", text('[1, "0Vx3kQ2a", 17, 3]')],
  ["padding", text(good, { alphabet: "base64url" })],
  ["too much text", text([1, "x".repeat(200), 17, 3])],
  ["the first half", text(good).slice(0, 12)],
])("%s is not a cursor", (_, given) => {
  expect(readCursor(given)).toBeNull();
});

test("the good cursor of these tests is a cursor", () => {
  expect(readCursor(text(good))).toEqual({ life: "0Vx3kQ2a", position: 17, offset: 3 });
  expect(text(good, { alphabet: "base64url" })).not.toBe(text(good));
});
