import { expect, test } from "vitest";
import { BoundedMap } from "../../../src/platform/bounded-map.ts";

test("where a map would hold more than its bound, what was put there first goes", () => {
  const map = new BoundedMap<string, number>(2).set("a", 1).set("b", 2);
  expect([...map]).toEqual([
    ["a", 1],
    ["b", 2],
  ]);
  map.set("c", 3);
  expect([...map.keys()]).toEqual(["b", "c"]);
});

test("what is put there again is the newest, and nothing goes for it", () => {
  const map = new BoundedMap<string, number>(2).set("a", 1).set("b", 2).set("a", 3);
  expect([...map]).toEqual([
    ["b", 2],
    ["a", 3],
  ]);
  expect([...map.set("c", 4).keys()]).toEqual(["a", "c"]);
});
