import { expect, test } from "vitest";
import { appearanceOf, pageFactsOf, UPLOADS } from "../../../src/model/page-facts.ts";

const hours = { timeZone: "Europe/Berlin", week: { monday: [{ opens: "09:00", closes: "17:00" }] } };
const NOW = Date.parse("2026-11-23T07:59:59Z");

test("a channel without settings is open, and has its name as the title", () => {
  const appearance = {
    isOpen: true,
    changesAt: null,
    hideWhenClosed: false,
    title: "Acme",
    accentColor: null,
    logoUrl: null,
  };
  expect(appearanceOf({ name: "Acme", settings: {} }, NOW)).toEqual(appearance);
  expect(pageFactsOf({ name: "Acme", settings: {} }, NOW)).toEqual({
    ...appearance,
    uploads: "everyone",
    greeting: null,
    starters: [],
    texts: {},
    askContact: "never",
  });
});

test("a page knows what its channel's settings say, and until when that holds", () => {
  const shown = {
    hideWhenClosed: true,
    title: "Acme Chat",
    accentColor: "#0d6b5e",
    logoUrl: "https://a.example/l.png",
  };
  const opening = { isOpen: false, changesAt: "2026-11-23T08:00:00.000Z" };
  const onPage = {
    uploads: "verified",
    greeting: "Hi",
    starters: ["Prices"],
    texts: { de: { send: "Los" } },
    askContact: "whenClosed",
  } as const;
  const channel = { name: "Acme", settings: { ...shown, ...onPage, starters: ["Prices"], hours } };
  expect(appearanceOf(channel, NOW)).toEqual({ ...opening, ...shown });
  expect(pageFactsOf(channel, NOW)).toEqual({ ...opening, ...shown, ...onPage });
});

test("nobody, verified visitors or everyone can send files", () => {
  expect(UPLOADS).toEqual(["off", "verified", "everyone"]);
});
