import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { buildWeb } from "../../src/web/build.ts";
import { launchBrowser } from "../browser/browser.ts";
import { createChannel, createChat, createOrganization } from "../support/world/factories.ts";
import { type RunSettings, withSetup } from "./bench.ts";
import { Place } from "./fixtures.ts";
import { withServer } from "./server.ts";
import { shown } from "./sizes.ts";
import { quantile } from "./statistics.ts";

/** What a person waits for in an inbox of many chats. Times in ms. */
export interface ConsoleMeasurement {
  chats: number;
  switches: number;
  /** From the key to the open chat on the screen. */
  p50: number;
  p99: number;
  /** The most requests of a switch. */
  requests: number;
  /** From the address of the inbox to its first rows, with an empty cache. */
  firstRows: number;
  /** Bytes of the answer with the first page of the list. */
  listBytes: number;
}

const SWITCHES = 60;
const WARM_UP = 5;
const OPENED = SWITCHES + WARM_UP + 5;

/** Opens the inbox of an organization with many chats in a browser, and goes through its chats by the keyboard. */
export async function measureConsole(chats: number, settings: RunSettings): Promise<ConsoleMeasurement> {
  const { log } = settings;
  const folder = await mkdtemp(join(tmpdir(), "parley-console-"));
  await buildWeb(folder);
  const browser = await launchBrowser();
  try {
    return await withSetup(settings, { minify: true }, (setup) =>
      // Only a service with counters lets chats be written into its storage.
      withServer(setup, { counted: true, showErrors: false }, async (server) => {
        const place = new Place(server, setup.secrets.ADMIN_TOKEN);
        await place.migrate();
        const organization = await createOrganization(place);
        log(`Making ${shown(chats)} chats`);
        const channel = await createChannel(organization);
        await place.chats(channel, "contact", chats - OPENED);
        // Those at the top of the list are opened, so they have objects.
        for (let n = 0; n < OPENED; n++) await createChat(channel);
        const page = await signIn(browser, server.url("parley"), folder, place.adminToken);
        let listBytes = 0;
        page.on("response", async (response) => {
          if (!new URL(response.url()).pathname.endsWith("/chats")) return;
          const { length } = await response.body();
          listBytes = Math.max(listBytes, length);
        });
        const begun = performance.now();
        await page.goto(new URL(`/console/o/${organization.id}/inbox`, server.url("parley")).href);
        await page.locator(".chat-row").first().waitFor();
        const firstRows = performance.now() - begun;
        log(`Switching ${SWITCHES} times`);
        const switches = await measureSwitches(page);
        return { chats, firstRows, listBytes, ...switches };
      }),
    );
  } finally {
    await browser.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * The bench's service has no static files, so the browser gets them from the folder. Playwright's own routes would turn the
 * browser's cache off.
 */
export async function serveFiles(page: Page, folder: string): Promise<void> {
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

/** A page of the console with the operator signed in. */
export async function signIn(browser: Browser, base: URL, folder: string, token: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await serveFiles(page, folder);
  await page.goto(new URL("/console", base).href);
  await page.getByLabel("Operator’s token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Organizations" }).waitFor();
  return page;
}

async function measureSwitches(page: Page) {
  const times: number[] = [];
  let requests = 0;
  let opened = "";
  let own = 0;
  let isListRead = false;
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.includes(`/chats/${opened}`)) own++;
    isListRead ||= pathname.endsWith("/chats");
  });
  for (let n = 0; n < SWITCHES + WARM_UP; n++) {
    const name = (await page.locator(".chat-row-name").nth(n).textContent()) ?? "";
    opened = (await page.locator(".chat-row").nth(n).getAttribute("href"))?.split("/").at(-1) ?? "";
    own = 0;
    isListRead = false;
    const begun = performance.now();
    await page.keyboard.press("j");
    await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
    await page.getByRole("log", { name: "Messages" }).waitFor();
    if (n >= WARM_UP) {
      times.push(performance.now() - begun);
      // A few seconds after its stream began, the inbox loads all again that is shown. No switch asks for that.
      if (!isListRead) requests = Math.max(requests, own);
    }
  }
  return { switches: times.length, p50: quantile(times, 0.5), p99: quantile(times, 0.99), requests };
}

export function consoleText({ chats, switches, p50, p99, requests, firstRows, listBytes }: ConsoleMeasurement): string {
  return [
    `An inbox of ${shown(chats)} chats in Chromium\n`,
    `  first rows after ${Math.round(firstRows)} ms, in an answer of ${(listBytes / 1_024).toFixed(1)} KiB\n`,
    `  ${switches} switches by the keyboard: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, at most ${requests} requests each\n`,
  ].join("");
}
