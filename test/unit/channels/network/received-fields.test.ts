import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  lineOf,
  receivedAt,
  receivedCards,
  receivedDecimal,
  receivedEmoji,
  receivedLocation,
  receivedTap,
  receivedTerm,
  receivedTime,
} from "../../../../src/channels/network/received.ts";

const NOW = 1_790_000_000_000;
const AHEAD = NOW / 1_000 + 86_400;

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: NOW }));
afterEach(() => void vi.useRealTimers());

test.each<[unknown, number | null]>([
  [1_700_000_000, 1_700_000_000_000],
  ["1700000000", 1_700_000_000_000],
  [1_000_000_000, 1_000_000_000_000],
  [999_999_999, null],
  [AHEAD, AHEAD * 1_000],
  [AHEAD + 1, null],
  ["17000000000", null],
  ["170000000", null],
  ["x1700000000", null],
  [" 1700000000", null],
  ["1700000000 ", null],
  [1_700_000_000.5, null],
  [null, null],
  [undefined, null],
])("a network's time %j is %j", (value, at) => {
  expect(receivedAt(value)).toBe(at ?? NOW);
  expect(receivedTime(value)).toEqual(at === null ? {} : { networkTime: new Date(at).toISOString() });
});

test.each<[unknown, string | undefined]>([
  ["Ann", "Ann"],
  [" Ann\r\n\tLee ", "Ann Lee"],
  ["Ann Maria", "Ann M"],
  [" Annas", "Annas"],
  ["Anna Lee", "Anna"],
  ["Anna🎉", "Anna\ufffd"],
  [" \n", undefined],
  ["", undefined],
  [7, undefined],
])("%j is the line %j of at most 5 characters", (value, line) => {
  expect(lineOf(value, value === " Ann\r\n\tLee " ? 9 : 5)).toBe(line);
});

test.each<[object, object | undefined]>([
  [
    { latitude: 90, longitude: 180 },
    { latitude: 90, longitude: 180 },
  ],
  [
    { latitude: -90, longitude: -180 },
    { latitude: -90, longitude: -180 },
  ],
  [{ latitude: 90.1, longitude: 0 }, undefined],
  [{ latitude: 0, longitude: -180.1 }, undefined],
  [
    { latitude: "52.5163", longitude: "-13" },
    { latitude: 52.5163, longitude: -13 },
  ],
  [{ latitude: "52.", longitude: "13" }, undefined],
  [{ latitude: "", longitude: "13" }, undefined],
  [{ latitude: "x52", longitude: "13" }, undefined],
  [{ latitude: "52x", longitude: "13" }, undefined],
  [{ latitude: "0x10", longitude: "13" }, undefined],
  [{ latitude: [5], longitude: 13 }, undefined],
  [{ latitude: Number.NaN, longitude: 13 }, undefined],
  [
    { latitude: 0, longitude: 0, name: " Gate ", address: "Main St\n1" },
    { latitude: 0, longitude: 0, name: "Gate", address: "Main St 1" },
  ],
  [
    { latitude: 0, longitude: 0, name: "", address: 5 },
    { latitude: 0, longitude: 0 },
  ],
])("the place %j is %j", (place, location) => {
  expect(receivedLocation(place)).toEqual(location);
  expect(Object.keys(receivedLocation(place) ?? {})).toEqual(Object.keys(location ?? {}));
});

test("a card needs a number, which is its name if it has none", () => {
  expect(
    receivedCards([
      { name: "Ann", phones: ["+1", 5, " ", "+2"] },
      { name: "Bo", phones: [] },
      { name: 7, phones: ["+3"] },
    ]),
  ).toEqual([
    { name: "Ann", phones: ["+1", "+2"] },
    { name: "+3", phones: ["+3"] },
  ]);
  expect(receivedCards([{ name: "Bo", phones: [null] }])).toBeUndefined();
  expect(receivedCards([])).toBeUndefined();
});

test("at most five cards are kept, each with at most five numbers", () => {
  const phones = Array.from({ length: 7 }, (_, index) => `+${index}`);
  const cards = receivedCards(Array.from({ length: 7 }, (_, index) => ({ name: `C${index}`, phones })));
  expect(cards).toEqual(["C0", "C1", "C2", "C3", "C4"].map((name) => ({ name, phones: phones.slice(0, 5) })));
});

test("a tap has its data and its title, each of at most 256 characters, and none without data", () => {
  const long = `${"x".repeat(255)}🎉`;
  expect(receivedTap(long, "y".repeat(300))).toEqual({ data: `${"x".repeat(255)}\ufffd`, title: "y".repeat(256) });
  expect(receivedTap("a", 5)).toEqual({ data: "a", title: "" });
  expect(receivedTap(5, "Yes")).toBeUndefined();
});

test.each<[unknown, string | null]>([
  ["EUR", "EUR"],
  [0, "0"],
  [1.5, "1.5"],
  ["", null],
  [Number.NaN, null],
  [Number.POSITIVE_INFINITY, null],
  [true, null],
  [{}, null],
  ["x".repeat(257), "x".repeat(256)],
  [`${"x".repeat(255)}🎉`, `${"x".repeat(255)}\ufffd`],
])("the term %j is %j", (value, term) => {
  expect(receivedTerm(value)).toBe(term);
});

test("an emoji has at most 32 UTF-16 units", () => {
  const longest = "👍".repeat(16);
  expect([receivedEmoji(longest), receivedEmoji(`${longest}x`)]).toEqual([longest, null]);
});

test("a term may be shorter than usual", () => {
  expect(receivedTerm("abcdef", 3)).toBe("abc");
});

test.each<[unknown, string | null]>([
  ["9.99", "9.99"],
  [" -5 ", "-5"],
  [12, "12"],
  ["1".repeat(20), "1".repeat(20)],
  ["1".repeat(21), null],
  [`0.${"1".repeat(20)}`, `0.${"1".repeat(20)}`],
  [`0.${"1".repeat(21)}`, null],
  ["5.", null],
  [".5", null],
  ["x5", null],
  ["5x", null],
  ["--5", null],
  [null, null],
])("the decimal %j is %j", (value, decimal) => {
  expect(receivedDecimal(value)).toBe(decimal);
});
