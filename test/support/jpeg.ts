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

/** A JPEG of 40 × 30 pixels, without its picture. @param padding how many times 60 KB stand before its sides */
export function jpeg(orientation: number, padding = 0): Uint8Array<ArrayBuffer> {
  const pads = Array.from({ length: padding }, () => segment(0xe2, new Uint8Array(60_000)));
  const frame = segment(0xc0, [8, 0, 30, 0, 40, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]);
  return Uint8Array.from([0xff, 0xd8, ...exif(orientation), ...pads.flat(), ...frame]);
}
