import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { createKey } from "../support/world/factories.ts";
import { goByKeys, openAsMember, openConsole, openDesk, screenOf } from "./console.ts";
import { browser } from "./file-browser.ts";
import { base } from "./running-server.ts";
import { violations } from "./violations.ts";

const desk = await openDesk();

const dialog = (page: Page) => page.getByRole("dialog");

/** What a secret is, or the status of its refusal. */
async function asked(secret: string) {
  const response = await fetch(`${base}/api/v1/key`, { headers: { Authorization: `Bearer ${secret}` } });
  return response.ok ? ((await response.json()) as { key: object }).key : response.status;
}

async function shownSecret(page: Page): Promise<string> {
  const secret = page.locator("code.secret");
  await secret.waitFor();
  return (await secret.textContent()) ?? "";
}

test("a key is created as it was entered, and only “I saved it” closes its secret", async () => {
  const page = await openConsole(browser, screenOf(desk, "keys"));
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Shop");
  await page.getByRole("radio", { name: "Custom" }).check();
  await page.getByRole("checkbox", { name: "Read messages and files" }).uncheck();
  await page.getByRole("checkbox", { name: "See templates" }).check();
  await page.getByLabel("Requests per window").fill("20");
  await page.getByLabel("Requests per month").fill("500");
  await page.getByLabel("Allowed addresses").fill("127.0.0.1\n::1/128");
  await page.getByRole("button", { name: "Create" }).click();
  const secret = await shownSecret(page);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.mouse.click(5, 5);
  expect(await shownSecret(page)).toBe(secret);
  await page.getByRole("button", { name: "I saved it" }).click();
  await page.getByRole("heading", { level: 1, name: "Shop" }).waitFor();
  expect(await page.content()).not.toContain(secret);
  await page.reload();
  await page.getByText("0 of 500").waitFor();
  expect(await page.content()).not.toContain(secret);
  const { keys } = await desk.operator("GET", `/organizations/${desk.organization.id}/keys`);
  expect(keys.at(-1)).toMatchObject({
    name: "Shop",
    permissions: ["chats:read", "chats:write", "messages:send", "templates:read"],
    rateLimit: { limit: 20, windowSeconds: 60 },
    monthlyQuota: 500,
    ipAllowlist: ["127.0.0.1", "::1/128"],
    expiresAt: null,
  });
  await page.context().close();
});

test("a field that the service refuses says why, and what was entered stays", async () => {
  const page = await openConsole(browser, screenOf(desk, "keys"));
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Wrong");
  await page.getByLabel("Allowed addresses").fill("shop.example");
  await page.getByRole("button", { name: "Create" }).click();
  await dialog(page).getByText(/^Must/).waitFor();
  await expect.poll(() => page.getByLabel("Name", { exact: true }).inputValue()).toBe("Wrong");
  await page.context().close();
});

test("a key is found and rotated by the keyboard alone: for a day both secrets work", async () => {
  const { id, secret: before } = await createKey(desk.organization, { name: "Rotated by keys" });
  const page = await openConsole(browser, screenOf(desk, "inbox"));
  await page.getByRole("link", { name: "Keys" }).waitFor();
  await goByKeys(page, "k", "Keys");
  await page.getByRole("link", { name: "Rotated by keys" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Rotate" }).focus();
  await page.keyboard.press("Enter");
  await dialog(page).getByLabel("The old secret ends").waitFor();
  await dialog(page).getByRole("button", { name: "Rotate" }).focus();
  await page.keyboard.press("Enter");
  const after = await shownSecret(page);
  expect(after).not.toBe(before);
  expect(await asked(before)).toMatchObject({ id });
  expect(await asked(after)).toMatchObject({ id });
  await page.getByRole("button", { name: "I saved it" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("Two secrets").waitFor();
  await page.context().close();
});

test("a key is revoked after a question, and is listed under the revoked ones", async () => {
  const { secret } = await createKey(desk.organization, { name: "Leaked" });
  const page = await openConsole(browser, screenOf(desk, "keys"));
  await page.getByRole("link", { name: "Leaked" }).click();
  await page.getByRole("button", { name: "Revoke" }).click();
  expect(await asked(secret)).toMatchObject({ name: "Leaked" });
  await dialog(page).getByRole("button", { name: "Revoke" }).click();
  await page.getByText("Revoked", { exact: true }).first().waitFor();
  expect(await asked(secret)).toBe(401);
  await page.getByRole("link", { name: "Keys" }).first().click();
  await page.getByText("revoked or expired key").click();
  await page.getByRole("link", { name: "Leaked" }).waitFor();
  await page.context().close();
});

test("a person sees what the permissions allow: nothing, the list alone, or a key that goes too far", async () => {
  const own = await openDesk();
  await own.operator("PATCH", `/organizations/${own.organization.id}`, { selfService: {} });
  await createKey(own.organization, { name: "Powerful", permissions: ["data:export"] });
  await createKey(own.organization, { name: "Modest", permissions: ["keys:read"] });
  const keys = screenOf(own, "keys");
  const [stranger, reader, manager] = [
    await openAsMember(browser, own, ["chats:read"], keys),
    await openAsMember(browser, own, ["keys:read"], keys),
    await openAsMember(browser, own, ["keys:read", "keys:write"], keys),
  ];
  const buttons = (page: Page) => page.getByRole("main").getByRole("button", { name: /New key|Rotate|Change|Revoke/ });
  await stranger.getByText("You need the permission keys:read").waitFor();
  await reader.getByRole("link", { name: "Powerful" }).click();
  await reader.getByRole("heading", { level: 1, name: "Powerful" }).waitFor();
  await expect.poll(() => buttons(reader).count()).toBe(0);
  await manager.getByRole("link", { name: "Powerful" }).click();
  await manager.getByRole("heading", { level: 1, name: "Powerful" }).waitFor();
  await expect.poll(() => buttons(manager).allTextContents()).toEqual(["Revoke"]);
  await manager.getByRole("link", { name: "Keys" }).first().click();
  await manager.getByRole("link", { name: "Modest" }).click();
  await manager.getByRole("heading", { level: 1, name: "Modest" }).waitFor();
  await expect.poll(() => buttons(manager).allTextContents()).toEqual(["Rotate", "Change", "Revoke"]);
  await Promise.all([stranger, reader, manager].map((page) => page.context().close()));
});

test.for((["light", "dark"] as const).flatMap((colorScheme) => [320, 1280].map((width) => ({ colorScheme, width }))))(
  "the screens of keys have no accessibility violations: $colorScheme, $width px",
  async ({ colorScheme, width }) => {
    const own = await openDesk();
    await createKey(own.organization, { name: "Seen", monthlyQuota: 100 });
    const page = await openConsole(browser, screenOf(own, "keys"), { colorScheme, viewport: { width, height: 700 } });
    await page.getByText("0 of 100").first().waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole("button", { name: "New key" }).click();
    await dialog(page).getByRole("button", { name: "Create" }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "Seen" }).first().click();
    await page.getByRole("heading", { name: "Requests" }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  },
);
