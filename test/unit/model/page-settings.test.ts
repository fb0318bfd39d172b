import { expect, test } from "vitest";
import { KINDS } from "../../../src/channels/kinds.ts";

const { settings } = KINDS.web;
const faultsOf = (given: Record<string, unknown>) =>
  settings.safeParse(given).error?.issues.map(({ path, message }) => `${path.join(".")} ${message}`);

const LOOK = {
  title: "Acme",
  greeting: "Hi!\nHow can we help?",
  accentColor: "#0D6b5e",
  logoUrl: "https://acme.example/logo.png",
  starters: ["Prices", "Where is my order?"],
  texts: { de: { send: "Los" }, "pt-BR": { placeholder: "Escreva…" } },
  hours: { timeZone: "Europe/Berlin", week: { monday: [{ opens: "09:00", closes: "17:00" }] } },
  hideWhenClosed: true,
  askContact: "afterFirst",
};

test("a web chat takes how its page looks and speaks, and null for each of it", () => {
  expect(settings.parse(LOOK)).toEqual(LOOK);
  const nothing = Object.fromEntries(Object.keys(LOOK).map((name) => [name, null]));
  expect(JSON.parse(JSON.stringify(settings.parse(nothing)))).toEqual({});
});

test.each([
  [{ title: "x".repeat(81) }, "title must have at most 80 characters"],
  [{ title: " " }, "title must not be blank"],
  [
    { hours: { timeZone: "UTC", week: { friday: [{ opens: "21:00", closes: "02:00" }] } } },
    "hours.week.friday.0.closes must be after opens. Hours past midnight are two periods: until 24:00, and from 00:00 of the next day",
  ],
  [{ greeting: "x".repeat(1_001) }, "greeting must have at most 1000 characters"],
  [{ accentColor: "red" }, "accentColor must be a color, such as #0d6b5e"],
  [{ accentColor: "x#0d6b5e" }, "accentColor must be a color, such as #0d6b5e"],
  [{ accentColor: "#0d6b5e;background:url(//x)" }, "accentColor must be a color, such as #0d6b5e"],
  [{ logoUrl: "http://acme.example/logo.png" }, "logoUrl must be an https URL"],
  [{ logoUrl: "javascript:alert(1)" }, "logoUrl must be an https URL"],
  [{ starters: Array(6).fill("Prices") }, "starters must have at most 5 entries"],
  [{ starters: ["x".repeat(81)] }, "starters.0 must have at most 80 characters"],
  [{ texts: { "no tag!": { send: "Go" } } }, "texts.no tag! must be a language tag, such as de or pt-BR"],
  [{ texts: { de: { sned: "Los" } } }, "texts.de.sned is not a text of the page"],
  [{ texts: { de: { send: "x".repeat(501) } } }, "texts.de.send must have at most 500 characters"],
  [{ hideWhenClosed: "yes" }, "hideWhenClosed must be true or false"],
  [{ askContact: "always" }, "askContact must be one of never, afterFirst, whenClosed"],
])("%j is refused: %s", (given, fault) => {
  expect(faultsOf(given)).toEqual([fault]);
});

test("texts have at most 8 KiB", () => {
  const names = ["send", "close", "you", "company", "sent", "read", "edited", "choices", "chosen"];
  const of = (length: number) => Object.fromEntries(names.map((name) => [name, "ü".repeat(length)]));
  expect(faultsOf({ texts: { de: of(440) } })).toBeUndefined();
  expect(faultsOf({ texts: { de: of(450) } })).toEqual(["texts must have at most 8192 bytes as JSON"]);
  const withMore = (more: number) => ({ de: { ...of(449), send: "ü".repeat(449) + "x".repeat(more) } });
  const spare = 8_192 - new TextEncoder().encode(JSON.stringify(withMore(0))).length;
  expect(faultsOf({ texts: withMore(spare) })).toBeUndefined();
  expect(faultsOf({ texts: withMore(spare + 1) })).toEqual(["texts must have at most 8192 bytes as JSON"]);
});
