import { expect, test } from "vitest";
import { readerOf } from "../../src/web/shared/long-list/reader.ts";

/** A reader at the end of a list, and what the browser says of its box. */
function atTheEnd() {
  const box = { scrollHeight: 1_000, clientHeight: 400, scrollTop: 600, querySelectorAll: () => [] };
  const reader = readerOf({ current: box as unknown as Element });
  reader.settle();
  return { box, reader };
}

test("a box that gets smaller before its scrolling is reported leaves the reader at the end", () => {
  const { box, reader } = atTheEnd();
  box.clientHeight = 250;
  expect(reader.onScroll()).toBe(false);
  expect(box.scrollTop).toBe(750);
  box.clientHeight = 200;
  reader.settle();
  expect(box.scrollTop).toBe(800);
});

test("a reader who scrolls away from the end stays there, whatever the height", () => {
  const { box, reader } = atTheEnd();
  box.scrollTop = 500;
  expect(reader.onScroll()).toBe(true);
  for (const height of [250, 400, 500]) {
    box.clientHeight = height;
    reader.settle();
    expect(box.scrollTop).toBe(500);
    expect(reader.onScroll()).toBe(height === 500);
  }
});
