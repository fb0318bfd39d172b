import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildWeb } from "../../src/web/build.ts";
import { LANGUAGES } from "../../src/web/visitor/language.ts";

/** The names of the console's other screens have a hash of their content. */
const CONTENT_HASH = /-[0-9a-f]{8}\.js$/;

let out = "";

beforeAll(async () => {
  out = await mkdtemp(join(tmpdir(), "parley-web-"));
  await buildWeb(out);
});
afterAll(() => rm(out, { recursive: true }));

test("the build creates only the files that are needed", async () => {
  const files = await readdir(out, { recursive: true });
  const names = files.map((path) => path.replace(CONTENT_HASH, "-hash.js"));
  const texts = LANGUAGES.filter((language) => language !== "en")
    .map((language) => `${language}.json`)
    .toSorted();
  const isText = (path: string) => /^(?:web-assets|widget)\/[^/]+\.json$/.test(path);
  expect(names.filter(isText).toSorted()).toEqual([
    ...texts.map((name) => `web-assets/${name}`),
    ...texts.map((name) => `widget/${name}`),
  ]);
  expect(names.filter((path) => !path.startsWith("docs/") && !isText(path)).toSorted()).toEqual([
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
    "web-assets/ask-contact-hash.js",
    "web-assets/chat.css",
    "web-assets/chat.js",
    "web-assets/composer-files-hash.js",
    "web-assets/console",
    "web-assets/console/page.css",
    "web-assets/console/page.js",
    "web-assets/console/screens-hash.js",
    "web-assets/docs.css",
    "web-assets/docs.js",
    "web-assets/later-hash.js",
    "web-assets/preview-hash.js",
    "web-assets/reload.js",
    "widget",
    "widget.js",
  ]);
});

test("every variable in the console's styles has a value", async () => {
  const css = await readFile(join(out, "web-assets/console/page.css"), "utf8");
  const names = (pattern: RegExp) => Array.from(css.matchAll(pattern), ([, name]) => name);
  const used = names(/var\((--[\w-]+)\)/g);
  expect(used.length).toBeGreaterThan(10);
  expect(names(/(--[\w-]+):/g)).toEqual(expect.arrayContaining(used));
});
