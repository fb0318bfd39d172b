import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { PERMISSIONS, PRESETS } from "../../src/model/permission.ts";
import { dialog, openAsMember, openConsole, openDesk, screenOf } from "./console.ts";
import { browser } from "./file-browser.ts";
import { layoutFaults } from "./layout-faults.ts";
import { violations } from "./violations.ts";

const desk = await openDesk();

const radios = (page: Page) => dialog(page).getByRole("radio");
const radio = (page: Page, name: string) => dialog(page).getByRole("radio", { name, exact: true });
const isChosen = (page: Page, name: string) =>
  dialog(page).getByRole("radio", { name, exact: true, checked: true }).waitFor();
const sorted = (permissions: readonly string[]) => [...permissions].sort();

/** The operator's page of a screen, with the dialog that adds to it open. */
async function openNew(path: string, button: string): Promise<Page> {
  const page = await openConsole(browser, screenOf(desk, path));
  onTestFinished(() => page.context().close());
  await page.getByRole("button", { name: button }).first().click();
  await dialog(page).waitFor();
  return page;
}

/** The permissions of the member or the key with this name. */
async function permissionsOf(list: "members" | "keys", name: string): Promise<string[]> {
  const rows = (await desk.operator("GET", `/organizations/${desk.organization.id}/${list}?limit=100`))[list];
  return rows.find((row: { name: string }) => row.name === name)?.permissions ?? [];
}

test("a preset says in a line what it can do, is chosen by the arrow keys, and gives all that it has", async () => {
  const page = await openNew("members", "Add a member");
  const group = dialog(page).getByRole("group", { name: "Permissions" });
  await isChosen(page, "Agent");
  await expect.poll(() => group.getByRole("radio").count()).toBe(4);
  const lines = await radios(page).evaluateAll((all) =>
    all.map((one) => document.getElementById(one.getAttribute("aria-describedby") ?? "")?.textContent?.trim()),
  );
  expect(lines).toEqual(Array(4).fill(expect.stringMatching(/^[A-Z].*\.$/)));
  await expect.poll(() => dialog(page).getByRole("checkbox").count()).toBe(0);
  await dialog(page).getByLabel("Name", { exact: true }).fill("Kay Keys");
  await radio(page, "Agent").focus();
  await page.keyboard.press("ArrowDown");
  await isChosen(page, "Viewer");
  await page.keyboard.press("Enter");
  await page.getByRole("listitem").filter({ hasText: "Kay Keys" }).getByText("Viewer", { exact: true }).waitFor();
  expect(sorted(await permissionsOf("members", "Kay Keys"))).toEqual(sorted(PRESETS.viewer));
});

test("Custom begins with what was chosen, groups the permissions by what they are for, and gives those with a mark", async () => {
  const page = await openNew("keys", "New key");
  await radio(page, "Everything").check();
  await radio(page, "Custom").check();
  const groups = dialog(page).getByRole("group").getByRole("group");
  await expect
    .poll(() => groups.locator("legend").allTextContents())
    .toEqual(["Conversations", "Templates, saved replies and labels", "Channels and members", "Programs", "Records"]);
  await expect.poll(() => dialog(page).getByRole("checkbox", { checked: true }).count()).toBe(PERMISSIONS.length);
  const records = dialog(page).getByRole("group", { name: "Records" });
  for (const name of [/See statistics/, /See the audit log/]) await records.getByRole("checkbox", { name }).uncheck();
  await dialog(page).getByLabel("Name", { exact: true }).fill("Few");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("button", { name: "I saved it" }).click();
  const left = PERMISSIONS.filter((one) => one !== "stats:read" && one !== "audit:read");
  expect(sorted(await permissionsOf("keys", "Few"))).toEqual(sorted(left));
  await page.getByRole("button", { name: "Change" }).click();
  await isChosen(page, "Custom");
  await expect.poll(() => dialog(page).getByRole("checkbox", { checked: true }).count()).toBe(left.length);
  await radio(page, "Read only").check();
  await dialog(page).getByRole("button", { name: "Save" }).click();
  await dialog(page).waitFor({ state: "detached" });
  const reading = PERMISSIONS.filter((one) => one.endsWith(":read"));
  expect(sorted(await permissionsOf("keys", "Few"))).toEqual(sorted(reading));
});

test("a person is offered the presets that it can give, and the permissions that it has", async () => {
  const own = [...PRESETS.viewer, "members:write"];
  const page = await openAsMember(browser, desk, own, screenOf(desk, "members"), "Vic");
  onTestFinished(() => page.context().close());
  await page.getByRole("button", { name: "Add a member" }).click();
  // As much of an agent's as the person has.
  await isChosen(page, "Viewer");
  await expect.poll(() => radios(page).count()).toBe(2);
  await radio(page, "Custom").check();
  await expect.poll(() => dialog(page).getByRole("checkbox").count()).toBe(own.length);
  await dialog(page).getByRole("checkbox", { name: "Read chats" }).waitFor({ state: "detached" });
  await expect.poll(() => dialog(page).getByRole("group", { name: "Records" }).count()).toBe(0);
  await dialog(page).getByLabel("Name", { exact: true }).fill("Val");
  await radio(page, "Viewer").check();
  await dialog(page).getByRole("button", { name: "Add" }).click();
  await page.getByRole("listitem").filter({ hasText: "Val" }).getByText("Viewer", { exact: true }).waitFor();
});

test.each([1280, 380])("the permissions are accessible and nothing of them is cut at %i pixels", async (width) => {
  const page = await openNew("keys", "New key");
  await page.setViewportSize({ width, height: 900 });
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const name of ["Everything", "Custom"]) {
      await radio(page, name).check();
      expect(await violations(page), `${colorScheme} ${name}`).toEqual([]);
      expect(await layoutFaults(page), `${colorScheme} ${name}`).toEqual([]);
    }
  }
});
