import { expect, test } from "vitest";
import { sidesOf } from "../../../src/files/dimensions.ts";
import { hostileFile } from "../../support/hostile-files.ts";
import { HEADS } from "../../support/uploaded-sides.ts";

/** For how long a step may keep others waiting. */
const MOST_MS = 50;
const SEEDS = 5_000;
const LARGEST = 524_288;
const REPEATS = 3;

/** A file as large as an upload ever looks at: a beginning, and then the same part again and again. */
function filled(beginning: number[], part: number[]): Uint8Array {
  const bytes = new Uint8Array(LARGEST);
  for (let at = beginning.length; at < LARGEST; at += part.length) bytes.set(part.slice(0, LARGEST - at), at);
  bytes.set(beginning);
  return bytes;
}

const text = (ascii: string) => [...ascii].map((char) => char.charCodeAt(0));
const TIFF = [...text("Exif\0\0MM"), 0, 42, 0, 0, 0, 8, 0xff, 0xff];
const EXIF = [0xff, 0xe1, 0xff, 0xff, ...TIFF, ...Array<number>(65_535 - 2 - TIFF.length).fill(0)];

/** Parts as small as each format allows, and what a reader may take for parts. */
const LARGE: [name: string, type: string, bytes: Uint8Array][] = [
  ["a JPEG of empty segments", "image/jpeg", filled([0xff, 0xd8], [0xff, 0xfe, 0, 2])],
  ["a JPEG of fill bytes", "image/jpeg", filled([0xff, 0xd8], [0xff])],
  ["a JPEG of zeros", "image/jpeg", filled([0xff, 0xd8, 0xff, 0xe0], [0])],
  ["a JPEG of markers without a length", "image/jpeg", filled([0xff, 0xd8], [0xff, 0xd0])],
  ["a JPEG of long EXIF blocks", "image/jpeg", filled([0xff, 0xd8], EXIF)],
  ["a GIF of empty extensions", "image/gif", filled(text("GIF89a\x01\0\x01\0\0\0\0"), [0x21, 0xfe, 0])],
  ["a GIF of blocks of one byte", "image/gif", filled([...text("GIF89a\x01\0\x01\0\0\0\0"), 0x21, 0xfe], [1, 0x21])],
  ["a WebP of empty chunks", "image/webp", filled(text("RIFF\xff\xff\x07\0WEBPVP8X"), [...text("ICCP"), 0, 0, 0, 0])],
  ["a PNG of empty chunks", "image/png", filled(text("\x89PNG\r\n\x1a\n"), [0, 0, 0, 0, ...text("tEXt"), 0, 0, 0, 0])],
  ["an MP4 of empty boxes", "video/mp4", filled(text("\0\0\0\x20ftypisom"), [0, 0, 0, 8, ...text("free")])],
];

/** The CPU time of the longest step that reads the file's sides, in ms: the least of some runs, as other work counts too. */
function longestStep(bytes: Uint8Array, type: string): number {
  const runs = Array.from({ length: REPEATS }, () => {
    const steps = HEADS.map((length) => {
      const head = bytes.subarray(0, length);
      const before = process.cpuUsage();
      sidesOf(head, type);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    });
    return Math.max(...steps);
  });
  return Math.min(...runs);
}

test("no step that reads the sides of a stranger's file takes more than 50 ms of CPU", { timeout: 300_000 }, () => {
  const small = Array.from({ length: SEEDS }, (_, index) => {
    const { name, bytes, type } = hostileFile(index + 1);
    return { what: `seed ${index + 1}, ${name}`, ms: longestStep(bytes, type) };
  });
  const large = LARGE.map(([what, type, bytes]) => ({ what, ms: longestStep(bytes, type) }));
  const dearest = [...large, ...small].sort((one, other) => other.ms - one.ms).slice(0, 10);
  const shown = dearest.map(({ what, ms }) => `${ms.toFixed(2)} ms  ${what}`).join("\n");
  expect(dearest[0]?.ms, shown).toBeLessThan(MOST_MS);
});
