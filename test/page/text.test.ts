import { afterEach, describe, expect, test, vi } from "vitest";
import { FETCHED_TEXTS, FETCHED_WIDGET_TEXTS } from "../../src/web/build.ts";
import { chooseLanguage, LANGUAGES } from "../../src/web/visitor/language.ts";
import { en } from "../../src/web/visitor/locales/en.ts";
import { chooseTexts, refusalReason } from "../../src/web/visitor/texts.ts";
import { timesIn } from "../../src/web/visitor/times.ts";
import { ENGLISH } from "../../src/web/visitor/widget-texts.ts";

afterEach(() => void vi.restoreAllMocks());

test("the first supported language is chosen, with its region", () => {
  expect(chooseLanguage([null, "sv-FI", "de_AT", "en"])).toEqual({ language: "de", locale: "de-AT" });
});

test("without a supported language English is chosen", () => {
  expect(chooseLanguage(["not a tag", ""])).toEqual({ language: "en", locale: "en" });
});

test("the texts of every language but English are fetched", () => {
  expect(Object.keys(FETCHED_TEXTS).toSorted()).toEqual(LANGUAGES.filter((one) => one !== "en").toSorted());
});

const SCRIPTS: Record<string, RegExp> = {
  ar: /\p{sc=Arab}/u,
  ja: /[\p{sc=Hira}\p{sc=Kana}\p{sc=Hani}]/u,
  zh: /\p{sc=Hani}/u,
};
/** Words that are the same in English and in the other language. */
const SAME = ["Chat", "Conversation", "Message", "Messages", "Suggestions", "Name", "Email", "Bericht"];

describe.each(Object.entries(FETCHED_TEXTS))("the texts of the page in the language %s", (language, texts) => {
  const translated = new Map(Object.entries(texts));
  const placeholders = (text: string) => text.match(/\{\w+\}/g) ?? [];

  test("are all there", () => {
    for (const name of Object.keys(en)) expect(translated.get(name) ?? "", name).not.toBe("");
  });

  test("have the placeholders of the English ones", () => {
    for (const [name, text] of Object.entries(en)) {
      expect(placeholders(translated.get(name) ?? ""), name).toEqual(placeholders(text));
    }
  });

  test("say nothing in English by mistake", () => {
    for (const [name, text] of translated) {
      const isEnglish = !SAME.includes(text) && Object.values(en).includes(text);
      expect(isEnglish, `${name}: ${text}`).toBe(false);
    }
  });

  test("are written in the language's own script", () => {
    for (const [name, text] of translated) {
      expect(text, name).toMatch(SCRIPTS[language] ?? /^[^\p{sc=Arab}\p{sc=Hani}\p{sc=Kana}]+$/u);
    }
  });

  test("have no spaces around them", () => {
    for (const [name, text] of translated) expect(text, name).toBe(text.trim());
  });
});

test.each(LANGUAGES)("the number of characters too many fits the words around it, whichever it is: %s", (language) => {
  const isInvariable = new Intl.PluralRules(language).resolvedOptions().pluralCategories.length === 1;
  // Where a noun has several forms, the number stands apart from it.
  expect({ ...FETCHED_TEXTS, en }[language].tooLong).toMatch(isInvariable ? /\{count\}/ : /: \{count\}$/);
});

// The unit comes in the form of a subject, so it can't follow a preposition that wants another one.
test.each([
  ["pl", 1, ": 1 sekunda."],
  ["ar", 120, ": دقيقتان."],
] as const)("a wait stands apart from the words before it: %s", (language, retryAfter, end) => {
  const refused = { code: "rate_limited", message: "", retryAfter };
  expect(refusalReason(refused, FETCHED_TEXTS[language], language)).toContain(end);
});

test("the widget has the languages of the page", () => {
  expect(Object.keys(FETCHED_WIDGET_TEXTS).toSorted()).toEqual(Object.keys(FETCHED_TEXTS).toSorted());
});

