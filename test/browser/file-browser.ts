import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { warningsOf } from "./api-warnings.ts";
import { launchBrowser } from "./browser.ts";
import { watchPages } from "./page-state.ts";
// The browser is unpacked once the server runs.
import "./running-server.ts";

/** The browser of a test file. It starts before the file's tests, and closes after them. */
export let browser: Browser;
let warnings: readonly string[];
let describePages: () => Promise<string>;

beforeAll(async () => {
  browser = await launchBrowser();
  warnings = warningsOf(browser);
  describePages = watchPages(browser);
});

// A red that comes once must say what it saw. A test's pages close after this.
afterEach(async ({ task }) => {
  if (task.result?.state === "fail") console.error(`${task.name}: the open pages\n${await describePages()}`);
});

afterAll(async () => {
  await browser.close();
  expect(warnings).toEqual([]);
});
