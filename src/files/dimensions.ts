import { disableTypes, imageSize, types } from "image-size";

const MEASURED = ["jpg", "png", "gif", "webp"] as const;

// Only these are measured: each further format is code that a stranger's bytes would run through.
disableTypes(types.filter((type) => !(MEASURED as readonly string[]).includes(type)));

/** Pictures whose sides are known by their first bytes. */
export function isMeasured(contentType: string): boolean {
  return /^image\/(?:jpeg|png|gif|webp)$/.test(contentType);
}

/** EXIF's orientations that turn a picture on its side. */
const ON_ITS_SIDE = 5;

/** The sides of a picture in pixels, as it is shown; null if these first bytes don't say, or it has none. */
export function sidesOf(head: Uint8Array): { width: number; height: number } | null {
  try {
    const { width, height, orientation = 1 } = imageSize(head);
    if (!(width > 0 && height > 0)) return null;
    return orientation >= ON_ITS_SIDE ? { width: height, height: width } : { width, height };
  } catch {
    // Not enough bytes, or no picture that anybody can measure.
    return null;
  }
}
