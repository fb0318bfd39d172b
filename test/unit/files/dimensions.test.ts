import fc from "fast-check";
import { expect, test } from "vitest";
import { sidesOf } from "../../../src/files/dimensions.ts";
import { jpeg } from "../../support/jpeg.ts";

const bytes = (...parts: (string | number[])[]) =>
  Uint8Array.from(
    parts.flatMap((part) => (typeof part === "string" ? [...part].map((char) => char.charCodeAt(0)) : part)),
  );
const u16 = (value: number) => [value & 0xff, value >> 8];
const u24 = (value: number) => [...u16(value & 0xffff), value >> 16];
const u32 = (value: number) => [...u16(value & 0xffff), ...u16(value >>> 16)];

const png = (width: number, height: number) =>
  bytes("\x89PNG\r\n\x1a\n", [0, 0, 0, 13], "IHDR", u32(width).toReversed(), u32(height).toReversed());

/** A GIF with a table of two colors, an extension and the beginning of its first frame. */
const gif = (screen: [number, number], frame: [x: number, y: number, width: number, height: number]) =>
  bytes(
    "GIF89a",
    screen.flatMap(u16),
    [0x80, 0, 0],
    [0, 0, 0, 9, 9, 9],
    [0x21, 0xf9, 4, 0, 0, 0, 0, 0],
    ",",
    frame.flatMap(u16),
  );

const chunk = (kind: string, data: number[]) => [
  ...bytes(kind),
  ...u32(data.length),
  ...data,
  ...(data.length % 2 ? [0] : []),
];
const webp = (...chunks: number[][]) => bytes("RIFF", u32(0), "WEBP", chunks.flat());
const canvas = (width: number, height: number, flags = 0) =>
  chunk("VP8X", [flags, 0, 0, 0, ...u24(width - 1), ...u24(height - 1)]);
const lossy = (width: number, height: number) =>
  chunk("VP8 ", [0, 0, 0, 0x9d, 0x01, 0x2a, ...u16(width), ...u16(height)]);
const lossless = (width: number, height: number) => chunk("VP8L", [0x2f, ...u32((width - 1) | ((height - 1) << 14))]);

test.for([1, 2, 3, 4])("a JPEG with the orientation %d is as wide as it says", (orientation) => {
  expect(sidesOf(jpeg(orientation), "image/jpeg")).toEqual({ width: 40, height: 30 });
});

test.for([5, 6, 7, 8])("a JPEG with the orientation %d lies on its side", (orientation) => {
  expect(sidesOf(jpeg(orientation), "image/jpeg")).toEqual({ width: 30, height: 40 });
});

test("the sides stand behind 300 KB, and more bytes are asked for before", () => {
  const whole = jpeg(6, 5);
  expect(whole.length).toBeGreaterThan(300_000);
  expect(sidesOf(whole, "image/jpeg")).toEqual({ width: 30, height: 40 });
  expect(sidesOf(whole.subarray(0, 100_000), "image/jpeg")).toBe("more");
});

test.for<[name: string, type: string, picture: Uint8Array]>([
  ["a PNG", "image/png", png(40, 30)],
  ["a GIF", "image/gif", gif([40, 30], [0, 0, 40, 30])],
  ["a GIF whose first frame is smaller", "image/gif", gif([40, 30], [39, 29, 1, 1])],
  ["a lossy WebP", "image/webp", webp(lossy(40, 30))],
  ["a lossless WebP", "image/webp", webp(lossless(40, 30))],
  ["a WebP with a canvas and a profile", "image/webp", webp(canvas(40, 30), chunk("ICCP", [1, 2, 3]), lossy(40, 30))],
  ["an animated WebP", "image/webp", webp(canvas(40, 30, 0x02))],
])("%s has the sides that it says, and without its last two bytes more are asked for", ([, type, picture]) => {
  expect(sidesOf(picture, type)).toEqual({ width: 40, height: 30 });
  expect(sidesOf(picture.subarray(0, -2), type)).toBe("more");
});

/** A segment of a comment that looks like the frame of a picture of 1 × 1. */
const FALSE_FRAME = [0xff, 0xfe, 0, 13, 0xff, 0xc0, 0, 11, 8, 0, 1, 0, 1, 1, 1];

test.for<[name: string, head: Uint8Array, sides: object | null]>([
  ["a frame within a comment", bytes([0xff, 0xd8], FALSE_FRAME, [...jpeg(1).subarray(2)]), { width: 40, height: 30 }],
  [
    "a fill byte before that comment",
    bytes([0xff, 0xd8, 0xff], FALSE_FRAME, [...jpeg(1).subarray(2)]),
    { width: 40, height: 30 },
  ],
  ["zeros between segments", bytes([0xff, 0xd8, 0, 0, 0], [...jpeg(1).subarray(2)]), null],
  ["nothing but fill bytes", bytes([0xff, 0xd8], Array(100_000).fill(0xff)), null],
  ["picture data before a frame", bytes([0xff, 0xd8, 0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0]), null],
])("of a JPEG with %s only the frame counts", ([, head, sides]) => {
  expect(sidesOf(head, "image/jpeg")).toEqual(sides);
});

test.for<[name: string, type: string, picture: Uint8Array]>([
  ["a GIF whose first frame is larger than its screen", "image/gif", gif([1, 1], [0, 0, 16_000, 16_000])],
  ["a GIF whose first frame is beside its screen", "image/gif", gif([40, 30], [39, 0, 40, 30])],
  [
    "a GIF of nothing but extensions",
    "image/gif",
    bytes("GIF89a", [40, 0, 30, 0, 0, 0, 0], Array(9_000).fill([0x21, 1, 0]).flat()),
  ],
  ["a WebP whose picture is larger than its canvas", "image/webp", webp(canvas(1, 1), lossy(16_000, 16_000))],
  ["a WebP whose picture is not one", "image/webp", webp(chunk("VP8 ", [0, 0, 0, 1, 2, 3, 40, 0, 30, 0]))],
  [
    "a PNG that begins with another chunk",
    "image/png",
    bytes("\x89PNG\r\n\x1a\n", [0, 0, 0, 4], "CgBI", Array(20).fill(0)),
  ],
  ["a PNG without a height", "image/png", png(40, 0)],
  ["SVG", "image/svg+xml", bytes("<svg width='5' height='6'/>")],
  ["no picture", "text/plain", png(40, 30)],
])("%s has no sides", ([, type, picture]) => {
  expect(sidesOf(picture, type)).toBeNull();
});

test("whatever the bytes are, it neither throws nor reads much", () => {
  const beginning = fc.constantFrom(
    ...[jpeg(6), png(40, 30), gif([40, 30], [0, 0, 40, 30]), webp(canvas(40, 30), lossy(40, 30))],
  );
  const type = fc.constantFrom("image/jpeg", "image/png", "image/gif", "image/webp");
  fc.assert(
    fc.property(beginning, type, fc.uint8Array({ maxLength: 60 }), fc.nat(60), (whole, as, noise, at) => {
      const damaged = Uint8Array.from(whole);
      damaged.set(noise.subarray(0, Math.max(0, damaged.length - at)), Math.min(at, damaged.length));
      const sides = sidesOf(damaged, as);
      return sides === "more" || sides === null || (sides.width > 0 && sides.height > 0);
    }),
    { numRuns: 2_000 },
  );
});
