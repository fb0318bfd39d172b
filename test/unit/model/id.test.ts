import { expect, test } from "vitest";
import {
  isId,
  isMessageId,
  jurisdictionOf,
  messageId,
  newId,
  newSortableId,
  randomBase62,
  seqOf,
  startOfIds,
  timeOfId,
  toBase62,
} from "../../../src/model/id.ts";

const PREFIXES = ["org", "mbr", "chn", "tpl", "cht", "msg", "key"] as const;

test.each(PREFIXES)("a new id with the prefix %s is valid", (prefix) => {
  expect(isId(prefix, newId(prefix, null))).toBe(true);
});

test.each(PREFIXES)("an id with the prefix %s is not valid for another prefix", (prefix) => {
  const id = newId(prefix, "eu");
  expect(PREFIXES.filter((other) => isId(other, id))).toEqual([prefix]);
});

test.each([
  ["eu", "e"],
  ["us", "u"],
  [null, "g"],
] as const)("an id of the jurisdiction %s has the letter %s", (place, letter) => {
  const id = newId("cht", place);
  expect(id).toMatch(new RegExp(`^cht_${letter}[0-9A-Za-z]{15}$`));
  expect(jurisdictionOf(id)).toBe(place);
});

test("the random part can't change an id's jurisdiction", () => {
  expect(jurisdictionOf("chn_geueueueueueueue")).toBe(null);
});

test.each([
  ["nothing", ""],
  ["the prefix alone", "cht_"],
  ["a letter of no jurisdiction", "cht_a0123456789ABCDE"],
  ["an upper-case letter of a jurisdiction", "cht_E0123456789ABCDE"],
  ["one character too few", "cht_g0123456789ABCD"],
  ["one character too many", "cht_g0123456789ABCDEF"],
  ["a character that is not base62", "cht_g0123456789ABCD-"],
  ["a letter beyond ASCII", "cht_g0123456789ABCDé"],
  ["a line end after it", "cht_g0123456789ABCDE\n"],
  ["a space before it", " cht_g0123456789ABCDE"],
  ["a character between its prefix and its letter", "cht_xg0123456789ABCDE"],
  ["no underscore", "chtg0123456789ABCDE"],
  ["an upper-case prefix", "CHT_g0123456789ABCDE"],
])("text with %s is not an id", (_what, text) => {
  expect(isId("cht", text)).toBe(false);
});

test("ten thousand ids are all different", () => {
  expect(new Set(Array.from({ length: 10_000 }, () => newId("msg", null))).size).toBe(10_000);
});

test.each([0, 1, 15, 32, 1_000])("random text has %d characters, all base62", (length) => {
  expect(randomBase62(length)).toMatch(new RegExp(`^[0-9A-Za-z]{${length}}$`));
});

test("random text has no preferred character", () => {
  const counts = new Map<string, number>();
  const texts = Array.from({ length: 62 }, () => randomBase62(4_000));
  for (const letter of texts.join("")) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  expect(counts.size).toBe(62);
  // Six standard deviations. Bytes modulo 62 without rejection would put eight letters twenty off.
  for (const [letter, count] of counts) expect(Math.abs(count - 4_000), letter).toBeLessThan(6 * Math.sqrt(4_000));
});

test.each([
  [[], 3, "000"],
  [[0], 1, "0"],
  [[61], 1, "z"],
  [[62], 2, "10"],
  [[10, 36], 2, "fs"],
  [[255], 3, "047"],
  [[1, 0], 2, "48"],
  [[255, 255, 255, 255], 6, "4gfFC3"],
])("the bytes %j in %d digits of base62 are %s", (bytes, length, text) => {
  expect(toBase62(Uint8Array.from(bytes), length)).toBe(text);
});

test("a value with too many digits keeps its last ones", () => {
  expect(toBase62(Uint8Array.from([255, 255, 255, 255]), 2)).toBe("C3");
});

test.each([1, 9, 10, 61, 62, 3_843, 3_844, 10_000_000, 218_340_105_584_895])(
  "a message's id holds its seq, %i",
  (seq) => {
    const id = messageId("msg_gAAAAAAAAAAAAAAA", seq);
    expect(id.length).toBeGreaterThan(20);
    expect(seqOf(id)).toBe(seq);
  },
);

test.each([
  "",
  "msg_",
  "msg_gAAAAAAAAAAAAAAA",
  "msg_gAAAAAAAAAAAAAAA0",
  "cht_gAAAAAAAAAAAAAAA1",
  "msg_gAAAAAAAAAAAAAAA1-",
  "xmsg_gAAAAAAAAAAAAAAA1",
])("%j is not the id of a message", (id) => {
  expect(seqOf(id)).toBeNull();
});

test.each([
  ["msg_gAAAAAAAAAAAAAAA", true],
  ["msg_gAAAAAAAAAAAAAAA1", true],
  ["msg_gAAAAAAAAAAAAAAA0", false],
  ["msg_gAAAAAAAAAAAAAA", false],
  ["cht_gAAAAAAAAAAAAAAA", false],
  ["cht_gAAAAAAAAAAAAAAA1", false],
])("%j may be the id of a message, with or without a seq: %j", (text, isOne) => {
  expect(isMessageId(text)).toBe(isOne);
});

const TIMES = [0, 61, 62, Date.UTC(2026, 10, 20), Date.UTC(8888, 0)];

test.each(TIMES)("a sortable id holds its time, %i", (time) => {
  const id = newSortableId("aud", "eu", time);
  expect([isId("aud", id), jurisdictionOf(id), timeOfId(id)]).toEqual([true, "eu", time]);
  expect(id.slice(0, 13)).toBe(startOfIds(newId("aud", "eu"), time));
});

test("sortable ids sort by time", () => {
  const ids = TIMES.map((time) => newSortableId("aud", null, time));
  expect(ids.toReversed().sort()).toEqual(ids);
  expect(startOfIds("aud_gzzzzzzzzzzzzzzz", 62)).toBe("aud_g00000010");
});

test("two sortable ids of one time differ", () => {
  expect(newSortableId("aud", null, 1)).not.toBe(newSortableId("aud", null, 1));
});
