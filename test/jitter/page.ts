import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Browser } from "playwright-core";
import { settingsOf } from "./delays.ts";
import type { PageSettings } from "./in-page.ts";
import { testFile } from "./test-file.ts";

/**
 * Disturbs the time of all pages that the browser opens from now on, as `JITTER` says. The product does not know of it:
 * a script of each page's main world runs before the page's own. The driver works in another world.
 */
export async function disturbPages(browser: Browser): Promise<void> {
  const settings = settingsOf(process.env.JITTER);
  if (!settings) return;
  const script = await scriptOf();
  let contexts = 0;
  browser.on("context", (context) => {
    const name = `${testFile()} ${++contexts}`;
    const told = JSON.stringify({ ...settings, name } satisfies PageSettings);
    void context.addInitScript({ content: `{ ${script} inPage.disturbPage(${told}); }` });
  });
}

async function scriptOf(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("./in-page.ts", import.meta.url))],
    bundle: true,
    write: false,
    format: "iife",
    globalName: "inPage",
    target: "esnext",
  });
  // Nothing of it gets a name that the page can see.
  return (outputFiles[0]?.text ?? "").replace("var inPage =", "const inPage =");
}
