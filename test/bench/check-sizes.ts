/** `npm run check -- sizes`: what a deploy and its visitors load, gzipped, and the README, each against its limit. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildWeb } from "../../src/web/build.ts";
import { gzippedSize, wrangler } from "./build.ts";

const KIB = 1_024;

interface Measured {
  what: string;
  size: number;
  limit: number;
  unit: "KiB" | "lines";
}

async function measure(folder: string): Promise<Measured[]> {
  await wrangler("deploy", "--dry-run", "--outdir", join(folder, "worker"));
  const web = await buildWeb(join(folder, "web"));
  const bytes = (...paths: string[]) => paths.reduce((sum, path) => sum + (web[path] ?? Number.NaN), 0) / KIB;
  const ofConsole = Object.keys(web).filter((path) => path.startsWith("web-assets/console/"));
  // The other files are fetched when they are needed.
  const isFirst = (path: string) => /\/page\.(js|css)$/.test(path);
  const readme = await readFile(join(import.meta.dirname, "../../README.md"), "utf8");
  return [
    { what: "Worker", size: (await gzippedSize(join(folder, "worker/index.js"))) / KIB, limit: 296, unit: "KiB" },
    { what: "widget.js", size: bytes("widget.js"), limit: 5, unit: "KiB" },
    {
      what: "the visitors' page",
      size: bytes("web-assets/chat.js", "web-assets/chat.css"),
      limit: 28,
      unit: "KiB",
    },
    { what: "the console's first page", size: bytes(...ofConsole.filter(isFirst)), limit: 59, unit: "KiB" },
    { what: "the console with all screens", size: bytes(...ofConsole), limit: 116, unit: "KiB" },
    { what: "README.md", size: readme.trimEnd().split("\n").length, limit: 200, unit: "lines" },
  ];
}

const folder = await mkdtemp(join(tmpdir(), "parley-sizes-"));
try {
  for (const { what, size, limit, unit } of await measure(folder)) {
    const shown = unit === "KiB" ? size.toFixed(1) : size;
    console.log(`${what}: ${shown} of ${limit} ${unit}`);
    // Not `size > limit`: a size that could not be read is NaN, and fails too.
    if (!(size <= limit)) process.exitCode = 1;
  }
} finally {
  await rm(folder, { recursive: true });
}
