import fc from "fast-check";
import { expect, test } from "vitest";
import { chooseLanguage, LANGUAGES } from "../../src/web/language.ts";
import { piecesOf, webAddress } from "../../src/web/links.ts";
import { en } from "../../src/web/locales/en.ts";
import { reasonOf, TEXTS } from "../../src/web/texts.ts";
import { timesIn } from "../../src/web/times.ts";

const links = (text: string) => piecesOf(text).flatMap(({ text: shown, href }) => (href ? [shown] : []));

test("an address in a sentence is a link without the sentence's marks", () => {
  expect(links("See https://example.com/a?b=1. Or (https://example.com/b)!")).toEqual([
    "https://example.com/a?b=1",
    "https://example.com/b",
  ]);
  expect(links("https://en.wikipedia.org/wiki/Parley_(talk)")).toEqual(["https://en.wikipedia.org/wiki/Parley_(talk)"]);
});

test("nothing but a web address without a user in it is a link", () => {
  for (const text of [
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "ftp://example.com",
    "https://bank.example@evil.example/",
    "www.example.com",
    "https://",
  ]) {
    expect(links(text), text).toEqual([]);
  }
  expect(webAddress("http://example.com/file", ["https:"])).toBeNull();
});

test("the pieces of any text are the text again", () => {
  const part = fc.constantFrom(
    "https://",
    "http://",
    "example.com",
    "/a",
    " ",
    ".",
    ")",
    "(",
    '"',
    "<",
    "ä",
    "@",
    "\n",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(part).map((parts) => parts.join("")),
      ),
      (text) => {
        const pieces = piecesOf(text);
        expect(pieces.map((piece) => piece.text).join("")).toBe(text);
        for (const { href } of pieces) if (href !== null) expect(href).toMatch(/^https?:\/\//);
      },
    ),
  );
});

test("the first language that we speak is chosen, with its region", () => {
  expect(chooseLanguage([null, "pt-BR", "de_AT", "en"])).toEqual({ language: "de", locale: "de-AT" });
  expect(chooseLanguage(["not a tag", ""])).toEqual({ language: "en", locale: "en" });
});

test("every language has every text, with the same placeholders", () => {
  const placeholders = (text: string) => text.match(/\{\w+\}/g) ?? [];
  for (const language of LANGUAGES) {
    for (const [name, text] of Object.entries(en)) {
      const translated = Object.entries(TEXTS[language]).find(([other]) => other === name)?.[1] ?? "";
      expect(translated, `${language} ${name}`).not.toBe("");
      expect(placeholders(translated), `${language} ${name}`).toEqual(placeholders(text));
    }
  }
});

test("a wait is told in the unit that people would use", () => {
  const reason = (retryAfter: number | null) =>
    reasonOf({ code: "rate_limited", message: "Own words", retryAfter }, en, "en");
  expect(reason(1)).toContain("1 second.");
  expect(reason(1_500)).toContain("25 minutes.");
  expect(reason(7_200)).toContain("2 hours.");
  expect(reason(null)).toBe("Own words");
});

test("days are named as people name them, by the visitor's calendar", () => {
  const { day } = timesIn("en", "Europe/Berlin");
  const now = Date.UTC(2026, 10, 20, 0, 30);
  expect(day(Date.UTC(2026, 10, 19, 23, 30), now)).toBe("Today");
  expect(day(Date.UTC(2026, 10, 19, 22, 30), now)).toBe("Yesterday");
  expect(day(Date.UTC(2026, 10, 16, 12), now)).toBe("Monday");
  expect(day(Date.UTC(2026, 9, 1, 12), now)).toBe("October 1");
  expect(day(Date.UTC(2024, 1, 29, 12), now)).toBe("February 29, 2024");
});
