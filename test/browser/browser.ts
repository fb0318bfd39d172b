import chromium from "@sparticuz/chromium";
import { type Browser, chromium as driver } from "playwright-core";

/**
 * A headless Chromium that comes with the packages: nothing must be installed on the machine. Of the package's own
 * arguments none is taken: they are made for Lambda, and switch off the web security that these tests are about.
 */
export async function launchBrowser(): Promise<Browser> {
  return driver.launch({
    executablePath: await chromium.executablePath(),
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
    headless: true,
  });
}
