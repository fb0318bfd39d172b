import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { buildWeb } from "../../src/web/build.ts";
import { launchBrowser } from "../browser/browser.ts";
import type { WorkGround } from "./work-ground.ts";

/** A browser with the pages of the service. */
export interface Pages {
  /** A page that gets the static files. */
  open(viewport: { width: number; height: number }): Promise<Page>;
  /** A page of the console with the operator signed in. */
  signIn(): Promise<Page>;
}

/** Opens a browser until the measurement ends. The bench's service has no static files, so they are built for it. */
export async function openPages({ url, adminToken, atEnd }: WorkGround): Promise<Pages> {
  const folder = await mkdtemp(join(tmpdir(), "parley-pages-"));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  await buildWeb(folder);
  const browser = await launchBrowser();
  atEnd(() => browser.close());
  const open: Pages["open"] = async (viewport) => {
    const page = await browser.newPage({ viewport });
    await serveFiles(page, folder);
    return page;
  };
  return {
    open,
    async signIn() {
      const page = await open({ width: 1440, height: 900 });
      await page.goto(new URL("/console", url).href);
      await page.getByText("Sign in as the operator").click();
      await page.getByLabel("Operator’s token").fill(adminToken);
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
      await page.getByRole("heading", { name: "Organizations" }).waitFor();
      return page;
    },
  };
}

/** Gives a page the files of a folder. Playwright's own routes would turn the browser's cache off. */
async function serveFiles(page: Page, folder: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  session.on("Fetch.requestPaused", ({ requestId, request }) => {
    const { pathname } = new URL(request.url);
    const type = pathname.endsWith(".css") ? "text/css" : "text/javascript";
    const responseHeaders = [{ name: "Content-Type", value: type }];
    void readFile(join(folder, pathname), "base64").then((body) =>
      session.send("Fetch.fulfillRequest", { requestId, responseCode: 200, responseHeaders, body }),
    );
  });
  await session.send("Fetch.enable", { patterns: [{ urlPattern: "*/web-assets/*" }] });
}

/** The JavaScript on the heap of a page, after a collection of garbage, in MB. */
export async function heapOfPage(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  return (await session.send("Runtime.getHeapUsage")).usedSize / 1e6;
}
