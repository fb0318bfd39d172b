import type { Sides } from "../../src/files/dimensions.ts";
import { jpeg } from "./jpeg.ts";
import { Random } from "./random.ts";

/** A file of a stranger. */
export interface HostileFile {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
  /** What the file really is. */
  type: string;
  /** What its sender calls it. */
  declared: string;
  /** The sides that a decoder makes room for; null if the file has none; undefined where damage leaves that open. */
  sides: Sides | null | undefined;
  /** Whether the file says nothing false. */
  isHonest: boolean;
}

type Made = Omit<HostileFile, "declared">;

const TYPES = [
  ...["image/jpeg", "image/png", "image/gif", "image/webp", "image/svg+xml", "application/pdf", "video/mp4"],
  ...["audio/ogg", "text/html", "application/zip", "application/octet-stream", "", "nonsense"],
];
/** The longest side that each format can say, or more than enough. */
const LONGEST = 16_383;

/** The file of a seed: a picture, a PDF or a medium, honest, lying or damaged. */
export function hostileFile(seed: number): HostileFile {
  const random = new Random(seed);
  const made = random.pick([jpegFile, gifFile, webpFile, pngFile, otherFile])(random);
  const isDamaged = random.next() < 0.3;
  const file = isDamaged ? { ...made, ...damaged(random, made), isHonest: false } : made;
  return { ...file, declared: random.next() < 0.7 ? made.type : random.pick(TYPES) };
}

function sidesIn(random: Random): Sides {
  return { width: random.between(1, LONGEST), height: random.between(1, LONGEST) };
}

function jpegFile(random: Random): Made {
  const sides = sidesIn(random);
  const small = { width: 1, height: 1 };
  const lies = [comment(frame(small)), [0xff, ...comment(frame(small))], segment(0xe1, [...ascii("Exif\0\0"), 1])];
  const parts: number[][] = [];
  for (let count = random.between(0, 6); count > 0; count--) {
    parts.push(random.pick([noise(random, 0xe0), noise(random, 0xdb), comment([...ascii("words")])]));
  }
  const isLying = random.next() < 0.5;
  if (isLying) parts.splice(random.between(0, parts.length), 0, random.pick(lies));
  if (random.next() < 0.02) parts.push(...Array.from({ length: 80 }, () => [...longExif()]));
  const after = isLying ? frame(small) : [];
  const data = [0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 1, 2, 3];
  const bytes = Uint8Array.from([0xff, 0xd8, ...parts.flat(), ...frame(sides), ...data, ...after, 0xff, 0xd9]);
  if (!isLying && parts.length < 2 && random.next() < 0.3) {
    const turned = jpeg(random.between(1, 8), random.between(0, 2));
    return { name: "a photo", bytes: turned, type: "image/jpeg", sides: { width: 40, height: 30 }, isHonest: true };
  }
  return { name: isLying ? "a lying JPEG" : "a JPEG", bytes, type: "image/jpeg", sides, isHonest: !isLying };
}

function gifFile(random: Random): Made {
  const isLying = random.next() < 0.5;
  const screen = sidesIn(random);
  const first = isLying
    ? sidesIn(random)
    : { width: random.between(1, screen.width), height: random.between(1, screen.height) };
  const x = isLying ? random.between(0, 9_000) : random.between(0, screen.width - first.width);
  const y = isLying ? random.between(0, 9_000) : random.between(0, screen.height - first.height);
  const colors = random.between(0, 7);
  const extensions = Array.from({ length: random.between(0, 4) }, () => {
    const data = ascii("x".repeat(random.between(1, 255)));
    return [0x21, random.pick([0xf9, 0xfe, 0xff]), data.length, ...data, 0];
  });
  const at = [x, y, first.width, first.height].flatMap(u16);
  const bytes = Uint8Array.from([
    ...[...ascii("GIF89a"), ...u16(screen.width), ...u16(screen.height), 0x80 | colors, 0, 0],
    ...Array.from({ length: 3 << (colors + 1) }, () => 7),
    ...[...extensions.flat(), 0x2c, ...at, 0, 2, 1, 0, 0, 0x3b],
  ]);
  // A decoder makes room for the screen and the first frame.
  const sides = { width: Math.max(screen.width, x + first.width), height: Math.max(screen.height, y + first.height) };
  return { name: isLying ? "a lying GIF" : "a GIF", bytes, type: "image/gif", sides, isHonest: !isLying };
}

