import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build, transform } from "esbuild";
import { type Plugin, rolldown } from "rolldown";
import { DOCS_POLICY } from "./docs/policy.ts";
import { writeDocs } from "./docs/write.ts";
import { publish } from "./publish.ts";
import { ar } from "./visitor/locales/ar.ts";
import { de } from "./visitor/locales/de.ts";
import { es } from "./visitor/locales/es.ts";
import { fr } from "./visitor/locales/fr.ts";
import { it } from "./visitor/locales/it.ts";
import { ja } from "./visitor/locales/ja.ts";
import { nl } from "./visitor/locales/nl.ts";
import { pl } from "./visitor/locales/pl.ts";
import { pt } from "./visitor/locales/pt.ts";
import { tr } from "./visitor/locales/tr.ts";
import { zh } from "./visitor/locales/zh.ts";
import { OWN_WIDGET_TEXTS } from "./visitor/widget-texts.ts";

const source = fileURLToPath(new URL(".", import.meta.url));

/** The default output folder, which wrangler.toml names as `assets.directory`. */
export const ASSETS = fileURLToPath(new URL("../../dist/web", import.meta.url));

const SAME_ORIGIN = { "Cross-Origin-Resource-Policy": "same-origin" };
const ANY_ORIGIN = { "Cross-Origin-Resource-Policy": "cross-origin", "Access-Control-Allow-Origin": "*" };
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
  "/widget.js": ANY_ORIGIN,
  "/widget/*": ANY_ORIGIN,
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

/** Classic scripts, by their path without the ending. A module can't find its own script tag, which the widget must. */
const CLASSIC_SCRIPTS = {
  "web-assets/docs": "docs/client.ts",
  widget: "visitor/widget.ts",
};

/** The languages that the chat page fetches if needed. English is part of its script. */
export const FETCHED_TEXTS = { ar, de, es, fr, it, ja, nl, pl, pt, tr, zh };

/**
 * The widget's texts in these languages. It fetches those of one, `/widget/de.json`, so that a further one costs every
 * site only its tag.
 */
export const FETCHED_WIDGET_TEXTS = Object.fromEntries(
  Object.entries(FETCHED_TEXTS).map(([language, { close, support: chat }]) => {
    const { open, unread, missing } = OWN_WIDGET_TEXTS[language as keyof typeof FETCHED_TEXTS];
    return [language, { open, close, chat, unread, missing }] as const;
  }),
);

/**
 * Builds all static assets: the chat page, the widget, the console and the documentation. A server may read `out` during
 * a build, and builds may run at the same time.
 * @returns the gzipped bytes of the scripts and styles that browsers load, by path
 */
export async function buildWeb(out = ASSETS): Promise<Record<string, number>> {
  return publish(out, writeAll);
}

/** A style sheet that a script imports is a text in it, without what only people read. */
const STYLE_AS_TEXT: Plugin = {
  name: "style-as-text",
  async load(id) {
    if (!id.endsWith(".css")) return null;
    const { code } = await transform(await readFile(id, "utf8"), { loader: "css", minify: true, target: TARGET });
    return { code: `export default ${JSON.stringify(code.trim())}`, moduleType: "js" };
  },
};

/** Bundles a script. A dynamic import becomes a file of its own, whose name changes with its content. */
async function writeScripts(out: string, path: string, script: string, format: "iife" | "esm"): Promise<void> {
  const bundle = await rolldown({
    input: { [basename(path)]: join(source, script) },
    tsconfig: false,
    plugins: [STYLE_AS_TEXT],
    // An import that is not found is only a warning, and would be left in the script.
    onLog(level, { message }) {
      if (level === "warn") throw new Error(message);
    },
    // Reading a property or a global does nothing else, so it can be dropped if its value is not used.
    treeshake: { propertyReadSideEffects: false, unknownGlobalSideEffects: false },
    transform: {
      target: TARGET,
      // A call of h() is shorter than one of the automatic runtime, which names its children.
      jsx: { runtime: "classic", pragma: "h", pragmaFrag: "Fragment" },
      inject: { h: ["preact", "h"], Fragment: ["preact", "Fragment"] },
      // Preact's signals look for their developer tools.
      define: { "window.__PREACT_SIGNALS_DEVTOOLS__": "undefined" },
    },
  });
  await bundle.write({
    dir: join(out, dirname(path)),
    format,
    minify: true,
    comments: false,
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    hashCharacters: "hex",
  });
  await bundle.close();
}

async function writeAll(out: string): Promise<Record<string, number>> {
  await mkdir(join(out, "web-assets"), { recursive: true });
  for (const [path, script] of Object.entries(CLASSIC_SCRIPTS)) await writeScripts(out, path, script, "iife");
  await writeScripts(out, "web-assets/chat", "visitor/chat-page.tsx", "esm");
  await writeScripts(out, "web-assets/reload", "shared/reload-when-idle.ts", "esm");
  await writeScripts(out, "web-assets/console/page", "console/page.tsx", "esm");
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
  await mkdir(join(out, "widget"), { recursive: true });
  for (const [language, texts] of Object.entries(FETCHED_WIDGET_TEXTS)) {
    await writeFile(join(out, "widget", `${language}.json`), JSON.stringify(texts));
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
