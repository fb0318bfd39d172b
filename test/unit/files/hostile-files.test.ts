import { expect, test } from "vitest";
import type { Sides } from "../../../src/files/dimensions.ts";
import { SNIFFED_BYTES, typeOfBytes } from "../../../src/files/sniff.ts";
import { type HostileFile, hostileFile } from "../../support/hostile-files.ts";
import { HEADS, uploadedSides } from "../../support/uploaded-sides.ts";

const SEEDS = 1_000;
/** The reads that the number of parts allows, and the entries of EXIF, which are bytes of the file. */
const MOST_READS = 8_000;

/** The sides of a file, read as an upload reads them, with the number of reads. */
function readSides(bytes: Uint8Array, type: string): { sides: Sides | null; reads: number } {
  let reads = 0;
  const names = ["getUint8", "getUint16", "getUint32"] as const;
  const own = names.map((name) => [name, DataView.prototype[name]] as const);
  for (const [name, read] of own) {
    DataView.prototype[name] = function count(this: DataView, at: number, isLittle?: boolean) {
      reads++;
      return read.call(this, at, isLittle);
    };
  }
  try {
    const sides = uploadedSides(bytes, type);
    return { sides, reads };
  } finally {
    for (const [name, read] of own) DataView.prototype[name] = read;
  }
}

/** The shorter side first: a photo can lie on its side. */
function sorted({ width, height }: Sides): [number, number] {
  return width < height ? [width, height] : [height, width];
}

function faultsOf(seed: number, { name, bytes, type, declared, sides: seen, isHonest }: HostileFile): string[] {
  const faults: string[] = [];
  const say = (what: string) => faults.push(`seed ${seed}, ${name}: ${what}`);
  const { sides, reads } = readSides(bytes, type);
  if (reads > HEADS.length * MOST_READS + bytes.length / 8) say(`${reads} reads of ${bytes.length} bytes`);
  if (seen && sides) {
    const [[shortSeen, longSeen], [short, long]] = [sorted(seen), sorted(sides)];
    if (short < shortSeen || long < longSeen) say(`a decoder sees ${longSeen} × ${shortSeen}, not ${long} × ${short}`);
  }
  if (seen === null && sides) say("has sides");
  if (isHonest && seen && !sides) say("its sides are not found");
  const decided = typeOfBytes(bytes, declared);
  // Of a text, the sender's word counts. It is only ever a download.
  const isPicture = /^image\/(?!svg)/.test(decided.type ?? "");
  if (isHonest && isPicture && decided.type !== type) say(`is taken for ${decided.type}`);
  if (JSON.stringify(typeOfBytes(bytes.subarray(0, SNIFFED_BYTES), declared)) !== JSON.stringify(decided)) {
    say("its type depends on more than its first bytes");
  }
  return faults;
}

test("of 1,000 broken and lying files, none has smaller sides than a decoder sees, and none makes work", () => {
  const files = Array.from({ length: SEEDS }, (_, index) => hostileFile(index + 1));
  expect(files.flatMap((file, index) => faultsOf(index + 1, file))).toEqual([]);
  // Else the generator shows nothing.
  const kinds = new Set(files.map(({ name }) => name));
  for (const kind of ["a lying JPEG", "a lying GIF", "a lying WebP", "a lying PNG", "a photo", "application/pdf"]) {
    expect(kinds).toContain(kind);
  }
  const found = files.filter(({ bytes, type, isHonest }) => isHonest && readSides(bytes, type).sides);
  expect(found.length).toBeGreaterThan(SEEDS / 5);
});
