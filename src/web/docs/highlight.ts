import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { createCssVariablesTheme, createHighlighterCore } from "shiki/core";
import { createJavaScriptRegexEngine } from "shiki/engine/javascript";
import { escapeHtml } from "../../platform/html.ts";

/** Grammars take about a second to compile, so highlighted code is cached between builds. */
const CACHE = fileURLToPath(new URL("../../../node_modules/.cache/parley/highlight.json", import.meta.url));

/** Part of the cache key. Increase it when the generated markup changes. */
const VERSION = 1;

/** Turns code into markup with a class for each kind of token. */
export interface Highlighter {
  /** Code in an unknown language stays plain. */
  highlight: (code: string, language: string) => string;
  /** Writes the cache for the next build. */
  save: () => Promise<void>;
}

/** Loads the grammars of the languages that the pages use. */
export async function openHighlighter(cache = CACHE): Promise<Highlighter> {
  const [cached, shiki] = await Promise.all([readCache(cache), loadShiki()]);
  const used: Record<string, string> = {};

  const tokenize = (code: string, language: string): string =>
    shiki
      // Without a limit of time, so that a busy machine does not leave code plain.
      .codeToTokensBase(code, { lang: language, theme: "docs", tokenizeTimeLimit: 0 })
      .map((line) => line.map(({ content, color }) => token(content, color)).join(""))
      .join("\n");

  return {
    highlight(code, language) {
      if (!shiki.getLoadedLanguages().includes(language)) return escapeHtml(code);
      const key = createHash("sha256").update(`${VERSION}\n${language}\n${code}`).digest("base64url").slice(0, 22);
      used[key] ??= cached[key] ?? tokenize(code, language);
      return used[key];
    },
    async save() {
      // Builds can run at the same time, and none must read a half-written file.
      const draft = `${cache}.${randomUUID()}`;
      await mkdir(dirname(cache), { recursive: true });
      await writeFile(draft, JSON.stringify(used));
      await rename(draft, cache);
    },
  };
}

function loadShiki() {
  return createHighlighterCore({
    // The pages' policy allows no inline styles, so the theme's variables become classes.
    themes: [createCssVariablesTheme({ name: "docs", variablePrefix: "--" })],
    langs: [
      import("shiki/langs/shellscript.mjs"),
      import("shiki/langs/typescript.mjs"),
      import("shiki/langs/json.mjs"),
      import("shiki/langs/html.mjs"),
      import("shiki/langs/toml.mjs"),
      import("shiki/langs/python.mjs"),
      import("shiki/langs/go.mjs"),
      import("shiki/langs/php.mjs"),
      import("shiki/langs/ruby.mjs"),
    ],
    engine: createJavaScriptRegexEngine(),
  });
}

function token(content: string, color = ""): string {
  const kind = /^var\(--token-([\w-]+)\)$/.exec(color)?.[1];
  const text = escapeHtml(content);
  return kind && kind !== "punctuation" ? `<span class="t-${kind}">${text}</span>` : text;
}

async function readCache(cache: string): Promise<Record<string, string>> {
  try {
    return JSON.parse(await readFile(cache, "utf8")) as Record<string, string>;
  } catch {
    // The cache is missing or damaged: highlight everything again.
    return {};
  }
}