function webpFile(random: Random): Made {
  const sides = sidesIn(random);
  const isLying = random.next() < 0.5;
  const said = isLying ? { width: 1, height: 1 } : sides;
  const lossy = [0, 0, 0, 0x9d, 0x01, 0x2a, ...u16(sides.width), ...u16(sides.height)];
  const packed = (sides.width - 1) | ((sides.height - 1) << 14);
  const picture = random.next() < 0.5 ? chunk("VP8 ", lossy) : chunk("VP8L", [0x2f, ...u32(packed)]);
  const hasCanvas = isLying || random.next() < 0.5;
  const canvas = hasCanvas ? chunk("VP8X", [0, 0, 0, 0, ...u24(said.width - 1), ...u24(said.height - 1)]) : [];
  const more = hasCanvas ? chunk("ICCP", [...ascii("x".repeat(random.between(0, 300)))]) : [];
  const bytes = Uint8Array.from([...ascii("RIFF"), ...u32(9_999), ...ascii("WEBP"), ...canvas, ...more, ...picture]);
  return { name: isLying ? "a lying WebP" : "a WebP", bytes, type: "image/webp", sides, isHonest: !isLying };
}

function pngFile(random: Random): Made {
  const sides = sidesIn(random);
  const isLying = random.next() < 0.5;
  const header = (of: Sides) => [
    ...[0, 0, 0, 13, ...ascii("IHDR"), ...u32(of.width).toReversed(), ...u32(of.height).toReversed()],
    ...[8, 6, 0, 0, 0, 1, 2, 3, 4],
  ];
  const bytes = Uint8Array.from([
    ...[0x89, ...ascii("PNG\r\n\x1a\n"), ...header(sides)],
    ...(isLying ? header({ width: 1, height: 1 }) : []),
    ...ascii("x".repeat(random.between(0, 200))),
  ]);
  return { name: isLying ? "a lying PNG" : "a PNG", bytes, type: "image/png", sides, isHonest: true };
}

const BEGINNINGS: [type: string, bytes: string][] = [
  ["application/pdf", "%PDF-1.7\n/MediaBox [0 0 1 1]"],
  ["video/mp4", "\0\0\0\x20ftypisom"],
  ["audio/ogg", "OggS\0"],
  ["application/zip", "PK\x03\x04"],
  ["text/html", "<html><img width=1 height=1>"],
  ["image/svg+xml", "<svg width='1' height='1'>"],
];

function otherFile(random: Random): Made {
  const [type, beginning] = random.pick(BEGINNINGS);
  const rest = Array.from({ length: random.between(0, 2_000) }, () => random.between(0, 255));
  // A picture behind the beginning must not count.
  const hidden = random.next() < 0.3 ? [...jpeg(1)] : [];
  const bytes = Uint8Array.from([...ascii(beginning), ...hidden, ...rest]);
  return { name: type, bytes, type, sides: null, isHonest: true };
}

function damaged(random: Random, { bytes, sides, name }: Made): Pick<Made, "name" | "bytes" | "sides"> {
  const copy = bytes.slice();
  if (random.next() < 0.4) {
    // Sides that are cut off are sides that no decoder sees.
    return { name: `${name}, cut off`, bytes: copy.slice(0, random.between(1, copy.length)), sides };
  }
  for (let count = random.between(1, 20); count > 0; count--) {
    copy[random.between(0, Math.min(copy.length, 400) - 1)] = random.pick([0, 1, 0xff, random.between(0, 255)]);
  }
  return { name: `${name}, damaged`, bytes: copy, sides: undefined };
}

function ascii(text: string): number[] {
  return [...text].map((char) => char.charCodeAt(0));
}

function segment(marker: number, content: number[]): number[] {
  const length = content.length + 2;
  return [0xff, marker, length >> 8, length & 0xff, ...content];
}

function comment(content: number[]): number[] {
  return segment(0xfe, content);
}

function noise(random: Random, marker: number): number[] {
  return segment(
    marker,
    Array.from({ length: random.between(0, 500) }, () => random.between(0, 255)),
  );
}

function frame({ width, height }: Sides): number[] {
  return segment(0xc0, [8, height >> 8, height & 0xff, width >> 8, width & 0xff, 1, 1, 0x11, 0]);
}

/** EXIF with as many entries as a reader looks at, and no orientation. */
function longExif(): number[] {
  return segment(0xe1, [...ascii("Exif\0\0MM"), 0, 42, 0, 0, 0, 8, 2, 0, ...Array<number>(6_144).fill(0)]);
}

function chunk(kind: string, data: number[]): number[] {
  return [...ascii(kind), ...u32(data.length), ...data, ...(data.length % 2 ? [0] : [])];
}

function u16(value: number): number[] {
  return [value & 0xff, (value >> 8) & 0xff];
}

function u24(value: number): number[] {
  return [...u16(value), (value >> 16) & 0xff];
}

function u32(value: number): number[] {
  return [...u16(value), ...u16(value >>> 16)];
}
