import { expect, test } from "vitest";
import type { Sides } from "../../../src/files/dimensions.ts";
import { browser } from "../../browser/file-browser.ts";
import { hostileFile } from "../../support/hostile-files.ts";
import { Random } from "../../support/random.ts";
import { uploadedSides } from "../../support/uploaded-sides.ts";

const SEEDS = 1_000;

interface Picture {
  /** Base64. */
  bytes: string;
  type: string;
}

/** Runs in a page, which reads the pictures by its own decoders. @returns the sides of each picture as the browser sees it, 0 × 0 if it sees none */
async function seenIn(pictures: readonly Picture[]): Promise<Sides[]> {
  const sides: Sides[] = [];
  for (const { bytes, type } of pictures) {
    const image = new Image();
    image.src = `data:${type};base64,${bytes}`;
    await new Promise((resolve) => (image.onload = image.onerror = resolve));
    sides.push({ width: image.naturalWidth, height: image.naturalHeight });
  }
  return sides;
}

interface Drawing extends Sides {
  type: string;
  /** From 0 to 1. At 1, a WebP is lossless. */
  quality: number;
  isClear: boolean;
}

/** Runs in a page. @returns each drawing as a file of its type, in base64 */
async function drawnIn(drawings: readonly Drawing[]): Promise<string[]> {
  const files: string[] = [];
  for (const { width, height, type, quality, isClear } of drawings) {
    const canvas = Object.assign(document.createElement("canvas"), { width, height });
    const pen = canvas.getContext("2d");
    if (pen) pen.fillStyle = isClear ? "rgba(0, 99, 0, 0.5)" : "green";
    pen?.fillRect(0, 0, isClear ? width / 2 : width, height);
    files.push(canvas.toDataURL(type, quality).split(",")[1] ?? "");
  }
  return files;
}

test("the sides of pictures that a browser writes are found in their first bytes", async () => {
  const random = new Random(7);
  const drawings = Array.from({ length: 120 }, (_, index): Drawing => {
    const type = ["image/png", "image/jpeg", "image/webp"][index % 3] ?? "";
    const [width, height] = [random.between(1, 900), random.between(1, 900)];
    return { width, height, type, quality: random.pick([0.1, 0.8, 1]), isClear: random.next() < 0.5 };
  });
  const page = await browser.newPage();
  const files = await page.evaluate(drawnIn, drawings);
  const found = drawings.map(({ type }, index) => uploadedSides(Buffer.from(files[index] ?? "", "base64"), type));
  expect(found).toEqual(drawings.map(({ width, height }) => ({ width, height })));
});

test("a browser sees no picture of 1,000 broken and lying ones with other sides than the service says", async () => {
  const files = Array.from({ length: SEEDS }, (_, index) => ({ seed: index + 1, ...hostileFile(index + 1) }));
  const pictures = files.flatMap(({ seed, name, bytes, type }) => {
    const sides = uploadedSides(bytes, type);
    return sides ? [{ seed, name, type, sides, bytes: Buffer.from(bytes).toString("base64") }] : [];
  });
  const page = await browser.newPage();
  const seen = await page.evaluate(seenIn, pictures);
  const different = pictures.flatMap(({ seed, name, sides: { width, height } }, index) => {
    const found = seen[index];
    if (!found || found.width === 0 || (found.width === width && found.height === height)) return [];
    return [`seed ${seed}, ${name}: ${found.width} × ${found.height}, not ${width} × ${height}`];
  });
  expect(different).toEqual([]);
  // Else it compared nothing.
  const compared = pictures.filter((_, index) => (seen[index]?.width ?? 0) > 0);
  expect(compared.length).toBeGreaterThan(SEEDS / 20);
  expect(new Set(compared.map(({ type }) => type))).toEqual(new Set(["image/gif", "image/jpeg"]));
});
