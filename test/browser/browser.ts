import chromium from "@sparticuz/chromium";
import { type Browser, chromium as driver } from "playwright-core";
import { disturbPages } from "../jitter/page.ts";

/**
 * Unpacks the browser if needed, and returns its path. Call it before two processes need the browser, because the
 * second one would use a half-written file.
 */
export function unpackBrowser(): Promise<string> {
  return chromium.executablePath();
}

/** What a page is to show comes within this time, unless the machine is busy with something else. */
const PATIENCE_MS = 90_000;

const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  // What draws is a thread, not a process of its own: a fifteenth less work.
  "--in-process-gpu",
  "--disable-background-networking",
  "--disable-component-update",
];

/**
 * A headless Chromium from the packages, so that nothing must be installed. The package's own arguments are not used:
 * they are for Lambda, and turn off the web security that these tests check.
 */
export async function launchBrowser(): Promise<Browser> {
  const browser = await driver.launch({
    executablePath: await unpackBrowser(),
    args: ARGUMENTS,
    headless: true,
  });
  browser.on("context", (context) => context.setDefaultTimeout(PATIENCE_MS));
  await disturbPages(browser);
  return browser;
}
