import type { Browser, Page } from "playwright-core";

/** How much of a page is printed. */
const MAX_TEXT = 4_000;

/** Follows what the pages of a browser ask for, from now on. @returns what they show and wait for, as text */
export function watchPages(browser: Browser): () => Promise<string> {
  const underWay = new Map<Page, Set<string>>();
  const failed = new Map<Page, string[]>();
  browser.on("context", (context) => {
    context.on("page", (page) => {
      const own = new Set<string>();
      const lost: string[] = [];
      underWay.set(page, own);
      failed.set(page, lost);
      page.on("request", (request) => own.add(`${request.method()} ${request.url()}`));
      page.on("requestfinished", (request) => own.delete(`${request.method()} ${request.url()}`));
      page.on("requestfailed", (request) => {
        own.delete(`${request.method()} ${request.url()}`);
        lost.push(`${request.method()} ${request.url()}: ${request.failure()?.errorText}`);
      });
      page.on("pageerror", (error) => lost.push(String(error)));
      page.on("close", () => underWay.delete(page));
    });
  });
  return async () => {
    const all = [...underWay].map(async ([page, own]) => {
      const shown = await page.locator("body").ariaSnapshot({ timeout: 5_000 }).catch(String);
      const lines = [
        page.url(),
        shown.slice(0, MAX_TEXT),
        "Under way:",
        ...own,
        "Failed:",
        ...(failed.get(page) ?? []),
      ];
      return lines.join("\n");
    });
    return (await Promise.all(all)).join("\n\n");
  };
}
