import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PRESETS } from "../../src/model/permission.ts";
import { createOrganization } from "../support/world/factories.ts";
import { worldAt } from "../support/world/world.ts";
import { openAsMember, openDesk, screenOf, signIn, signInViolations } from "./console.ts";
import { intercept } from "./disturb.ts";
import { browser } from "./file-browser.ts";
import { adminToken, base } from "./running-server.ts";
import { violations } from "./violations.ts";

let evil: Server;
/** Another site on the same host: a browser sends it the same cookies, because they don't know ports. */
let evilOrigin: string;

beforeAll(async () => {
  evil = createServer((_, response) => response.setHeader("Content-Type", "text/html").end("<h1>Prizes</h1>"));
  await new Promise<void>((resolve) => evil.listen(0, resolve));
  evilOrigin = `${new URL(base).protocol}//${new URL(base).hostname}:${(evil.address() as AddressInfo).port}`;
});
afterAll(async () => {
  evil.close();
});

async function open(path = "/console", options: Parameters<Browser["newContext"]>[0] = {}): Promise<Page> {
  const page = await (await browser.newContext(options)).newPage();
  await page.goto(`${base}${path}`);
  return page;
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
  // The last page takes the button away, also from a click that is on its way.
  const isThere = async () => {
    if (!(await link.isVisible())) await more.click({ timeout: 2_000 }).catch(() => {});
    return link.isVisible();
  };
  await expect.poll(isThere).toBe(true);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("Sign in as the operator").waitFor();
  await page.reload();
  await page.getByText("Sign in as the operator").waitFor();
});

test("a link names the member before it replaces the operator's session", async () => {
  const { organization, operator } = await openDesk();
  const body = { name: "Ana Silva" };
  const { member } = await operator("POST", `/organizations/${organization.id}/members`, body);
  const { url } = await operator("POST", `/members/${member.id}/sign-in-link`);
  const page = await open();
  await signIn(page);
  await page.getByRole("heading", { name: "Organizations" }).waitFor();
  const openLink = async () => {
    await page.goto("about:blank");
    await page.goto(url);
    await page.getByText("Sign in as Ana Silva of Acme?").waitFor();
  };
  await openLink();
  await page.getByText("You are signed in as the operator.").waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole("link", { name: "Stay signed in as the operator" }).click();
  await page.getByRole("heading", { name: "Organizations" }).waitFor();
  await openLink();
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation", { name: "Console" }).waitFor();
  await page.goto("about:blank");
  await page.goto(url);
  await page.getByText("This link no longer works.").waitFor();
});

