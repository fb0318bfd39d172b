import type { Browser } from "playwright-core";

const MARK = "A response has warnings: ";

/**
 * The warnings in responses of the API to all pages that the browser opens from now on. A page of the project sends only
 * fields that the API knows.
 */
export function warningsOf(browser: Browser): readonly string[] {
  const found: string[] = [];
  browser.on("context", (context) => {
    context.on("console", (message) => {
      if (message.text().startsWith(MARK)) found.push(message.text().slice(MARK.length));
    });
    void context.addInitScript(watchFetch, MARK);
  });
  return found;
}

/** Runs in each page, before the page's own scripts. */
function watchFetch(mark: string): void {
  const ownFetch = self.fetch.bind(self);
  self.fetch = async (...given) => {
    const response = await ownFetch(...given);
    if (!response.headers.get("Content-Type")?.startsWith("application/json")) return response;
    const say = (body: { warnings?: string[] }) => {
      if (body.warnings) console.warn(`${mark}${response.url} ${body.warnings.join(", ")}`);
    };
    // The page may abort the request while its body is read.
    response
      .clone()
      .json()
      .then(say, () => {});
    return response;
  };
}
