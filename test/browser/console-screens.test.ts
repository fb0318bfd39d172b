import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { createTemplate } from "../support/world/factories.ts";
import { dialog, openAsMember, openConsole, openDesk, screenOf } from "./console.ts";
import { intercept, takeOver } from "./disturb.ts";
import { browser } from "./file-browser.ts";
import { base } from "./running-server.ts";
import { violations } from "./violations.ts";

const desk = await openDesk();

/** The counts of keys are reported later. */
const REPORTED = { timeout: 90_000, interval: 500 };

const templates = async () =>
  (await desk.operator("GET", `/organizations/${desk.organization.id}/templates`)).templates;

test("a template is written with a live preview, changed and deleted; one that is not closed can't be saved", async () => {
  const page = await openConsole(browser, screenOf(desk, "templates"));
  await page.getByRole("link", { name: "New template" }).first().click();
  await page.getByLabel("Name", { exact: true }).fill("order_left");
  const text = page.getByLabel("Text", { exact: true });
  await text.fill("Hello {{name}}, {{order left today.");
  await page.getByText("is not closed").waitFor();
  await expect.poll(() => page.getByRole("button", { name: "Create" }).isDisabled()).toBe(true);
  await text.fill("Hello {{name}}, {{order}} left today.");
  await page.getByLabel("order", { exact: true }).fill("A-17");
  await page.getByText("Hello {{name}}, A-17 left today.", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("link", { name: "order_left" }).click();
  expect(await templates()).toMatchObject([{ name: "order_left", language: "en", variables: ["name", "order"] }]);
  await page.getByLabel("Text", { exact: true }).fill("It left.");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { level: 1, name: "Templates" }).waitFor();
  await page.getByText("It left.").waitFor();
  expect(await templates()).toMatchObject([{ body: "It left.", variables: [] }]);
  await page.getByRole("link", { name: "order_left" }).click();
  await page.getByRole("button", { name: "Delete" }).click();
  await dialog(page).getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { name: "No template yet" }).waitFor();
  expect(await templates()).toEqual([]);
  await page.context().close();
});

test("the text of a template that was not saved stays in the tab until it is discarded", async () => {
  const page = await openConsole(browser, screenOf(desk, "templates/new"));
  const text = page.getByLabel("Text");
  await text.fill("Half a thought");
  await page.getByRole("link", { name: "Audit" }).click();
  await page.getByRole("heading", { name: "Audit" }).waitFor();
  await page.goBack();
  await expect.poll(() => text.inputValue()).toBe("Half a thought");
  await page.reload();
  await expect.poll(() => text.inputValue()).toBe("Half a thought");
  await page.getByRole("button", { name: "Discard" }).click();
  await expect.poll(() => text.inputValue()).toBe("");
  await page.reload();
  await text.waitFor();
  await expect.poll(() => text.inputValue()).toBe("");
  await page.context().close();
});

