import { expect, test } from "vitest";
import { isMeasured, sidesOf } from "../../../src/files/dimensions.ts";

/** A segment of a JPEG. */
function segment(marker: number, content: number[] | Uint8Array): number[] {
  const length = content.length + 2;
  return [0xff, marker, length >> 8, length & 0xff, ...content];
}

/** EXIF with nothing but an orientation. */
function exif(orientation: number): number[] {
  const entry = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0];
  return segment(0xe1, [...new TextEncoder().encode("Exif\0\0MM"), 0, 42, 0, 0, 0, 8, 0, 1, ...entry, 0, 0, 0, 0]);
}

/** A JPEG of 40 × 30 pixels, without its picture. */
function jpeg(orientation: number, padding = 0): Uint8Array {
  const pads = Array.from({ length: padding }, () => segment(0xe2, new Uint8Array(60_000)));
  const frame = segment(0xc0, [8, 0, 30, 0, 40, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]);
  return Uint8Array.from([0xff, 0xd8, ...exif(orientation), ...pads.flat(), ...frame]);
}

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
