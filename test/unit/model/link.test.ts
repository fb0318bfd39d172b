import { expect, test } from "vitest";
import { linkedMedia, linkIn } from "../../../src/model/link.ts";

const LINK = "https://a.example/b.jpg";

test.each([
  [LINK, LINK],
  [` ${LINK}\n`, LINK],
  ["HTTPS://A.EXAMPLE", "HTTPS://A.EXAMPLE"],
  ["https://a.example/ü?b=c#d", "https://a.example/ü?b=c#d"],
])("the text %j is the link %s", (content, link) => {
  expect(linkIn(content)).toBe(link);
});

test.each([
  "",
  "https://",
  "http://a.example/b.jpg",
  "see https://a.example/b.jpg",
  "https://a.example/b.jpg here",
  "https://a.example/b\u0007",
  "https:\\\\a.example",
  "https://a.example\\b",
  "https://a.example:99999/",
  "https://user@a.example/",
  "https://:secret@a.example/",
  "https:a.example",
  "https:/a.example",
  "https:a.example/https://b.example",
])("the text %j is not a link", (content) => {
  expect(linkIn(content)).toBeNull();
});

test.each([
  ["its own link, with the text below", "Hi", LINK, { link: LINK, caption: "Hi" }],
  ["its own link, which the text repeats", ` ${LINK} `, LINK, { link: LINK, caption: null }],
  ["the link that is its text", ` ${LINK} `, null, { link: LINK, caption: null }],
  ["its own link, with another link below", "https://b.example", LINK, { link: LINK, caption: "https://b.example" }],
  ["no link", "Hi", null, null],
])("media has %s", (_what, content, mediaUrl, expected) => {
  expect(linkedMedia({ content, mediaUrl })).toEqual(expected);
});
