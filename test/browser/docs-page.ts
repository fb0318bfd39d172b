import type { Browser, BrowserContextOptions } from "playwright-core";
import { base } from "./running-server.ts";
import { violations } from "./violations.ts";
import { open } from "./visitor.ts";

/** The errors and the accessibility violations of a page of `/docs` whose parts are all unfolded. */
export async function faultsOf(browser: Browser, path: string, look: BrowserContextOptions): Promise<string[]> {
  const page = await open(browser, look);
  await page.goto(base + path);
  await page.evaluate(() => {
    for (const part of document.querySelectorAll("details")) part.open = true;
  });
  return [...(await violations(page, "html", { aaa: true })), ...page.faults];
}