describe.each(Object.entries({ ...FETCHED_WIDGET_TEXTS, en: ENGLISH }))(
  "the texts of the widget in the language %s",
  (_language, texts) => {
    test("are those of the English ones", () => {
      expect(Object.keys(texts)).toEqual(Object.keys(ENGLISH));
    });

    test("are not empty", () => {
      for (const [name, text] of Object.entries(texts)) expect(text, name).not.toBe("");
    });

    test("say the number of unread messages once", () => {
      expect(texts.unread.split("{count}")).toHaveLength(2);
    });
  },
);

/** What the service answers when the page fetches the texts of a language. */
const answer = (body: BodyInit) => vi.spyOn(globalThis, "fetch").mockResolvedValueOnce(new Response(body));

test("the page's times in Chinese are as simplified as its texts", async () => {
  answer(JSON.stringify(FETCHED_TEXTS.zh));
  expect(await chooseTexts(["zh-TW", "en"], {})).toEqual({ language: "zh", locale: "zh", texts: FETCHED_TEXTS.zh });
});

test("the page's times in Chinese are those of a region for which the company has texts", async () => {
  answer(JSON.stringify(FETCHED_TEXTS.zh));
  expect(await chooseTexts(["zh-TW", "en"], { "zh-TW": { send: "傳送" } })).toEqual({
    language: "zh",
    locale: "zh-TW",
    texts: { ...FETCHED_TEXTS.zh, send: "傳送" },
  });
});

test("a text that a language lacks is English", async () => {
  answer(JSON.stringify({ send: "Senden" }));
  expect(await chooseTexts(["de-AT"], {})).toEqual({
    language: "de",
    locale: "de-AT",
    texts: { ...en, send: "Senden" },
  });
});

const ALL_ENGLISH = { language: "en", locale: "en", texts: en };

test("all is English if the service answers with something else than texts", async () => {
  answer("<!doctype html>");
  expect(await chooseTexts(["de"], {})).toEqual(ALL_ENGLISH);
});

test("all is English if the service can't be reached", async () => {
  vi.spyOn(globalThis, "fetch").mockRejectedValueOnce(new TypeError("Failed to fetch"));
  expect(await chooseTexts(["ar"], {})).toEqual(ALL_ENGLISH);
});

/** The texts of a company. */
const OWN = { en: { send: "Go", close: "Bye" }, "en-GB": { send: "Post" }, sv: { send: "Skicka" } };

test("a company's texts replace the page's, those of a region before those of a language", async () => {
  expect(await chooseTexts(["en-GB"], OWN)).toEqual({
    language: "en",
    locale: "en-GB",
    texts: { ...en, send: "Post", close: "Bye" },
  });
});

test("a language that only the company has is supported too", async () => {
  expect(await chooseTexts(["sv-FI", "de"], OWN)).toEqual({
    language: "sv",
    locale: "sv-FI",
    texts: { ...en, send: "Skicka" },
  });
});

const limited = (retryAfter: number | null) =>
  refusalReason({ code: "rate_limited", message: "Own words", retryAfter }, en, "en");

test.each([
  [1, "1 second."],
  [1_500, "25 minutes."],
  [7_200, "2 hours."],
])("a wait of %i seconds is shown in a natural unit", (seconds, end) => {
  expect(limited(seconds)).toContain(end);
});

test("a refusal without a wait says the service's own words", () => {
  expect(limited(null)).toBe("Own words");
});

test.each([
  ["2026-11-19T23:30Z", "Today"],
  ["2026-11-19T22:30Z", "Yesterday"],
  ["2026-11-16T12:00Z", "Monday"],
  ["2026-10-01T12:00Z", "October 1"],
  ["2024-02-29T12:00Z", "February 29, 2024"],
])("half an hour into November 20 in UTC, %s is called %s in Berlin", (time, name) => {
  const now = Date.parse("2026-11-20T00:30Z");
  expect(timesIn("en", "Europe/Berlin").day(Date.parse(time), now)).toBe(name);
});
