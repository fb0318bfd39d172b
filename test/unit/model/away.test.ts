import { expect, test } from "vitest";
import { awayAt, awaySetting } from "../../../src/model/away.ts";

const hours = { timeZone: "Europe/Berlin", week: { monday: [{ opens: "09:00", closes: "17:00" }] } };
const away = { text: "Away" };
const at = Date.parse;

test("a channel answers outside of its hours, and says until when", () => {
  const opens = at("2026-11-23T08:00:00Z");
  expect(awayAt({ away, hours }, at("2026-11-23T07:59:59Z"))).toEqual({ text: "Away", until: opens });
  expect(awayAt({ away, hours }, opens)).toBeUndefined();
  expect(awayAt({ away, hours: { ...hours, week: {} } }, opens)).toEqual({ text: "Away", until: null });
});

test("without hours or a text a channel does not answer", () => {
  expect(awayAt({ away }, 0)).toBeUndefined();
  expect(awayAt({ hours: { ...hours, week: {} } }, 0)).toBeUndefined();
});

test("an away text has 1 to 1,024 characters, and says something", () => {
  const isText = (text: unknown) => awaySetting.safeParse({ text }).success;
  expect(["a", "a".repeat(1_024)].map(isText)).toEqual([true, true]);
  expect(["", "  ", "a".repeat(1_025), "\ud800", null, undefined].map(isText)).toEqual(Array(6).fill(false));
});
