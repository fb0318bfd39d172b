import { expect, test } from "vitest";
import { isMeasured, sidesOf } from "../../../src/files/store-file.ts";
import { jpeg } from "../../support/jpeg.ts";

test.for([1, 2, 3, 4])("a JPEG with the orientation %d is as wide as it says", (orientation) => {
  expect(sidesOf(jpeg(orientation))).toEqual({ width: 40, height: 30 });
});

test.for([5, 6, 7, 8])("a JPEG with the orientation %d lies on its side", (orientation) => {
  expect(sidesOf(jpeg(orientation))).toEqual({ width: 30, height: 40 });
});

test("the sides stand behind 300 KB, and are unknown before", () => {
  const whole = jpeg(6, 5);
  expect(whole.length).toBeGreaterThan(300_000);
  expect(sidesOf(whole)).toEqual({ width: 30, height: 40 });
  expect(sidesOf(whole.subarray(0, 100_000))).toBeNull();
});

test.for(["image/svg+xml", "image/heic", "video/mp4", "text/plain"])("%s is not measured", (type) => {
  expect(isMeasured(type)).toBe(false);
});

test("bytes that are no picture have no sides", () => {
  for (const bytes of [
    new Uint8Array(),
    new TextEncoder().encode("<svg width='5' height='6'/>"),
    jpeg(1).subarray(0, 9),
  ]) {
    expect(sidesOf(bytes)).toBeNull();
  }
});
