import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { createOrganization } from "../support/world/factories.ts";
import { worldAt } from "../support/world/world.ts";
import { launchBrowser } from "./browser.ts";
import { violations } from "./violations.ts";

const { base, adminToken } = inject("server");

let browser: Browser;
let evil: Server;
/** Another site on the same host: a browser sends it the same cookies, because they don't know ports. */
let evilOrigin: string;

beforeAll(async () => {
  browser = await launchBrowser();
  evil = createServer((_, response) => response.setHeader("Content-Type", "text/html").end("<h1>Prizes</h1>"));
  await new Promise<void>((resolve) => evil.listen(0, resolve));
  evilOrigin = `${new URL(base).protocol}//${new URL(base).hostname}:${(evil.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await browser.close();
  evil.close();
});

async function open(path = "/console", options: Parameters<Browser["newContext"]>[0] = {}): Promise<Page> {
  const page = await (await browser.newContext(options)).newPage();
  await page.goto(`${base}${path}`);
  return page;
}

async function signIn(page: Page, token = adminToken): Promise<void> {
  await page.getByLabel("Operator’s token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
}

test("the operator signs in with the token, sees the organizations, and signs out", async () => {
  const name = `Acme ${crypto.randomUUID()}`;
  await createOrganization(worldAt(base, adminToken), { name });
  const page = await open();
  await signIn(page, "wrong");
  await page.getByText("This is not the operator’s token.").waitFor();
  await signIn(page);
  await page.getByRole("heading", { name: "Organizations" }).waitFor();
  await page.reload();
  const more = page.getByRole("button", { name: "Show more" });
  const link = page.getByRole("link", { name });
  await link.or(more).first().waitFor();
  while (!(await link.isVisible())) await more.click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Operator’s token").waitFor();
  await page.reload();
  await page.getByLabel("Operator’s token").waitFor();
});

test("no script and no storage has the session or the token", async () => {
  const page = await open();
  await signIn(page);
  await page.getByRole("heading", { name: "Organizations" }).waitFor();
  const seen = await page.evaluate(() => JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }]));
  expect(seen).toBe('["",{},{}]');
  const cookies = await page.context().cookies();
  expect(cookies).toMatchObject([{ httpOnly: true, sameSite: "Strict", path: "/" }]);
  expect(cookies[0]?.value).not.toContain(adminToken);
});

test("another site on the same host can neither read nor write with the session, though the browser sends it", async () => {
  const page = await open();
  await signIn(page);
  await page.getByRole("heading", { name: "Organizations" }).waitFor();
  const site = await page.context().newPage();
  await site.goto(evilOrigin);
  const name = `Evil ${crypto.randomUUID()}`;
  const sent: (number | undefined)[] = [];
  site.on("response", (response) => sent.push(response.status()));
  await site.evaluate(
    async ({ base, name }) => {
      const body = JSON.stringify({ name, owner: { name: "Eve" } });
      const options = { method: "POST", mode: "no-cors", credentials: "include", body } as const;
      await fetch(`${base}/console/api/organizations`, options);
      await fetch(`${base}/console/api/organizations`, { mode: "no-cors", credentials: "include" });
    },
    { base, name },
  );
  expect(sent).toEqual([403, 403]);
  await site.evaluate((base) => {
    const form = document.createElement("form");
    form.method = "post";
    form.enctype = "text/plain";
    form.action = `${base}/console/session`;
    document.body.append(form);
    form.submit();
  }, base);
  await site.waitForURL(`${base}/console/session`);
  expect(await site.textContent("body")).toContain("cross_site");
});

test("another site can't show the console in a frame", async () => {
  const page = await open();
  await page.goto(evilOrigin);
  await page.evaluate((base) => {
    const frame = document.createElement("iframe");
    frame.src = `${base}/console`;
    document.body.append(frame);
    return new Promise((resolve) => frame.addEventListener("load", resolve));
  }, base);
  const [, frame] = page.frames();
  expect(await frame?.locator("#console").count()).toBe(0);
});

test.for((["light", "dark"] as const).flatMap((colorScheme) => [320, 1280].map((width) => ({ colorScheme, width }))))(
  "the screens have no accessibility violations: $colorScheme, $width px",
  async ({ colorScheme, width }) => {
    const page = await open("/console", { colorScheme, viewport: { width, height: 700 } });
    await signIn(page, "wrong");
    await page.getByText("This is not the operator’s token.").waitFor();
    expect(await violations(page)).toEqual([]);
    await signIn(page);
    await page.getByRole("listitem").first().waitFor();
    expect(await violations(page)).toEqual([]);
  },
);