test("somebody whom Access signed in chooses a member, or reads why not", async () => {
  const page = await (await browser.newContext()).newPage();
  const posted: unknown[] = [];
  const member = (id: string, name: string) => ({ id, name, organization: { id: "org_x", name: `${name}’s shop` } });
  const members = [member("mbr_1", "Ann"), member("mbr_2", "Bea")];
  await intercept(page, "**/console", async (route) => {
    const response = await route.fetch();
    const html = await response.text();
    await route.fulfill({ response, body: html.replace('<div id="console"', '<div id="console" data-access') });
  });
  await intercept(page, "**/console/access", (route) =>
    route.fulfill({ json: { access: { email: "ann@acme.test", isOperator: false, members } } }),
  );
  await intercept(page, "**/console/session", (route) => {
    posted.push(route.request().postDataJSON());
    return route.fulfill({ status: 403, json: { message: "No member", code: "access_unknown" } });
  });
  await page.goto(`${base}/console`);
  await page.getByRole("button", { name: "Sign in with Access" }).click();
  await page.getByRole("group", { name: "Sign in as" }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Bea, Bea’s shop" }).click();
  await page.getByText("No member has your email.").waitFor();
  expect(posted).toEqual([{ access: { memberId: "mbr_2" } }]);
});

test("before the sign-in, the page makes no request that fails, and a reload keeps the link's code", async () => {
  const { organization, operator } = await openDesk();
  const { url } = await operator("POST", `/members/${organization.memberId}/sign-in-link`);
  const page = await (await browser.newContext()).newPage();
  const failed: string[] = [];
  page.on("response", (response) => response.status() >= 400 && failed.push(response.url()));
  await page.goto(url);
  await page.getByText("Sign in as Ann of Acme?").waitFor();
  await page.reload();
  await page.getByText("Sign in as Ann of Acme?").waitFor();
  expect(failed).toEqual([]);
  await operator("DELETE", `/members/${organization.memberId}/sessions`);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("This link no longer works.").waitFor();
  // What is offered then is what everybody else is offered.
  await page.getByText("Sign in with a passkey, or a one-time link").waitFor();
  const { url: newer } = await operator("POST", `/members/${organization.memberId}/sign-in-link`);
  await page.goto(newer);
  await page.getByText("Sign in as Ann of Acme?").waitFor();
  await operator("DELETE", `/members/${organization.memberId}/sessions`);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("This link no longer works.").waitFor();
  await page.reload();
  await page.getByText("Sign in as the operator").waitFor();
});

test("a page without Access has no button for it", async () => {
  const page = await open();
  await page.getByText("Sign in as the operator").waitFor();
  await expect.poll(() => page.getByLabel("Operator’s token").isVisible()).toBe(false);
  await expect.poll(() => page.getByRole("button", { name: "Sign in with Access" }).count()).toBe(0);
});

test("no script and no storage has the session or the token", async () => {
  const page = await open();
  await signIn(page);
  await page.getByRole("heading", { name: "Organizations" }).waitFor();
  const seen = await page.evaluate(() => JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }]));
  expect(seen).toBe('["",{"parley.signed-in":""},{"parley.person":""}]');
  const cookies = await page.context().cookies();
  expect(cookies).toMatchObject([{ httpOnly: true, sameSite: "Strict", path: "/" }]);
  expect(cookies[0]?.value).not.toContain(adminToken);
});

test("somebody who signs in in another tab of the browser takes the place of the person before, in every tab", async () => {
  const desk = await openDesk();
  const first = await openAsMember(browser, desk, [...PRESETS.agent], screenOf(desk, "inbox"), "Ida");
  await first.getByTitle("Your account").getByText("Ida").waitFor();
  const { member } = await desk.operator("POST", `/organizations/${desk.organization.id}/members`, { name: "Jo" });
  const { url } = await desk.operator("POST", `/members/${member.id}/sign-in-link`);
  const second = await first.context().newPage();
  await second.goto(url);
  await second.getByRole("button", { name: "Sign in" }).click();
  for (const page of [second, first]) await page.getByTitle("Your account").getByText("Jo").waitFor();
  for (const page of [second, first]) await page.reload();
  for (const page of [second, first]) await page.getByTitle("Your account").getByText("Jo").waitFor();
});

test("whoever signs in where another's session ended finds nothing that the other wrote, after a reload too", async () => {
  const desk = await openDesk();
  const chat = await desk.chat("Ann Draft");
  const page = await openAsMember(browser, desk, [...PRESETS.agent], screenOf(desk, `inbox/${chat.id}`), "Ida");
  await page.getByLabel("Message", { exact: true }).fill("Half a sentence of Ida's");
  await page.context().clearCookies();
  await page.reload();
  await page.getByText("Sign in as the operator").waitFor();
  const { member } = await desk.operator("POST", `/organizations/${desk.organization.id}/members`, {
    name: "Jo",
    permissions: [...PRESETS.agent],
  });
  const { url } = await desk.operator("POST", `/members/${member.id}/sign-in-link`);
  await page.goto(url);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByTitle("Your account").getByText("Jo").waitFor();
  await page.goto(`${base}${screenOf(desk, `inbox/${chat.id}`)}`);
  await page.getByRole("heading", { level: 1, name: "Ann Draft" }).waitFor();
  await expect.poll(() => page.getByLabel("Message", { exact: true }).inputValue()).toBe("");
  expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).not.toContain("Half a sentence");
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
  await expect.poll(() => site.textContent("body")).toContain("cross_site");
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

test("the screens have no accessibility violations", async () => {
  expect(await signInViolations(browser, { colorScheme: "dark", viewport: { width: 320, height: 700 } })).toEqual([]);
});
