import { expect, test } from "vitest";
import { type MemberCounts, responseClass, withMembers } from "../../../src/model/conversation-counts.ts";

test.each([
  [-5, "within1m"],
  [0, "within1m"],
  [59_999, "within1m"],
  [60_000, "within5m"],
  [299_999, "within5m"],
  [300_000, "within15m"],
  [899_999, "within15m"],
  [900_000, "within1h"],
  [3_599_999, "within1h"],
  [3_600_000, "within4h"],
  [14_399_999, "within4h"],
  [14_400_000, "within24h"],
  [86_399_999, "within24h"],
  [86_400_000, "later"],
  [9e12, "later"],
])("a response time of %i ms is in the class %s", (ms, name) => {
  expect(responseClass(ms)).toBe(name);
});

const many = (from: number, to: number): MemberCounts =>
  Object.fromEntries(Array.from({ length: to - from }, (_, n) => [`m${from + n}`, { messages: 1 }]));

test("counts of members add up, and those that were counted last are kept", () => {
  expect(withMembers({ a: { messages: 1 } }, { a: { messages: 2, within1m: 1 }, b: { received: 1 } })).toEqual({
    a: { messages: 3, within1m: 1 },
    b: { received: 1 },
  });
  const full = many(0, 20);
  expect(withMembers(full, {})).toEqual(full);
  const after = withMembers(full, { m0: { messages: 1 }, m20: { messages: 1 } });
  expect(Object.keys(after)).toHaveLength(20);
  expect(after).not.toHaveProperty("m1");
  expect(after).toMatchObject({ m0: { messages: 2 }, m20: { messages: 1 } });
  expect(withMembers(full, { m1: { messages: 1 } })).toEqual({ ...full, m1: { messages: 2 } });
  // More than it keeps, if all are new.
  expect(Object.keys(withMembers(full, many(30, 60)))).toEqual(Object.keys(many(30, 60)));
});
