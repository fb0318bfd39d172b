import type { Page, Response } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { openConsole, openDesk, screenOf } from "./console.ts";
import { holdUp, intercept } from "./disturb.ts";
import { browser } from "./file-browser.ts";
import { openPlace } from "./fixtures.ts";
import { visit } from "./visitor.ts";

/** Pages that were opened before a deploy, which removes their files. */

const place = await openPlace({ uploads: "everyone" });
const desk = await openDesk();

/**
 * The page has been open for an hour, and its script is that of an earlier build, until the page is loaded again: its
 * parts have other names.
 */
async function beginWithOldBuild(page: Page, script: string, part: string): Promise<void> {
  await page.addInitScript(() => {
    const now = performance.now.bind(performance);
    const [load] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
    performance.now = () => now() + (load?.type === "reload" ? 0 : 3_600_000);
  });
  const ofOldBuild = async (route: Parameters<Parameters<Page["route"]>[1]>[0]) => {
    const response = await route.fetch();
    const text = await response.text();
    const old = text.replaceAll(new RegExp(`${part}-\\w+\\.js`, "g"), `${part}-0ldbu1ld.js`);
    expect(old).not.toBe(text);
    // Of this text, so that a later request gets the new one.
    await route.fulfill({ response, body: old, headers: { ...response.headers(), etag: '"0ldbu1ld"' } });
  };
  await intercept(page, `**/${script}`, ofOldBuild, { times: 1 });
}

/** How often the page is loaded from here on. */
function countLoads(page: Page): () => number {
  let loads = 0;
  page.on("load", () => loads++);
  return () => loads;
}

/** How the page was opened. */
const navigationOf = (page: Page) =>
  page.evaluate(() => (performance.getEntriesByType("navigation")[0] as PerformanceNavigationTiming).type);

/** A page looks whether a file is gone, or only the connection: with a fetch, and not with an import. */
const isLookForPart = (response: Response) =>
  response.request().resourceType() === "fetch" && response.url().includes("0ldbu1ld") && response.status() === 404;

const partIsGone = (page: Page) => page.waitForResponse(isLookForPart);

test("a visitor's page that lacks a part of its build loads itself again, and then has it", async () => {
  const page = await visit(browser, place, {
    before: (opened) => beginWithOldBuild(opened, "web-assets/chat.js", "composer-files"),
  });
  await page.getByRole("button", { name: "Attach files" }).waitFor();
  expect(await navigationOf(page)).toBe("reload");
  expect(page.faults).toEqual([]);
});

test("what a visitor writes is not taken away: the page waits until the box is empty", async () => {
  let release = () => {};
  const page = await visit(browser, place, {
    before: async (opened) => {
      await beginWithOldBuild(opened, "web-assets/chat.js", "composer-files");
      release = await holdUp(opened, "**/composer-files-0ldbu1ld.js*");
    },
  });
  const loads = countLoads(page);
  const box = page.getByRole("textbox", { name: "Message" });
  await box.fill("I am still wri");
  const gone = partIsGone(page);
  release();
  await gone;
  await box.pressSequentially("ting");
  expect([loads(), await box.inputValue()]).toEqual([0, "I am still writing"]);
  await box.fill("");
  await page.getByRole("button", { name: "Attach files" }).waitFor();
  await expect.poll(loads).toBe(1);
});

test("a page that lacks a part after its reload too does not load itself again and again", async () => {
  let gone = 0;
  const page = await visit(browser, place, {
    before: async (opened) => {
      for (let _ = 0; _ < 2; _++) await beginWithOldBuild(opened, "web-assets/chat.js", "composer-files");
      opened.on("response", (response) => {
        if (isLookForPart(response)) gone++;
      });
    },
  });
  await expect.poll(() => gone).toBe(2);
  await page.waitForLoadState("load");
  const loads = countLoads(page);
  await page.getByRole("textbox", { name: "Message" }).fill("Hello");
  expect([loads(), await navigationOf(page)]).toEqual([0, "reload"]);
});

test("the console loads itself again if a deploy removed its screens", async () => {
  const page = await openConsole(browser, screenOf(desk, "members"));
  onTestFinished(() => page.context().close());
  const url = page.url();
  await beginWithOldBuild(page, "web-assets/console/page.js", "screens");
  await page.goto("about:blank");
  await page.goto(url);
  await page.getByRole("heading", { level: 1, name: "Members" }).waitFor();
  expect(await navigationOf(page)).toBe("reload");
});
