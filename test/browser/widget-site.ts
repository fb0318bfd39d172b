import { createHash } from "node:crypto";
import type { Page } from "playwright-core";
import { beforeAll } from "vitest";
import { browser } from "./file-browser.ts";
import { openPlace, type Place } from "./fixtures.ts";
import { openSite, widgetTag } from "./site.ts";
import { type Faults, open } from "./visitor.ts";

/** A site with the widget, for the tests of a file. */

/** The organization whose chat the site shows. */
export let place: Place;
/** The site's origin. */
export let site = "";
export const DESK = { width: 1000, height: 760 };

// The hardest site to live on: every element of it is restyled with importance, and its own policy forbids inline style.
const HOSTILE =
  "* { display: none !important; font: 40px fantasy !important } html, body, main, main * { display: block !important }";
const STYLE_HASH = createHash("sha256").update(HOSTILE).digest("base64");

beforeAll(async () => {
  place = await openPlace();
  site = await openSite(({ searchParams }) => ({
    headers: {
      "Content-Security-Policy": `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; script-src ${place.base}; frame-src ${place.base}; connect-src *`,
    },
    markup: `<!doctype html><html lang="en"><head><title>Shop</title>
<meta name="viewport" content="width=device-width"><style>${HOSTILE}</style>
${widgetTag(place.base, Object.fromEntries(searchParams))}</head>
<body><main><h1>A shop</h1><p>Things to buy.</p></main><script type="application/json">{}</script></body></html>`,
  }));
});

/** A visitor on the site, as one of its users who has a chat. The names of attributes are without `data-`. */
export async function visitSite(
  user: string,
  attributes: Record<string, string> = {},
  of = place,
  viewport = DESK,
): Promise<Page & Faults> {
  const page = await open(browser, { viewport });
  await of.meet(user);
  await page.goto(siteUrl(user, attributes, of));
  return page;
}

/** The address of the site's page for one of its users. */
export function siteUrl(user: string, attributes: Record<string, string> = {}, of = place): string {
  return anonymousUrl({ user, "user-hash": of.hashOf(user), ...attributes }, of);
}

/** The address of the site's page for nobody that it knows. */
export function anonymousUrl(attributes: Record<string, string> = {}, of = place): string {
  return `${site}/?${String(new URLSearchParams({ channel: of.channelId, ...attributes }))}`;
}

export const chat = (page: Page) => page.frameLocator("iframe");
export const box = (page: Page) => chat(page).getByRole("textbox", { name: "Message" });

/** The site's own calls. */
export const call = (page: Page, ...given: unknown[]) =>
  page.evaluate((args) => (window as unknown as { Parley: { push(call: unknown): void } }).Parley.push(args), given);

/** What the widget tells the site, from before it is there. */
export async function listening(page: Page): Promise<() => Promise<unknown[]>> {
  await page.addInitScript(() => {
    const heard: unknown[] = [];
    const listen = (event: string) => ["on", event, (detail: unknown) => heard.push([event, detail])];
    Object.assign(window, {
      heard,
      Parley: ["ready", "open", "close", "unread", "message"].map(listen),
    });
  });
  return () => page.evaluate(() => (window as unknown as { heard: unknown[] }).heard.map((one) => one));
}

/** A visitor of whom the site knows nothing, and what the widget tells the site. */
export async function visitUnidentified(attributes: Record<string, string> = {}) {
  const page = await open(browser, { viewport: DESK });
  const heard = await listening(page);
  await page.goto(anonymousUrl(attributes));
  return { page, heard };
}
