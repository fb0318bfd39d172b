import { expect, test } from "vitest";
import { piecesOf, webAddress } from "../../src/web/shared/links.ts";
import { chooseLanguage, directionOf, LANGUAGES } from "../../src/web/visitor/language.ts";
import { sameDay, timesIn } from "../../src/web/visitor/times.ts";

const plain = (text: string) => ({ text, href: null });
const link = (text: string, href = text) => ({ text, href });

test.each([
  ["", []],
  ["Hello", [plain("Hello")]],
  ["https://a.example/x", [link("https://a.example/x")]],
  ["HTTP://a.example/x", [link("HTTP://a.example/x", "http://a.example/x")]],
  ["see https://a.example/x now", [plain("see "), link("https://a.example/x"), plain(" now")]],
  ["https://a.example/x https://b.example/y", [link("https://a.example/x"), plain(" "), link("https://b.example/y")]],
  ["(https://a.example/x)", [plain("("), link("https://a.example/x"), plain(")")]],
  ["((https://a.example/x)).", [plain("(("), link("https://a.example/x"), plain(")).")]],
  ["https://a.example/x_(y)", [link("https://a.example/x_(y)")]],
  ["https://a.example/x?!…", [link("https://a.example/x"), plain("?!…")]],
  ["https://a.example/x.)", [link("https://a.example/x"), plain(".)")]],
  ["https://a.example/x_(y))", [link("https://a.example/x_(y)"), plain(")")]],
  ["https://a.example/x)y", [link("https://a.example/x)y")]],
  ["https:///", [plain("https:///")]],
  ["ftp://a.example/x", [plain("ftp://a.example/x")]],
  ["http://[ and https://a.example/x", [plain("http://[ and "), link("https://a.example/x")]],
])("the pieces of %j", (text, pieces) => {
  expect(piecesOf(text)).toEqual(pieces);
});

test("only URLs with a web scheme and without a user can be opened", () => {
  expect([webAddress("http://a.example/x"), webAddress("https://a.example/x")]).toEqual([
    "http://a.example/x",
    "https://a.example/x",
  ]);
  expect(webAddress("http://a.example/x", ["https:"])).toBeNull();
  for (const text of ["javascript:alert(1)", "https://u@a.example/", "https://:p@a.example/", "nothing"]) {
    expect(webAddress(text), text).toBeNull();
  }
});

test.each([
  [`https://${"a".repeat(299)}/`, true],
  [`https://${"a".repeat(300)}/`, false],
  [` HTTPS:${"a".repeat(300)}`, false],
  [`https:\\\\${"a".repeat(300)}`, false],
  [`https://a.example/${"a".repeat(300)}`, true],
  [`https://a.example/x:${"a".repeat(300)}`, true],
  [`https://a.example${"/".repeat(300)}`, true],
])("a host has fewer than 300 characters: %s is an address: %s", (text, isAddress) => {
  expect(webAddress(text) !== null).toBe(isAddress);
});

test("the first supported language is chosen, with its own locale", () => {
  expect(chooseLanguage(["sv", null, "", "no tag!", "fr_CA", "de"])).toEqual({ language: "fr", locale: "fr-CA" });
  expect(chooseLanguage(["sv_FI_x_y", "AR"])).toEqual({ language: "ar", locale: "ar" });
  expect(chooseLanguage(["uk-Cyrl-UA", "es-419"])).toEqual({ language: "es", locale: "es-419" });
  expect(chooseLanguage([])).toEqual({ language: "en", locale: "en" });
  for (const tag of ["pt-PT", "zh-Hant", "zh-TW", "cmn-Hans-SG", "nl-BE", "tr-CY"]) {
    const locale = Intl.getCanonicalLocales(tag)[0];
    expect(chooseLanguage([tag, "en"]), tag).toEqual({ language: locale?.slice(0, 2), locale });
  }
  for (const language of LANGUAGES) expect(chooseLanguage([language]).language).toBe(language);
});

test("only Arabic is written from right to left", () => {
  expect(LANGUAGES.filter((language) => directionOf(language) === "rtl")).toEqual(["ar"]);
});

test("times are written in the locale and the time zone", () => {
  const noon = Date.UTC(2026, 10, 20, 12, 5);
  expect(timesIn("de", "Europe/Berlin").time(noon)).toBe("13:05");
  expect(timesIn("de", "UTC").full(noon)).toBe("Freitag, 20. November 2026 um 12:05");
  expect(timesIn("en-GB").time(noon)).toBe(new Intl.DateTimeFormat("en-GB", { timeStyle: "short" }).format(noon));
});

test("a day is named relative to today", () => {
  const { day } = timesIn("de", "UTC");
  const now = Date.UTC(2026, 10, 20, 12);
  const ago = (days: number) => day(now - days * 86_400_000, now);
  expect([ago(0), ago(1), ago(2), ago(6)]).toEqual(["Heute", "Gestern", "Mittwoch", "Samstag"]);
  expect([ago(7), ago(299)]).toEqual(["13. November", "25. Januar"]);
  expect([ago(300), ago(-1)]).toEqual(["24. Januar 2026", "21. November 2026"]);
});

test("two times on one day are on the same day, whatever their hours", () => {
  expect(sameDay(new Date(2026, 10, 20, 0).getTime(), new Date(2026, 10, 20, 23, 59).getTime())).toBe(true);
  expect(sameDay(new Date(2026, 10, 20, 23, 59).getTime(), new Date(2026, 10, 21).getTime())).toBe(false);
});
