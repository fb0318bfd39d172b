import chromium from "@sparticuz/chromium";
import { type Browser, chromium as driver } from "playwright-core";

/**
 * Unpacks the browser, unless that is done; its path. It must have happened before two processes ask for it: the second
 * would take for whole what the first is still writing.
 */
export function unpackBrowser(): Promise<string> {
  return chromium.executablePath();
}

/**
 * A headless Chromium that comes with the packages: nothing must be installed on the machine. Of the package's own
 * arguments none is taken: they are made for Lambda, and switch off the web security that these tests are about.
 */
export async function launchBrowser(): Promise<Browser> {
  return driver.launch({
    executablePath: await unpackBrowser(),
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
    headless: true,
  });
}
