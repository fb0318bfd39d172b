import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { DOCS_POLICY } from "./docs/policy.ts";
import { writeDocs } from "./docs/write.ts";
import { publish } from "./publish.ts";
import { ar } from "./visitor/locales/ar.ts";
import { de } from "./visitor/locales/de.ts";
import { es } from "./visitor/locales/es.ts";
import { fr } from "./visitor/locales/fr.ts";

const source = fileURLToPath(new URL(".", import.meta.url));

/** The default output folder, which wrangler.toml names as `assets.directory`. */
export const ASSETS = fileURLToPath(new URL("../../dist/web", import.meta.url));

const SAME_ORIGIN = { "Cross-Origin-Resource-Policy": "same-origin" };
const DOCUMENT = {
  ...SAME_ORIGIN,
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
};
const PAGE = {
  ...DOCUMENT,
  "Content-Security-Policy": DOCS_POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
};

/** The headers of static files, by path. */
const HEADERS = {
  "/widget.js": { "Cross-Origin-Resource-Policy": "cross-origin", "Access-Control-Allow-Origin": "*" },
  "/web-assets/*": SAME_ORIGIN,
  "/:prefix/v1/openapi.json": DOCUMENT,
  "/llms.txt": DOCUMENT,
  "/docs": PAGE,
  "/docs/*": PAGE,
};

/**
 * The text of the static assets' `_headers` file. `Allow` is for the platform's 405 answers. The platform adds an ETag
 * and makes browsers revalidate, so a fixed file name is never stale.
 */
function headersFile(): string {
  return Object.entries(HEADERS)
    .map(([path, headers]) => {
      const all = { Allow: "GET, HEAD", "X-Content-Type-Options": "nosniff", ...headers };
      return `${path}\n${Object.entries(all)
        .map(([name, value]) => `  ${name}: ${value}\n`)
        .join("")}`;
    })
    .join("");
}

const TARGET = ["chrome111", "firefox115", "safari16.4"];

/** The languages that the chat page fetches if needed. English is part of its script. */
export const FETCHED_TEXTS = { ar, de, es, fr };

/**
 * Builds all static assets: the chat page, the widget, the console and the documentation. A server may read `out` during a build, and
 * builds may run at the same time.
 * @returns the gzipped bytes of the scripts and styles that browsers load, by path
 */
export async function buildWeb(out = ASSETS): Promise<Record<string, number>> {
  return publish(out, writeAll);
}

async function writeAll(out: string): Promise<Record<string, number>> {
  await mkdir(join(out, "web-assets"), { recursive: true });
  await build({
    entryPoints: {
      "web-assets/chat": join(source, "visitor/chat-page.tsx"),
      "web-assets/docs": join(source, "docs/client.ts"),
      widget: join(source, "visitor/widget.ts"),
    },
    outdir: out,
    bundle: true,
    minify: true,
    // A classic script, because a module can't find its own script tag.
    format: "iife",
    target: TARGET,
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "warning",
  });
  await build({
    entryPoints: { page: join(source, "console/page.tsx") },
    outdir: join(out, "web-assets/console"),
    bundle: true,
    minify: true,
    format: "esm",
    // A screen can be fetched when it is opened. A chunk's name changes with its content.
    splitting: true,
    chunkNames: "[name]-[hash]",
    target: TARGET,
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "warning",
  });
  await build({
    entryPoints: {
      "web-assets/chat": join(source, "visitor/chat.css"),
      "web-assets/console/page": join(source, "console/style/page.css"),
      "web-assets/docs": join(source, "docs/docs.css"),
    },
    outdir: out,
    bundle: true,
    minify: true,
    target: TARGET,
    logLevel: "warning",
  });
  for (const [language, texts] of Object.entries(FETCHED_TEXTS)) {
    await writeFile(join(out, "web-assets", `${language}.json`), JSON.stringify(texts));
  }
  await writeDocs(out);
  await writeFile(join(out, "_headers"), headersFile());
  const sizes: Record<string, number> = {};
  const ofConsole = (await readdir(join(out, "web-assets/console"))).map((name) => `web-assets/console/${name}`);
  for (const path of ["widget.js", "web-assets/chat.js", "web-assets/chat.css", ...ofConsole]) {
    sizes[path] = gzipSync(await readFile(join(out, path)), { level: 9 }).length;
  }
  return sizes;
}

if (import.meta.main) {
  const sizes = await buildWeb();
  // wrangler's build step uses --quiet.
  if (!process.argv.includes("--quiet")) {
    for (const [path, bytes] of Object.entries(sizes)) console.log(`${path}  ${(bytes / 1024).toFixed(1)} KiB gzipped`);
  }
}
