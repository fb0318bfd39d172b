import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { ar } from "./locales/ar.ts";
import { de } from "./locales/de.ts";
import { es } from "./locales/es.ts";
import { fr } from "./locales/fr.ts";

const source = fileURLToPath(new URL(".", import.meta.url));

/** Where the static assets are put unless told otherwise: what wrangler.toml names as `assets.directory`. */
export const ASSETS = fileURLToPath(new URL("../../dist/web", import.meta.url));

/** The platform serves an asset with its ETag and asks for a revalidation, so fixed names are never stale. */
const HEADERS = `/widget.js
  X-Content-Type-Options: nosniff
  Cross-Origin-Resource-Policy: cross-origin
  Access-Control-Allow-Origin: *
/web-assets/*
  X-Content-Type-Options: nosniff
/:prefix/v1/openapi.json
  Content-Security-Policy: default-src 'none'; frame-ancestors 'none'
  Referrer-Policy: no-referrer
  X-Content-Type-Options: nosniff
`;

/** Where the committed OpenAPI documents are served from; neither holds a secret, so neither asks for a key. */
const DOCUMENTS = { public: "api/v1/openapi.json", operator: "admin/v1/openapi.json" };

/** The languages that a page fetches when its visitor speaks them; English is in its script. */
export const FETCHED_TEXTS = { ar, de, es, fr };

/** Writes the page's script, style and texts, the widget's script and the OpenAPI documents; gives the gzipped bytes of each, by its path. */
export async function buildWeb(out = ASSETS): Promise<Record<string, number>> {
  await rm(out, { recursive: true, force: true });
  await mkdir(join(out, "web-assets"), { recursive: true });
  await build({
    entryPoints: { "web-assets/chat": join(source, "chat-page.tsx"), widget: join(source, "widget.ts") },
    outdir: out,
    bundle: true,
    minify: true,
    // A classic script: a module could not ask which tag it stands in.
    format: "iife",
    target: ["chrome111", "firefox115", "safari16.4"],
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "warning",
  });
  await build({
    entryPoints: { "web-assets/chat": join(source, "chat.css") },
    outdir: out,
    bundle: true,
    minify: true,
    target: ["chrome111", "firefox115", "safari16.4"],
    logLevel: "warning",
  });
  for (const [language, texts] of Object.entries(FETCHED_TEXTS)) {
    await writeFile(join(out, "web-assets", `${language}.json`), JSON.stringify(texts));
  }
  for (const [name, path] of Object.entries(DOCUMENTS)) {
    await mkdir(join(out, dirname(path)), { recursive: true });
    await copyFile(join(source, `../openapi/${name}.json`), join(out, path));
  }
  await writeFile(join(out, "_headers"), HEADERS);
  const sizes: Record<string, number> = {};
  for (const path of ["widget.js", "web-assets/chat.js", "web-assets/chat.css"]) {
    sizes[path] = gzipSync(await readFile(join(out, path)), { level: 9 }).length;
  }
  return sizes;
}

if (import.meta.main) {
  const sizes = await buildWeb();
  // As wrangler's own build step it has nothing to say.
  if (!process.argv.includes("--quiet")) {
    for (const [path, bytes] of Object.entries(sizes)) console.log(`${path}  ${(bytes / 1024).toFixed(1)} KiB gzipped`);
  }
}
