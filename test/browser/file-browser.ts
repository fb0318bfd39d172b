import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { warningsOf } from "./api-warnings.ts";
import { launchBrowser } from "./browser.ts";
// The browser is unpacked once the server runs.
import "./running-server.ts";

/** The browser of a test file. It starts before the file's tests, and closes after them. */
export let browser: Browser;
let warnings: readonly string[];

beforeAll(async () => {
  browser = await launchBrowser();
  warnings = warningsOf(browser);
});

afterAll(async () => {
  await browser.close();
  expect(warnings).toEqual([]);
});
