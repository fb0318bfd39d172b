import { expect, test } from "vitest";
import { dialog, openAsMember, openConsole, openDesk, screenOf } from "./console.ts";
import { stopTimers } from "./disturb.ts";
import { browser } from "./file-browser.ts";
import { base } from "./running-server.ts";

test("the audit log shows who did what, and only what the filters ask for", async () => {
  const audited = await openDesk("Audited");
  const page = await openConsole(browser, screenOf(audited, "members"));
  await page.getByRole("button", { name: "More for Ann" }).click();
  await page.getByRole("menuitem", { name: "Change" }).click();
  await dialog(page).getByLabel("Name", { exact: true }).fill("Anna");
  await dialog(page).getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  const member = await openAsMember(browser, audited, ["audit:read", "chats:read"], screenOf(audited, "settings"));
  // Without events the list is loaded again every three seconds, and each load is a search.
  await stopTimers(member, 3_000);
  await member.goto(`${base}${screenOf(audited, "inbox")}`);
  // An hour may end between two of them: the other two are then of one hour.
  for (const text of ["anna", "bert", "cleo"]) {
    const searched = member.waitForResponse(new RegExp(`search=${text}`));
    await member.getByLabel("Find a contact").fill(text);
    await searched;
  }
  await member
    .getByText(/No matching chats|Nothing/)
    .first()
    .waitFor();
  await member.getByRole("link", { name: "Audit" }).click();
  const rows = member.getByRole("row").filter({ has: member.getByRole("cell") });
  // Searches of an hour share an entry, which says how many they are.
  const newest = rows.filter({ hasText: /Searched the chats \([23] times\)/ }).first();
  await newest.getByText("Mel").waitFor();
  await newest.getByText("By a link of the operator").waitFor();
  await newest.getByText("Done").waitFor();
  await member.getByLabel("What").selectOption({ label: "Changed a member" });
  await expect.poll(() => rows.count()).toBe(1);
  await expect.poll(() => rows.first().textContent()).toContain("name, publicName, email, permissions");
  await member.getByLabel("What").selectOption({ label: "Rotated a key" });
  await member.getByRole("heading", { name: "No matching entries" }).waitFor();
  await member.getByRole("button", { name: "Clear the filters" }).click();
  await newest.waitFor();
  await Promise.all([page.context().close(), member.context().close()]);
});
