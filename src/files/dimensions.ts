/** The sides of a picture in pixels, as it is shown. */
export interface Sides {
  width: number;
  height: number;
}

/** More segments, and entries of EXIF, than any camera writes. */
const MAX_PARTS = 512;
/** EXIF's orientations that turn a picture on its side. */
const ON_ITS_SIDE = 5;
const ORIENTATION = 0x01_12;

/**
 * The sides of a picture, read as browsers read them: sides that a browser would not believe are not believed here.
 * The work is bounded, whatever the bytes are.
 * @returns null if the file has none, or contradicts itself; "more" if these first bytes don't say
 */
export function sidesOf(head: Uint8Array, contentType: string): Sides | null | "more" {
  const read = READERS[contentType];
  if (!read) return null;
  try {
    const sides = read(new DataView(head.buffer, head.byteOffset, head.byteLength));
    return sides && sides.width > 0 && sides.height > 0 ? sides : null;
  } catch (error) {
    if (error instanceof RangeError) return "more";
    throw error;
  }
}

/** They read past the end, which throws a RangeError, if they need more bytes. */
const READERS: Record<string, (bytes: DataView) => Sides | null> = {
  "image/png": pngSides,
  "image/gif": gifSides,
  "image/webp": webpSides,
  "image/jpeg": jpegSides,
};

/** @see https://www.w3.org/TR/png-3/#11IHDR */
function pngSides(bytes: DataView): Sides | null {
  if (textAt(bytes, 12, 4) !== "IHDR") return null;
  return { width: bytes.getUint32(16), height: bytes.getUint32(20) };
}

/**
 * Browsers make room for the screen or the first frame, whichever is larger, so the frame must be within the screen. They
 * cut later frames.
 * @see https://www.w3.org/Graphics/GIF/spec-gif89a.txt
 */
function gifSides(bytes: DataView): Sides | null {
  const sides = { width: bytes.getUint16(6, true), height: bytes.getUint16(8, true) };
  let at = 13 + colorsAfter(bytes.getUint8(10));
  for (let parts = 0; parts < MAX_PARTS; parts++) {
    const block = bytes.getUint8(at);
    if (block === 0x2c) {
      const right = bytes.getUint16(at + 1, true) + bytes.getUint16(at + 5, true);
      const bottom = bytes.getUint16(at + 3, true) + bytes.getUint16(at + 7, true);
      return right <= sides.width && bottom <= sides.height ? sides : null;
    }
    if (block !== 0x21) return null;
    at += 2;
    // An extension: sub-blocks that begin with their length, up to an empty one.
    let length: number;
    do {
      length = bytes.getUint8(at);
      at += length + 1;
      if (++parts > MAX_PARTS) return null;
    } while (length > 0);
  }
  return null;
}

/** The bytes of the table of colors that a GIF's flags announce. */
function colorsAfter(flags: number): number {
  return flags & 0x80 ? 3 << ((flags & 0x07) + 1) : 0;
}

/** @see https://developers.google.com/speed/webp/docs/riff_container */
function webpSides(bytes: DataView): Sides | null {
  let canvas: Sides | null = null;
  let at = 12;
  for (let parts = 0; parts < MAX_PARTS; parts++) {
    const kind = textAt(bytes, at, 4);
    const data = at + 8;
    if (kind === "VP8X" && !canvas) {
      canvas = { width: 1 + uint24(bytes, data + 4), height: 1 + uint24(bytes, data + 7) };
      const isAnimated = (bytes.getUint8(data) & 0x02) !== 0;
      // Browsers refuse frames beyond the canvas.
      if (isAnimated) return canvas;
    } else if (kind === "VP8 " || kind === "VP8L") {
      const sides = kind === "VP8 " ? lossySides(bytes, data) : losslessSides(bytes, data);
      const isSame = !canvas || (sides?.width === canvas.width && sides.height === canvas.height);
      return isSame ? sides : null;
    }
    // A chunk has an even length.
    const length = bytes.getUint32(at + 4, true);
    at = data + length + (length % 2);
  }
  return null;
}

/** @see RFC 6386, 9.1 */
function lossySides(bytes: DataView, at: number): Sides | null {
  if (uint24(bytes, at + 3) !== 0x2a_01_9d) return null;
  return { width: bytes.getUint16(at + 6, true) & 0x3f_ff, height: bytes.getUint16(at + 8, true) & 0x3f_ff };
}

/** @see RFC 9649, 3.4 */
function losslessSides(bytes: DataView, at: number): Sides | null {
  if (bytes.getUint8(at) !== 0x2f) return null;
  const bits = bytes.getUint32(at + 1, true);
  return { width: 1 + (bits & 0x3f_ff), height: 1 + ((bits >>> 14) & 0x3f_ff) };
}

/**
 * Reads segment by segment to the one that begins the picture. Bytes that look like a segment inside of another one are
 * not one.
 * @see ITU-T T.81, B.1.1
 */
function jpegSides(bytes: DataView): Sides | null {
  let at = 2;
  let isTurned = false;
  for (let parts = 0; parts < MAX_PARTS; parts++) {
    if (bytes.getUint8(at) !== 0xff) return null;
    const marker = bytes.getUint8(at + 1);
    if (marker === 0xff) {
      // A fill byte.
      at++;
      continue;
    }
    const length = bytes.getUint16(at + 2);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) {
      const [height, width] = [bytes.getUint16(at + 5), bytes.getUint16(at + 7)];
      return isTurned ? { width: height, height: width } : { width, height };
    }
    // The picture's data begins, or ends, before its frame; or a segment that has no length.
    if (marker < 0xc0 || (marker >= 0xd0 && marker <= 0xda) || length < 2) return null;
    if (marker === 0xe1 && textAt(bytes, at + 4, 6) === "Exif\0\0") {
      isTurned = orientationOf(new DataView(bytes.buffer, bytes.byteOffset + at + 10, length - 8)) >= ON_ITS_SIDE;
    }
    at += 2 + length;
  }
  return null;
}

/** The orientation that EXIF says; 1, as it is, if it says none. @see CIPA DC-008, 4.6 */
function orientationOf(tiff: DataView): number {
  try {
    const isLittle = textAt(tiff, 0, 2) === "II";
    const first = tiff.getUint32(4, isLittle);
    const entries = Math.min(MAX_PARTS, tiff.getUint16(first, isLittle));
    for (let entry = 0; entry < entries; entry++) {
      const at = first + 2 + 12 * entry;
      if (tiff.getUint16(at, isLittle) === ORIENTATION) {
        const value = tiff.getUint16(at + 8, isLittle);
        return value <= 8 ? value : 1;
      }
    }
  } catch {
    // It is cut off or damaged. The picture itself may not be.
  }
  return 1;
}

function uint24(bytes: DataView, at: number): number {
  return bytes.getUint16(at, true) | (bytes.getUint8(at + 2) << 16);
}

/** @throws RangeError if the bytes end before */
function textAt(bytes: DataView, at: number, length: number): string {
  return String.fromCharCode(...Array.from({ length }, (_, index) => bytes.getUint8(at + index)));
}
