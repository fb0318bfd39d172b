import { expect, test } from "vitest";
import { stopTimers } from "./disturb.ts";
import { faultsOf } from "./docs-page.ts";
import { browser } from "./file-browser.ts";
import { base } from "./running-server.ts";
import { violations } from "./violations.ts";
import { open } from "./visitor.ts";

const wide = { width: 1_400, height: 900 };
const DOCUMENTS = ["/api/v1/openapi.json", "/admin/v1/openapi.json"];

test.each([...DOCUMENTS.map((path) => [path, "application/json"]), ["/llms.txt", "text/plain; charset=utf-8"]])(
  "%s needs no key, has the type %s, runs nothing, and is a 304 for a known ETag",
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

test("each guide that llms.txt lists is served as Markdown, and is a 304 for a known ETag", async () => {
  const lines = (await (await fetch(`${base}/llms.txt`)).text()).split("\n");
  expect(lines[0]).toMatch(/^# \w/);
  expect(lines[2]).toMatch(/^> \w/);
  const guides = lines.flatMap((line) => /^- \[.+\]\((\/docs\/[\w-]+\.md)\): .+$/.exec(line)?.[1] ?? []);
  expect(guides.length).toBeGreaterThan(20);
  for (const path of guides) {
    const response = await fetch(base + path);
    expect([path, response.status, response.headers.get("Content-Type")]).toEqual([
      path,
      200,
      "text/markdown; charset=utf-8",
    ]);
    expect(await response.text()).toMatch(/^# \w/);
  }
  const { headers } = await fetch(`${base}/docs/whatsapp.md`);
  expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
  expect(headers.get("Allow")).toBe("GET, HEAD");
  const again = await fetch(`${base}/docs/whatsapp.md`, { headers: { "If-None-Match": headers.get("ETag") ?? "" } });
  expect(again.status).toBe(304);
  expect(headers.get("Cache-Control")).toBe((await fetch(`${base}/docs/whatsapp`)).headers.get("Cache-Control"));
});

test("the served documents have the routes of their prefix", async () => {
  for (const path of DOCUMENTS) {
    const { openapi, servers, paths } = await (await fetch(base + path)).json();
    expect([openapi, `${servers[0].url}/openapi.json`]).toEqual(["3.1.0", path]);
    expect(Object.keys(paths)).toContain("/chats/{id}");
  }
});

test.each([
  ["/docs", "320 px", { viewport: { width: 320, height: 568 } }],
  ["/docs/reference/key", "a wide screen in the dark", { viewport: wide, colorScheme: "dark" }],
] as const)("%s, fully unfolded, has no violation and a contrast of 7:1 on %s", async (path, _, look) => {
  expect(await faultsOf(browser, path, look)).toEqual([]);
});

test("every example has the address of the server that shows it, with its port", async () => {
  const page = await open(browser, { viewport: wide });
  for (const path of ["/docs/reference/messages", "/docs/quick-start", "/docs/web-chat"]) {
    await page.goto(base + path);
    const code = (await page.locator("pre code").allTextContents()).join("\n");
    expect(code).toContain(base);
    expect(code).not.toMatch(/parley\.example|localhost:8787/);
  }
});

test("without its script, a page shows every language of an example, and a placeholder for the service's address", async () => {
  const page = await open(browser, { javaScriptEnabled: false });
  await page.goto(`${base}/docs/reference/messages`);
  const samples = page.locator("[aria-labelledby=sendMessage] .panel");
  await expect.poll(() => samples.locator(".label").allTextContents()).toEqual(["curl", "TypeScript"]);
  for (const sample of await samples.all()) await expect.poll(() => sample.isVisible()).toBe(true);
  await expect.poll(() => samples.first().textContent()).toContain("https://parley.example/api/v1/chats/");
});

test("a button copies an example, and confirms it", async () => {
  const page = await open(browser, { permissions: ["clipboard-read", "clipboard-write"] });
  await page.goto(`${base}/docs/reference/messages`);
  await stopTimers(page, 2_000);
  await page.getByRole("button", { name: "Copy curl of Send a message" }).click();
  await page.getByRole("status").filter({ hasText: "Copied" }).waitFor({ state: "attached" });
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied.replace(base, "")).toMatch(
    /^curl "\/api\/v1\/chats\/cht_\w+\/messages" \\\n {2}-H "Authorization: Bearer \$PARLEY_API_KEY" \\\n {2}-d '\{.+\}'$/,
  );
});

test("a language that is chosen by keyboard applies to all examples, and to the next page", async () => {
  const page = await open(browser, { viewport: wide });
  await page.goto(`${base}/docs/reference/chats`);
  await page.getByRole("tab", { name: "curl" }).first().focus();
  await page.keyboard.press("ArrowRight");
  const chosen = () => page.locator("[role=tab][aria-selected=true]").allTextContents();
  expect(new Set(await chosen())).toEqual(new Set(["TypeScript"]));
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("TypeScript");
  await page.goto(`${base}/docs/sending`);
  expect(await chosen()).toEqual(["TypeScript", "TypeScript"]);
  await expect.poll(() => page.getByRole("tabpanel").first().textContent()).toContain("await fetch");
});

test("the search works with the keyboard alone", async () => {
  const page = await open(browser, { viewport: wide });
  await page.goto(`${base}/docs`);
  await page.keyboard.press("/");
  const box = page.getByRole("combobox", { name: "Search the documentation" });
  await box.pressSequentially("python hmac user");
  const option = page.getByRole("option", { name: /Web chat › Sign in your own users/ });
  await option.waitFor();
  expect(await violations(page, "header", { aaa: true })).toEqual([]);
  await expect.poll(() => box.getAttribute("aria-activedescendant")).toBe(await option.getAttribute("id"));
  await page.keyboard.press("Enter");
  await page.waitForURL(`${base}/docs/web-chat#sign-in-your-own-users`);
  await box.fill("xylophone quartz");
  await page.getByText("No results for").waitFor();
  await page.keyboard.press("Escape");
  await expect.poll(() => page.getByRole("listbox").isVisible()).toBe(false);
  expect(page.faults).toEqual([]);
});

test("the list of pages links to a route, on a wide screen and on a phone", async () => {
  const page = await open(browser, { viewport: wide });
  await page.goto(`${base}/docs/reference`);
  const pages = page.getByRole("navigation", { name: "Pages", exact: true });
  await pages.getByRole("link", { name: "Chats" }).click();
  await page.waitForURL(`${base}/docs/reference/chats`);
  await pages.getByRole("link", { name: "Read a chat" }).click();
  await expect.poll(() => new URL(page.url()).hash).toBe("#readChat");
  await page.setViewportSize({ width: 340, height: 700 });
  await page.goto(`${base}/docs`);
  await page.getByText("All pages").click();
  await pages.getByRole("link", { name: "Sending" }).click();
  await page.waitForURL(`${base}/docs/sending`);
});

test("a required field is marked in nested objects of a body too, and never in a response", async () => {
  const page = await open(browser);
  await page.goto(`${base}/docs/reference/chats`);
  const marked = (part: string) =>
    page.$$eval(`${part} .required`, (marks) =>
      marks.map((mark) => mark.closest("dt")?.querySelector("code")?.textContent),
    );
  expect(await marked("[aria-labelledby=createChat]")).toEqual(["channelId", "contact", "address"]);
  expect(await marked("[aria-labelledby=listChats]")).toEqual([]);
  expect(await (await fetch(`${base}/llms.txt`)).text()).toContain("- `contact.address` (body, required): ");
});

test("a response's objects unfold in place", async () => {
  const page = await open(browser);
  await page.goto(`${base}/docs/reference/chats`);
  const article = page.locator("[aria-labelledby=readChat]");
  const field = article.locator("dt", { hasText: "lastMessageAt" });
  await expect.poll(() => field.isVisible()).toBe(false);
  await article.getByText("Fields of Chat").click();
  await expect.poll(() => field.isVisible()).toBe(true);
});

test("every method of a route has a color, in the reference and in its side bar", async () => {
  const page = await open(browser, { viewport: wide });
  const bare = new Set<string>();
  for (const path of ["/docs/reference/messages", "/docs/reference/templates", "/docs/operator/organizations"]) {
    await page.goto(base + path);
    const found = await page
      .locator(".method")
      .evaluateAll((all) => all.map((one) => [one.textContent ?? "", getComputedStyle(one).backgroundColor] as const));
    expect(found.length, path).toBeGreaterThan(0);
    for (const [method, color] of found) if (color === "rgba(0, 0, 0, 0)") bare.add(method);
  }
  expect([...bare]).toEqual([]);
});
