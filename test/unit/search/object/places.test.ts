import { expect, test } from "vitest";
import { firstIdOf, lastIdOf, secondOf, secondOfId } from "../../../../src/search/object/places.ts";

test.each([
  ["1970", Date.UTC(1970, 0, 1)],
  ["the millisecond before 2020", Date.UTC(2020, 0, 1) - 1],
  ["2020", Date.UTC(2020, 0, 1)],
  ["2026", Date.UTC(2026, 5, 1, 12, 30, 15, 999)],
  ["the year 9999", Date.UTC(9999, 11, 31)],
])("the ids of a second of %s are its own and safe", (_name, at) => {
  const second = secondOf(at);
  for (const id of [firstIdOf(second), lastIdOf(second)]) {
    expect(Number.isSafeInteger(id)).toBe(true);
    expect(secondOfId(id)).toBe(second);
  }
  expect(lastIdOf(second) + 1).toBe(firstIdOf(secondOf(at + 1_000)));
});
