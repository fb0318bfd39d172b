import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { codeIsThere, openConsole, openDesk, screenOf, signIn } from "./console.ts";
import { log, messageBox, openChat } from "./console-conversation.ts";
import { intercept, stopTimers, takeOver } from "./disturb.ts";
import { browser } from "./file-browser.ts";
import { adminToken } from "./running-server.ts";

/** What failed without a connection is loaded again once there is one, without a click. */

const desk = await openDesk();

const alerts = (page: Page) => page.getByRole("alert");

/** A page of the console whose code is all there. */
async function open(path: string): Promise<Page> {
  const page = await openConsole(browser, screenOf(desk, path));
  onTestFinished(() => page.context().close());
  await codeIsThere(page);
  return page;
}

test("a send that fails twice says so once", async () => {
  const chat = await desk.chat("Olu Once");
  const page = await openChat(desk, chat.id);
  let refused = 0;
  await intercept(page, /\/messages$/, async (route) => {
    if (route.request().method() !== "POST") return route.continue();
    refused++;
    await route.abort();
  });
  await stopTimers(page, 12_000);
  const failures = page.locator(".toast-error");
  await messageBox(page).fill("Hello");
  await page.keyboard.press("Control+Enter");
  await failures.waitFor();
  const before = refused;
  await page.keyboard.press("Control+Enter");
  await expect.poll(() => refused).toBeGreaterThan(before);
  await page.locator("button[aria-busy=true]").waitFor({ state: "detached" });
  // At once: each goes on its own later.
  expect(await failures.evaluateAll((all) => all.length)).toBe(1);
});

test("a chat that was opened offline", async () => {
  const chat = await desk.chat("Cleo Cut");
  await desk.writes(chat.address, "Can you hear me?");
  const page = await open("inbox");
  const row = page.getByRole("link", { name: /Cleo Cut/ });
  await row.waitFor();
  await page.context().setOffline(true);
  await page.getByText(/No connection/).waitFor();
  await row.click();
  await alerts(page).first().waitFor();
  await page.context().setOffline(false);
  await log(page).getByText("Can you hear me?").waitFor();
  await expect.poll(() => alerts(page).count()).toBe(0);
});

test("a chat that is in no list, and was opened offline", async () => {
  const chat = await desk.chat("Nell Nowhere");
  await desk.writes(chat.address, "Am I there?");
  const page = await open("inbox?view=scheduled");
  await page.context().setOffline(true);
  await page.getByText(/No connection/).waitFor();
  await page.evaluate(
    (path) => {
      const link = document.createElement("a");
      link.href = path;
      document.body.append(link);
      link.click();
    },
    screenOf(desk, `inbox/${chat.id}`),
  );
  await alerts(page).first().waitFor();
  await page.context().setOffline(false);
  await log(page).getByText("Am I there?").waitFor();
  await expect.poll(() => alerts(page).count()).toBe(0);
});

test("a list that was chosen offline", async () => {
  const chat = await desk.chat("Lina List");
  await desk.writes(chat.address, "I wait");
  const page = await open("inbox");
  await page.context().setOffline(true);
  await page.getByText(/No connection/).waitFor();
  await page.getByRole("button", { name: "Unanswered" }).click();
  await alerts(page).first().waitFor();
  await page.context().setOffline(false);
  await page.getByRole("link", { name: /Lina List/ }).waitFor();
  await expect.poll(() => alerts(page).count()).toBe(0);
});

test("a screen that was opened offline", async () => {
  const page = await open("settings");
  await page.context().setOffline(true);
  await page.getByText(/No connection/).waitFor();
  await page.getByRole("link", { name: "Channels" }).click();
  await alerts(page).first().waitFor();
  await page.context().setOffline(false);
  await page.getByRole("main").getByRole("link", { name: "Site" }).waitFor();
  await expect.poll(() => alerts(page).count()).toBe(0);
});

test("what failed while the service was away, though the stream never broke", async () => {
  const chat = await desk.chat("Otis Outage");
  await desk.writes(chat.address, "Hello");
  const page = await open("inbox");
  const giveBack = await takeOver(page, /\/console\/api\/(?!.*\/events)/);
  await page.getByRole("link", { name: /Otis Outage/ }).click();
  await alerts(page).first().waitFor();
  giveBack();
  await log(page).getByText("Hello").waitFor();
  await expect.poll(() => alerts(page).count()).toBe(0);
});

test("the notes of a chat", async () => {
  const chat = await desk.chat("Nico Notes");
  await desk.api("POST", `/chats/${chat.id}/notes`, { content: "Call back" });
  const page = await open("inbox");
  const giveBack = await takeOver(page, /\/notes/, (route) =>
    route.fulfill({ status: 503, json: { code: "unavailable", message: "Away" } }),
  );
  await page.getByRole("link", { name: /Nico Notes/ }).click();
  await alerts(page).first().waitFor();
  giveBack();
  await log(page).getByText("Call back").waitFor();
  await expect.poll(() => alerts(page).count()).toBe(0);
});

test("the session, when the page was opened", async () => {
  const page = await open("members");
  const giveBack = await takeOver(page, /\/console\/api\/session/);
  await page.reload();
  await alerts(page).first().waitFor();
  giveBack();
  await page.getByRole("heading", { level: 1, name: "Members" }).waitFor();
});

test("the code of the screens", async () => {
  const chat = await desk.chat("Cody Code");
  const page = await openChat(desk, chat.id);
  const giveBack = await takeOver(page, /\/screens-\w+\.js/);
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Cody Code" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByText("This can’t be loaded").waitFor();
  giveBack();
  await page.getByLabel("Find a screen, a contact or an action").waitFor();
});

test("what a session that had ended was refused, once the person is signed in again", async () => {
  const page = await open("settings");
  await page.context().clearCookies();
  // Something else may have asked for the sign-in already.
  await page.getByTitle("Channels", { exact: true }).evaluate((link: HTMLElement) => link.click());
  await page.getByRole("dialog", { name: "Sign in again" }).waitFor();
  await signIn(page, adminToken);
  await page.getByRole("main").getByRole("link", { name: "Site" }).waitFor();
  await expect.poll(() => alerts(page).count()).toBe(0);
});
