import fc from "fast-check";
import { expect, test } from "vitest";
import { piecesOf, webAddress } from "../../src/web/shared/links.ts";

const links = (text: string) => piecesOf(text).flatMap(({ text: shown, href }) => (href ? [shown] : []));

test("a URL in a sentence is a link without the sentence's punctuation", () => {
  expect(links("See https://example.com/a?b=1. Or (https://example.com/b)!")).toEqual([
    "https://example.com/a?b=1",
    "https://example.com/b",
  ]);
});

test("a bracket that a URL opens itself closes in the link", () => {
  expect(links("https://en.wikipedia.org/wiki/Parley_(talk)")).toEqual(["https://en.wikipedia.org/wiki/Parley_(talk)"]);
});

test.each([
  "javascript:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  "ftp://example.com",
  "https://bank.example@evil.example/",
  "www.example.com",
  "https://",
])("%s is no link", (text) => {
  expect(links(text)).toEqual([]);
});

test("an address has one of the schemes that are asked for", () => {
  expect(webAddress("http://example.com/file", ["https:"])).toBeNull();
});

/** Any text, and texts of the parts that links are made of. */
const TEXTS = fc.oneof(
  fc.string(),
  fc
    .array(fc.constantFrom("https://", "http://", "example.com", "/a", " ", ".", ")", "(", '"', "<", "ä", "@", "\n"))
    .map((parts) => parts.join("")),
);

test("the pieces of any text join to the same text", () => {
  fc.assert(
    fc.property(TEXTS, (text) => {
      const shown = piecesOf(text).map((piece) => piece.text);
      expect(shown.join("")).toBe(text);
    }),
  );
});

test("every link of any text leads to a web address", () => {
  fc.assert(
    fc.property(TEXTS, (text) => {
      for (const { href } of piecesOf(text)) if (href !== null) expect(href).toMatch(/^https?:\/\//);
    }),
  );
});

test("of thousands of brackets behind a link none is part of it", () => {
  expect(links(`https://example.com/a${")".repeat(4_000)}`)).toEqual(["https://example.com/a"]);
});

test("a link keeps as many closing brackets as it opens, also among thousands of dots", () => {
  expect(links(`https://example.com/${"(".repeat(9)}${".)".repeat(2_000)}`)[0]).toHaveLength(20 + 9 + 18);
});

test("thousands of marks within a link are part of it", () => {
  expect(links(`https://example.com/${"!".repeat(4_000)}x`)[0]).toHaveLength(20 + 4_000 + 1);
});

test("a host that is longer than any is no link", () => {
  expect(links(`https://${"漢".repeat(4_000)}`)).toEqual([]);
});

test("400,000 brackets behind a link are read in one pass", () => {
  // With a pass for each bracket, the test would run out of time.
  const text = `https://example.com/a${")".repeat(400_000)}`;
  expect(links(text)).toEqual(["https://example.com/a"]);
});
