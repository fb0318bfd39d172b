import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildWeb } from "../../src/web/build.ts";

const KIB = 1_024;
let out = "";
let sizes: Record<string, number> = {};

beforeAll(async () => {
  out = await mkdtemp(join(tmpdir(), "parley-web-"));
  sizes = await buildWeb(out);
});
afterAll(() => rm(out, { recursive: true }));

// Gzipped: what a site and its visitors load. The second numbers are those of November 2026 with 5 % to spare.
test.for([
  ["widget.js", 15 * KIB],
  ["web-assets/chat.js", 15.6 * KIB],
] as const)("%s has at most %i bytes", ([path, most]) => {
  expect(sizes[path]).toBeLessThanOrEqual(most);
});

test("nothing is built that is not needed", async () => {
  const files = await readdir(out, { recursive: true });
  expect(files.filter((path) => !path.startsWith("docs/")).toSorted()).toEqual([
    "_headers",
    "admin",
    "admin/v1",
    "admin/v1/openapi.json",
    "api",
    "api/v1",
    "api/v1/openapi.json",
    "docs",
    "docs.html",
    "llms.txt",
    "web-assets",
    "web-assets/ar.json",
    "web-assets/chat.css",
    "web-assets/chat.js",
    "web-assets/de.json",
    "web-assets/docs.css",
    "web-assets/docs.js",
    "web-assets/es.json",
    "web-assets/fr.json",
    "widget.js",
  ]);
});
