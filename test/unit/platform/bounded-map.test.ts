import { expect, test } from "vitest";
import { BoundedMap } from "../../../src/platform/bounded-map.ts";

test("a full map removes its oldest entry", () => {
  const map = new BoundedMap<string, number>(2).set("a", 1).set("b", 2);
  expect([...map]).toEqual([
    ["a", 1],
    ["b", 2],
  ]);
  map.set("c", 3);
  expect([...map.keys()]).toEqual(["b", "c"]);
});

test("an entry that is set again becomes the newest, and removes none", () => {
  const map = new BoundedMap<string, number>(2).set("a", 1).set("b", 2).set("a", 3);
  expect([...map]).toEqual([
    ["b", 2],
    ["a", 3],
  ]);
  expect([...map.set("c", 4).keys()]).toEqual(["a", "c"]);
});
