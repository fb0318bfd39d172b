import { type Sides, sidesOf } from "../../src/files/dimensions.ts";
import { SNIFFED_BYTES } from "../../src/files/sniff.ts";

/** How much of a file an upload reads before it stores it, each time that the bytes before don't say the sides. */
export const HEADS = [SNIFFED_BYTES, 8_192, 65_536, 524_288];

/** The sides of a file, read as an upload reads them. */
export function uploadedSides(bytes: Uint8Array, type: string): Sides | null {
  for (const length of HEADS) {
    const sides = sidesOf(bytes.subarray(0, length), type);
    if (sides !== "more") return sides;
  }
  return null;
}
