import fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { FETCHED_TEXTS } from "../../src/web/build.ts";
import { accentOf } from "../../src/web/shared/accent.ts";
import { piecesOf, webAddress } from "../../src/web/shared/links.ts";
import { chooseLanguage, LANGUAGES } from "../../src/web/visitor/language.ts";
import { en } from "../../src/web/visitor/locales/en.ts";
import { chooseTexts, refusalReason } from "../../src/web/visitor/texts.ts";
import { timesIn } from "../../src/web/visitor/times.ts";
import { ENGLISH, FETCHED_WIDGET_TEXTS } from "../../src/web/visitor/widget-texts.ts";

afterEach(() => void vi.restoreAllMocks());

const links = (text: string) => piecesOf(text).flatMap(({ text: shown, href }) => (href ? [shown] : []));

test("a URL in a sentence is a link without the sentence's punctuation", () => {
  expect(links("See https://example.com/a?b=1. Or (https://example.com/b)!")).toEqual([
    "https://example.com/a?b=1",
    "https://example.com/b",
  ]);
  expect(links("https://en.wikipedia.org/wiki/Parley_(talk)")).toEqual(["https://en.wikipedia.org/wiki/Parley_(talk)"]);
});

test("only web addresses without a user are links", () => {
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

test("the pieces of any text join to the same text", () => {
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

test("the links of a text are the same however many brackets and dots follow them", () => {
  expect(links(`https://example.com/a${")".repeat(4_000)}`)).toEqual(["https://example.com/a"]);
  expect(links(`https://example.com/${"(".repeat(9)}${".)".repeat(2_000)}`)[0]).toHaveLength(20 + 9 + 18);
  expect(links(`https://example.com/${"!".repeat(4_000)}x`)[0]).toHaveLength(20 + 4_000 + 1);
  expect(links(`https://${"漢".repeat(4_000)}`)).toEqual([]);
});

test("a text is read a few times, however many brackets end it", () => {
  const read = (count: number) => {
    const reads = [vi.spyOn(String.prototype, "split"), vi.spyOn(String.prototype, "replace")];
    piecesOf(`https://example.com/a${")".repeat(count)}`);
    const characters = reads.flatMap(({ mock }) => mock.contexts.map((text) => String(text).length));
    vi.restoreAllMocks();
    return characters.reduce((sum, each) => sum + each, 0);
  };
  expect(read(4_000) / read(1_000)).toBeLessThan(5);
});

test("the first supported language is chosen, with its region", () => {
  expect(chooseLanguage([null, "sv-FI", "de_AT", "en"])).toEqual({ language: "de", locale: "de-AT" });
  expect(chooseLanguage(["not a tag", ""])).toEqual({ language: "en", locale: "en" });
});

test("every language has every text, with the same placeholders", () => {
  const placeholders = (text: string) => text.match(/\{\w+\}/g) ?? [];
  expect(Object.keys(FETCHED_TEXTS).toSorted()).toEqual(LANGUAGES.filter((one) => one !== "en").toSorted());
  for (const [language, texts] of Object.entries(FETCHED_TEXTS)) {
    for (const [name, text] of Object.entries(en)) {
      const translated = Object.entries(texts).find(([other]) => other === name)?.[1] ?? "";
      expect(translated, `${language} ${name}`).not.toBe("");
      expect(placeholders(translated), `${language} ${name}`).toEqual(placeholders(text));
    }
  }
});

test("a number fits the words around it, whichever number it is", () => {
  const texts = { ...FETCHED_TEXTS, en };
  for (const language of LANGUAGES) {
    const isInvariable = new Intl.PluralRules(language).resolvedOptions().pluralCategories.length === 1;
    // Where a noun has several forms, the number stands apart from it.
    expect(texts[language].tooLong, language).toMatch(isInvariable ? /\{count\}/ : /: \{count\}$/);
  }
  const refused = { code: "rate_limited", message: "", retryAfter: 1 };
  // The unit comes in the form of a subject, so it can't follow a preposition that wants another one.
  expect(refusalReason(refused, FETCHED_TEXTS.pl, "pl")).toContain(": 1 sekunda.");
  expect(refusalReason({ ...refused, retryAfter: 120 }, FETCHED_TEXTS.ar, "ar")).toContain(": دقيقتان.");
});

test("each language is written in its own script, and says nothing in English by mistake", () => {
  const SCRIPTS: Record<string, RegExp> = {
    ar: /\p{sc=Arab}/u,
    ja: /[\p{sc=Hira}\p{sc=Kana}\p{sc=Hani}]/u,
    zh: /\p{sc=Hani}/u,
  };
  // Words that are the same in English and in the other language.
  const SAME = ["Chat", "Conversation", "Message", "Messages", "Suggestions", "Name", "Email", "Bericht"];
  for (const [language, texts] of Object.entries(FETCHED_TEXTS)) {
    for (const [name, text] of Object.entries(texts)) {
      const isEnglish = !SAME.includes(text) && Object.values(en).includes(text);
      expect(isEnglish, `${language} ${name}: ${text}`).toBe(false);
      expect(text, `${language} ${name}`).toMatch(SCRIPTS[language] ?? /^[^\p{sc=Arab}\p{sc=Hani}\p{sc=Kana}]+$/u);
      expect(text, `${language} ${name}`).toBe(text.trim());
    }
  }
});

test("the widget has all of its texts in every language, with the number of unread messages", () => {
  expect(Object.keys(FETCHED_WIDGET_TEXTS).toSorted()).toEqual(Object.keys(FETCHED_TEXTS).toSorted());
  for (const [language, texts] of Object.entries({ ...FETCHED_WIDGET_TEXTS, en: ENGLISH })) {
    expect(Object.keys(texts), language).toEqual(Object.keys(ENGLISH));
    for (const text of Object.values(texts)) expect(text, language).not.toBe("");
    expect(texts.unread.split("{count}"), language).toHaveLength(2);
  }
});

test("the page's times in Chinese are as simplified as its texts, unless the company has texts of the region", async () => {
  const answer = () => vi.spyOn(globalThis, "fetch").mockResolvedValueOnce(Response.json(FETCHED_TEXTS.zh));
  answer();
  expect(await chooseTexts(["zh-TW", "en"], {})).toEqual({ language: "zh", locale: "zh", texts: FETCHED_TEXTS.zh });
  answer();
  expect(await chooseTexts(["zh-TW", "en"], { "zh-TW": { send: "傳送" } })).toEqual({
    language: "zh",
    locale: "zh-TW",
    texts: { ...FETCHED_TEXTS.zh, send: "傳送" },
  });
});

test("missing texts are English", async () => {
  const answer = (body: BodyInit) => vi.spyOn(globalThis, "fetch").mockResolvedValueOnce(new Response(body));
  const english = { language: "en", locale: "en", texts: en };
  answer(JSON.stringify({ send: "Senden" }));
  expect(await chooseTexts(["de-AT"], {})).toEqual({
    language: "de",
    locale: "de-AT",
    texts: { ...en, send: "Senden" },
  });
  answer("<!doctype html>");
  expect(await chooseTexts(["de"], {})).toEqual(english);
  vi.spyOn(globalThis, "fetch").mockRejectedValueOnce(new TypeError("Failed to fetch"));
  expect(await chooseTexts(["ar"], {})).toEqual(english);
});

test("a company's texts replace the page's, those of a region before those of a language", async () => {
  const own = { en: { send: "Go", close: "Bye" }, "en-GB": { send: "Post" }, sv: { send: "Skicka" } };
  expect(await chooseTexts(["en-GB"], own)).toEqual({
    language: "en",
    locale: "en-GB",
    texts: { ...en, send: "Post", close: "Bye" },
  });
  expect(await chooseTexts(["sv-FI", "de"], own)).toEqual({
    language: "sv",
    locale: "sv-FI",
    texts: { ...en, send: "Skicka" },
  });
});

test.each(["light", "dark"] as const)(
  "any color becomes readable in the %s scheme, and a readable one stays",
  (scheme) => {
    const surface = scheme === "light" ? "#ffffff" : "#1b1f23";
    for (const color of ["#ffe000", "#000000", "#ffffff", "#808080", "#0d6b5e", "#ff0000", "#0000ff", "#7f8c8d"]) {
      const { accent = "", onAccent = "" } = accentOf(color, scheme) ?? {};
      expect(contrastOf(accent, onAccent), `${color} with ${onAccent}`).toBeGreaterThanOrEqual(4.5);
      expect(contrastOf(accent, surface), `${color} on ${surface}`).toBeGreaterThanOrEqual(3);
    }
    expect(accentOf(scheme === "light" ? "#0d6b5e" : "#5fd0bb", scheme)?.accent).toBe(
      scheme === "light" ? "#0d6b5e" : "#5fd0bb",
    );
    expect(accentOf("red", scheme)).toBeNull();
  },
);

/** By the formula of WCAG 2.2. */
function contrastOf(...colors: [string, string]): number {
  const [high = 0, low = 0] = colors
    .map((color) => {
      const [red = 0, green = 0, blue = 0] = [1, 3, 5]
        .map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255)
        .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    })
    .sort((one, other) => other - one);
  return (high + 0.05) / (low + 0.05);
}

test("a wait is shown in a natural unit", () => {
  const reason = (retryAfter: number | null) =>
    refusalReason({ code: "rate_limited", message: "Own words", retryAfter }, en, "en");
  expect(reason(1)).toContain("1 second.");
  expect(reason(1_500)).toContain("25 minutes.");
  expect(reason(7_200)).toContain("2 hours.");
  expect(reason(null)).toBe("Own words");
});

test("days are named by the visitor's calendar", () => {
  const { day } = timesIn("en", "Europe/Berlin");
  const now = Date.UTC(2026, 10, 20, 0, 30);
  expect(day(Date.UTC(2026, 10, 19, 23, 30), now)).toBe("Today");
  expect(day(Date.UTC(2026, 10, 19, 22, 30), now)).toBe("Yesterday");
  expect(day(Date.UTC(2026, 10, 16, 12), now)).toBe("Monday");
  expect(day(Date.UTC(2026, 9, 1, 12), now)).toBe("October 1");
  expect(day(Date.UTC(2024, 1, 29, 12), now)).toBe("February 29, 2024");
});
