import fc from "fast-check";
import { expect, test } from "vitest";
import { fileLink, isGoodLink, type LinkedFile } from "../../../../src/channels/web/file-link.ts";
import { withOtherEnd } from "../../../support/other-end.ts";

const KEY = new Uint8Array(32).fill(1);
const OLD_KEY = new Uint8Array(32).fill(2);
const FILE: LinkedFile = {
  channelId: "chn_g000000000000000",
  chatId: "cht_g000000000000000",
  messageId: "msg_g000000000000000",
};
const ORIGIN = "https://parley.test";
const NOON = Date.UTC(2026, 10, 23, 12);
const END = Date.UTC(2026, 10, 25);

const queryOf = (link: string) => new URL(link).searchParams;

test("a link names one message's file, and is the same all day", () => {
  const link = fileLink(KEY, ORIGIN, FILE, NOON);
  expect(link).toMatch(
    /^https:\/\/parley\.test\/web\/chn_g0{15}\/media\/cht_g0{15}\/msg_g0{15}\?until=1795564800&signature=[\w-]{43}$/,
  );
  expect(fileLink(KEY, ORIGIN, FILE, Date.UTC(2026, 10, 23))).toBe(link);
  expect(fileLink(KEY, ORIGIN, FILE, Date.UTC(2026, 10, 24) - 1)).toBe(link);
  expect(fileLink(KEY, ORIGIN, FILE, Date.UTC(2026, 10, 24))).not.toBe(link);
});

test("a link is good until the end of the next day, UTC", () => {
  const query = queryOf(fileLink(KEY, ORIGIN, FILE, NOON));
  expect(isGoodLink([KEY], FILE, query, NOON)).toBe(true);
  expect(isGoodLink([KEY], FILE, query, END - 1_000)).toBe(true);
  expect(isGoodLink([KEY], FILE, query, END)).toBe(false);
});

test("a link of the key before is good too, and of no other one", () => {
  const query = queryOf(fileLink(OLD_KEY, ORIGIN, FILE, NOON));
  expect(isGoodLink([KEY, OLD_KEY], FILE, query, NOON)).toBe(true);
  expect(isGoodLink([KEY], FILE, query, NOON)).toBe(false);
  expect(isGoodLink([], FILE, query, NOON)).toBe(false);
});

test.each(["channelId", "chatId", "messageId"] as const)("a link is of no other %s", (name) => {
  const query = queryOf(fileLink(KEY, ORIGIN, FILE, NOON));
  expect(isGoodLink([KEY], { ...FILE, [name]: withOtherEnd(FILE[name]) }, query, NOON)).toBe(false);
});

test("a link with any change is not valid", () => {
  const query = queryOf(fileLink(KEY, ORIGIN, FILE, NOON)).toString();
  fc.assert(
    fc.property(fc.nat(query.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (at, char) => {
      const changed = query.slice(0, at) + char + query.slice(at + 1);
      const given = new URLSearchParams(changed);
      fc.pre(
        given.get("until") !== queryOfText(query, "until") ||
          given.get("signature") !== queryOfText(query, "signature"),
      );
      expect(isGoodLink([KEY], FILE, given, NOON)).toBe(false);
    }),
  );
});

function queryOfText(query: string, name: string): string | null {
  return new URLSearchParams(query).get(name);
}
