import { expect, test } from "vitest";
import { folded } from "../../../../src/model/folding.ts";

test("each character folds to a form that stays, alone and with a mark", () => {
  const changed: string[] = [];
  for (let point = 0; point <= 0x10ffff; point++) {
    const form = folded(`${String.fromCodePoint(point)}\u0301`);
    if (folded(form) !== form) changed.push(point.toString(16));
  }
  expect(changed).toEqual([]);
});