test("a member is added, signs in with the link, and is signed out everywhere", async () => {
  const page = await openConsole(browser, screenOf(desk, "members"));
  await page.getByRole("button", { name: "Add a member" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Mia Member");
  await page.getByRole("radio", { name: "Viewer" }).check();
  await dialog(page).getByRole("button", { name: "Add" }).click();
  const row = page.getByRole("listitem").filter({ hasText: "Mia Member" });
  await row.getByRole("button", { name: "Sign-in link" }).click();
  const url = (await page.locator("code.secret").textContent()) ?? "";
  await page.getByRole("button", { name: "I saved it" }).click();
  const theirs = await (await browser.newContext()).newPage();
  await theirs.goto(url);
  await theirs.getByRole("button", { name: "Sign in" }).click();
  await theirs.getByRole("link", { name: "Members" }).click();
  await theirs.getByRole("heading", { level: 1, name: "Members" }).waitFor();
  await theirs.getByRole("listitem").filter({ hasText: "Mia Member" }).getByText("You", { exact: true }).waitFor();
  await expect.poll(() => theirs.getByRole("button", { name: "Add a member" }).count()).toBe(0);
  await row.getByRole("button", { name: "More for Mia Member" }).click();
  await page.getByRole("menuitem", { name: "Sign out everywhere" }).click();
  await dialog(page).getByRole("button", { name: "Sign out" }).click();
  await page.getByText("Signed out everywhere").waitFor();
  await theirs.reload();
  await theirs.getByText("Sign in as the operator").waitFor();
  await Promise.all([page.context().close(), theirs.context().close()]);
});

test("the last member can't be deleted, and the screen says why", async () => {
  const lonely = await openDesk("Lonely");
  const page = await openConsole(browser, screenOf(lonely, "members"));
  await page.getByRole("button", { name: "More for Ann" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await dialog(page).getByRole("button", { name: "Delete" }).click();
  await dialog(page)
    .getByRole("alert")
    .getByText(/last member/i)
    .waitFor();
  const { members } = await lonely.operator("GET", `/organizations/${lonely.organization.id}/members`);
  expect(members).toHaveLength(1);
  await page.context().close();
});

test("the requests of a key are drawn, with a table that has the same numbers", async () => {
  const counted = await openDesk("Counted");
  // A key reports five seconds after its first request, and then after a minute.
  await Promise.all([1, 2, 3].map(() => counted.api("GET", "/chats")));
  const page = await openConsole(browser, screenOf(counted, "statistics"));
  const table = page.getByRole("region", { name: "Requests by key, since each was created" });
  const accepted = async () => {
    await page.getByRole("button", { name: "Refresh" }).click();
    return table.getByRole("row").nth(1).getByRole("cell").first().textContent();
  };
  await expect.poll(accepted, REPORTED).toBe("3");
  const chart = page.getByRole("figure").filter({ hasText: "Accepted" });
  // The last refresh draws the charts anew. Each is loaded when it is on the screen.
  await page.locator("[aria-busy=true]").waitFor({ state: "detached" });
  await page.locator(".chart-box").last().scrollIntoViewIfNeeded();
  await chart.getByText("As a table").click();
  await expect.poll(() => chart.getByRole("row").last().getByRole("cell").allTextContents()).toEqual(["3", "0", "0"]);
  await page.context().close();
});

test("a change stays on the screen when the answer of an earlier load comes after it", async () => {
  const slow = await openDesk("Before");
  const page = await openConsole(browser, screenOf(slow, "members"));
  await page.getByRole("heading", { level: 1, name: "Members" }).waitFor();
  const [read, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  // The screen of settings loads the organization. Its answer has the old name, and is late.
  await intercept(page, new RegExp(`${slow.organization.id}/organization$`), async (route) => {
    // The service wants to hear from a browser that its own page asks.
    const headers = { ...route.request().headers(), "sec-fetch-site": "same-origin" };
    const response = await route.fetch({ headers });
    read.resolve();
    await held.promise;
    await route.fulfill({ response });
  });
  await page.getByRole("link", { name: "Settings" }).click();
  await read.promise;
  await page.getByRole("button", { name: "Change organization" }).click();
  await dialog(page).getByLabel("Name").fill("After");
  await dialog(page).getByRole("button", { name: "Save" }).click();
  await page.getByRole("navigation").getByText("After").waitFor();
  const late = page.waitForResponse(/\/organization$/);
  held.resolve();
  await (await late).finished();
  await page.getByRole("link", { name: "Members" }).click();
  await page.getByRole("heading", { level: 1, name: "Members" }).waitFor();
  await expect.poll(() => page.getByRole("navigation").getByText("After").isVisible()).toBe(true);
  await page.context().close();
});

test("the operator renames the organization, sets limits and a retention, and deletes it", async () => {
  const doomed = await openDesk("Doomed");
  const { id } = doomed.organization;
  const page = await openConsole(browser, screenOf(doomed, "settings"));
  await page.getByRole("button", { name: "Change organization" }).click();
  await dialog(page).getByLabel("Name").fill("Renamed");
  await dialog(page).getByRole("button", { name: "Save" }).click();
  await page.getByRole("navigation").getByText("Renamed").waitFor();
  await page.getByRole("button", { name: "Change limits" }).click();
  await dialog(page).getByLabel("Chats").fill("5");
  await dialog(page).getByRole("checkbox").check();
  await dialog(page).getByLabel("Keys", { exact: true }).fill("3");
  await dialog(page).getByRole("button", { name: "Save" }).click();
  await page.getByText("At most 3").waitFor();
  const { organization } = await doomed.operator("GET", `/organizations/${id}`);
  expect(organization).toMatchObject({ name: "Renamed", limits: { chats: 5 }, selfService: { maxKeys: 3 } });
  await page.getByRole("button", { name: "Change the retention of Site" }).click();
  await dialog(page).getByRole("button", { name: "30 days" }).click();
  await dialog(page).getByRole("button", { name: "Delete older messages" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  await page.getByText("30 days", { exact: true }).waitFor();
  const { channel } = await doomed.operator("GET", `/channels/${doomed.channel.id}`);
  expect(channel.retentionDays).toBe(30);
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  const sure = dialog(page).getByRole("button", { name: "Delete everything" });
  await expect.poll(() => sure.isDisabled()).toBe(true);
  await dialog(page).getByRole("textbox").fill("Renamed");
  await sure.click();
  await page.getByRole("heading", { name: "Organizations" }).waitFor();
  await expect(doomed.operator("GET", `/organizations/${id}`)).rejects.toThrow("404");
  await page.context().close();
});

test("an export is gathered from its parts into one file", async () => {
  const exported = await openDesk("Exported");
  await exported.chat("Zoe");
  const page = await openConsole(browser, screenOf(exported, "settings"));
  const download = async () => {
    const begun = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).click();
    const file = await begun;
    expect(file.suggestedFilename()).toBe(`${exported.organization.id}.ndjson`);
    return (await readFile(await file.path(), "utf8")).trimEnd().split("\n");
  };
  const types = (await download()).map((line) => JSON.parse(line).type);
  expect(types).toEqual(expect.arrayContaining(["member", "channel", "chat"]));
  expect(types.at(-1)).toBe("end");
  await intercept(page, /\/export/, async (route) => {
    const isFirst = new URL(route.request().url()).searchParams.get("after") !== "the rest";
    const lines = isFirst ? ['{"n":1}', '{"type":"end","next":"the rest"}'] : ['{"n":2}', '{"type":"end","next":null}'];
    await route.fulfill({ contentType: "application/x-ndjson", body: `${lines.join("\n")}\n` });
  });
  expect(await download()).toEqual(['{"n":1}', '{"n":2}', '{"type":"end","next":null}']);
  await page.context().close();
});

test("an organization that does not exist leads back to the start", async () => {
  const page = await openConsole(browser, "/console/o/org_gXXXXXXXXXXXXXXXX/inbox");
  await page.getByRole("main").getByRole("heading", { name: "Not found" }).waitFor();
  await page.getByRole("link", { name: "Go to the start" }).click();
  await page.getByRole("heading", { name: "Organizations" }).waitFor();
  await page.context().close();
});

test("members show their preset, and the settings every limit", async () => {
  const own = await openDesk("Roles");
  const add = (name: string, permissions: unknown) =>
    own.operator("POST", `/organizations/${own.organization.id}/members`, { name, permissions });
  await add("Agnes", "agent");
  await add("Vera", "viewer");
  await add("Otto", ["chats:read", "stats:read"]);
  const page = await openConsole(browser, screenOf(own, "members"));
  for (const [name, role] of [
    ["Ann", "Manager"],
    ["Agnes", "Agent"],
    ["Vera", "Viewer"],
    ["Otto", "2 permissions"],
  ] as const) {
    await page.getByRole("listitem").filter({ hasText: name }).getByText(role, { exact: true }).waitFor();
  }
  await page.getByRole("button", { name: "Add a member" }).click();
  const isChosen = (name: string) => page.getByRole("radio", { name, exact: true, checked: true });
  await isChosen("Agent").waitFor();
  await page.getByRole("radio", { name: "Viewer", exact: true }).check();
  await isChosen("Viewer").waitFor();
  await page.getByRole("radio", { name: "Custom", exact: true }).check();
  await page.getByLabel("Read notes").uncheck();
  await isChosen("Viewer").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("link", { name: "Settings" }).click();
  for (const fact of ["Members", "Templates", "Channels"]) {
    await page.getByRole("main").getByText(fact, { exact: true }).waitFor();
  }
  await page.getByText("At most 200", { exact: true }).waitFor();
  await page.context().close();
});

test("what a member may not see is named, and what a member may not change has no button", async () => {
  const page = await openAsMember(browser, desk, ["channels:read"], screenOf(desk, "settings"));
  await page.getByText("Only the operator changes these.").waitFor();
  await expect.poll(() => page.getByRole("button", { name: /Change|Delete/ }).count()).toBe(0);
  await expect.poll(() => page.getByRole("button", { name: "Download" }).count()).toBe(0);
  for (const [path, permission] of [
    ["templates", "templates:read"],
    ["members", "members:read"],
    ["scheduled", "chats:read"],
    ["statistics", "stats:read"],
    ["audit", "audit:read"],
  ]) {
    await page.goto(`${base}${screenOf(desk, path ?? "")}`);
    await page.getByText(`You need the permission ${permission}`).waitFor();
  }
  await page.context().close();
  const reader = await openAsMember(browser, desk, ["members:read", "templates:read"], screenOf(desk, "templates"));
  await reader.getByRole("heading", { name: "No template yet" }).waitFor();
  await expect.poll(() => reader.getByText("Or in a terminal:").count()).toBe(0);
  await reader.getByRole("link", { name: "Members" }).click();
  const own = reader.getByRole("listitem").filter({ has: reader.getByText("You", { exact: true }) });
  await own.getByText("Seen within the hour").waitFor();
  await reader.context().close();
});

test("a screen that can't be loaded says why, with the request's id, and tries again", async () => {
  const empty = await openDesk("Empty");
  const page = await openConsole(browser, screenOf(empty, "inbox"));
  // A request that is refused so is repeated by a click alone.
  const giveBack = await takeOver(page.context(), /\/templates\?/, (route) =>
    route.fulfill({
      status: 409,
      json: { message: "Something else is under way", code: "conflict" },
      headers: { "X-Request-Id": "req-17" },
    }),
  );
  await page.goto(`${base}${screenOf(empty, "templates")}`);
  await page.getByText("Something else is under way").waitFor();
  await page.getByText("req-17").waitFor();
  giveBack();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "No template yet" }).waitFor();
  await page.context().close();
});

test.for((["light", "dark"] as const).flatMap((colorScheme) => [320, 1280].map((width) => ({ colorScheme, width }))))(
  "the screens have no accessibility violations: $colorScheme, $width px",
  async ({ colorScheme, width }) => {
    const seen = await openDesk("Seen");
    const id = await createTemplate(seen.organization);
    const chat = await seen.chat("Fay Seen");
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
    await seen.api("POST", `/chats/${chat.id}/messages`, { content: "Later", scheduledAt });
    const options = { colorScheme, viewport: { width, height: 700 } };
    const page = await openConsole(browser, screenOf(seen, "templates"), options);
    const found: Record<string, string[]> = {};
    for (const [path, ready] of [
      ["templates", "order_shipped"],
      [`templates/${id}`, "Preview"],
      ["members", "Default sender"],
      ["statistics", "As a table|Nothing in this time"],
      ["audit", "^Done$"],
      ["scheduled", "Later"],
      ["settings", "Delete the organization"],
    ] as const) {
      await page.goto(`${base}${screenOf(seen, path)}`);
      await page.getByText(new RegExp(ready)).first().waitFor();
      await expect.poll(() => page.locator(".skeleton").count()).toBe(0);
      found[path] = await violations(page);
    }
    await page.getByRole("button", { name: "Change the retention of Site" }).click();
    await dialog(page).getByRole("button", { name: "30 days" }).click();
    found.retention = await violations(page);
    const isSideways = await dialog(page).evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth);
    expect(isSideways).toBe(false);
    expect(Object.entries(found).filter(([, lines]) => lines.length > 0)).toEqual([]);
    await page.context().close();
  },
);
