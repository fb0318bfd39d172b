import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { launchBrowser } from "./browser.ts";
import { violations } from "./violations.ts";
import { open } from "./visitor.ts";

const { base } = inject("server");
let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const DOCUMENTS = ["/api/v1/openapi.json", "/admin/v1/openapi.json"];

test.each([...DOCUMENTS.map((path) => [path, "application/json"]), ["/llms.txt", "text/plain; charset=utf-8"]])(
  "%s comes without a key, as %s, runs nothing, and is spared whoever has it",
  async (path, type) => {
    const { status, headers } = await fetch(base + path);
    expect([status, headers.get("Content-Type")]).toEqual([200, type]);
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    });
    const tag = headers.get("ETag") ?? "";
    expect(tag).toMatch(/^(W\/)?".+"$/);
    expect((await fetch(base + path, { headers: { "If-None-Match": tag } })).status).toBe(304);
  },
);

test("the documents that are served name the routes of their prefix", async () => {
  for (const path of DOCUMENTS) {
    const { openapi, servers, paths } = await (await fetch(base + path)).json();
    expect([openapi, `${servers[0].url}/openapi.json`]).toEqual(["3.1.0", path]);
    expect(Object.keys(paths)).toContain("/chats/{id}");
  }
});

test.each([
  ["/docs", "320 px", "html", { viewport: { width: 320, height: 568 } }],
  ["/docs", "the dark", "[aria-labelledby=tag-messages]", { colorScheme: "dark" }],
  // All of this page would take half a minute, and it is made like the other one.
  ["/docs/operator", "a wide screen", "[aria-labelledby=tag-keys]", { viewport: { width: 1280, height: 900 } }],
] as const)("%s, all of it opened, has no violation on %s in %s", { timeout: 60_000 }, async (path, _, part, look) => {
  const page = await open(browser, look);
  await page.goto(base + path);
  await page.evaluate(() => {
    for (const part of document.querySelectorAll("details")) part.open = true;
  });
  expect([await violations(page, part), page.faults]).toEqual([[], []]);
});

test("each route's line is copied by a press of its button, and says so", async () => {
  const page = await open(browser, { permissions: ["clipboard-read", "clipboard-write"] });
  await page.goto(`${base}/docs`);
  await page.getByRole("button", { name: "Copy the line for Send a message" }).click();
  await page.getByRole("status").filter({ hasText: "Copied" }).waitFor({ state: "attached" });
  expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(
    /^curl "\$PARLEY_URL\/api\/v1\/chats\/cht_\w+\/messages" \\\n {2}-H "Authorization: Bearer \$PARLEY_API_KEY" \\\n {2}-d '\{.+\}'$/,
  );
});

test("a field that must be there is marked so within an object of a body too, and in an answer none is", async () => {
  const page = await open(browser);
  await page.goto(`${base}/docs`);
  const marked = (part: string) =>
    page.$$eval(`${part} .required`, (marks) =>
      marks.map((mark) => mark.closest("dt")?.querySelector("code")?.textContent),
    );
  expect(await marked("[aria-labelledby=createChat]")).toEqual(["channelId", "contact", "address"]);
  expect(await marked("[aria-labelledby=schemas]")).toEqual([]);
  expect(await (await fetch(`${base}/llms.txt`)).text()).toContain("- `contact.address` (body, required): ");
});

test("a link of the contents leads to its route, and no link leads nowhere", async () => {
  for (const path of ["/docs", "/docs/operator"]) {
    const page = await open(browser);
    await page.goto(base + path);
    await page.getByRole("navigation").getByRole("link", { name: "Read a chat" }).click();
    expect(new URL(page.url()).hash).toBe("#readChat");
    const dead = await page.evaluate(() => {
      const links = [...document.querySelectorAll<HTMLAnchorElement>('a[href^="#"]')].map(({ hash }) => hash);
      return links.filter((hash) => !document.querySelector(hash));
    });
    expect(dead).toEqual([]);
    const named = await page.evaluate(() => {
      const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
      return [ids.length, new Set(ids).size];
    });
    expect(named[0]).toBe(named[1]);
  }
});
