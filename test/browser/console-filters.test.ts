import type { Page } from "playwright-core";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { type Desk, openConsole, openDesk, screenOf } from "./console.ts";
import { browser } from "./file-browser.ts";

/** Which chats the inbox shows is in its address. */

let desk: Desk;

beforeAll(async () => {
  desk = await openDesk();
  const { id } = await desk.chat("Ann Assigned");
  await desk.api("PATCH", `/chats/${id}`, { assigneeId: desk.organization.memberId });
  const { address } = await desk.chat("Una Unanswered");
  await desk.writes(address, "Hello?");
});

async function open(): Promise<Page> {
  const page = await openConsole(browser, screenOf(desk, "inbox"));
  onTestFinished(() => page.context().close());
  await rows(page, ["Una Unanswered", "Ann Assigned"]);
  return page;
}

const rows = (page: Page, names: string[]) =>
  expect.poll(() => page.locator(".chat-row-name").allTextContents()).toEqual(names);

test("the chosen view stays over a reload, in other chats and on other screens", async () => {
  const page = await open();
  await page.getByRole("button", { name: "Unanswered" }).click();
  await rows(page, ["Una Unanswered"]);
  await page.reload();
  await rows(page, ["Una Unanswered"]);
  await page.getByRole("link", { name: /Una Unanswered/ }).click();
  await page.getByRole("heading", { level: 1, name: "Una Unanswered" }).waitFor();
  expect(new URL(page.url()).search).toBe("?view=unanswered");
  await page.reload();
  await rows(page, ["Una Unanswered"]);
  await page.getByRole("link", { name: "Channels" }).click();
  await page.getByRole("heading", { level: 1, name: "Channels" }).waitFor();
  expect(new URL(page.url()).search).toBe("");
  await page.getByRole("link", { name: "Inbox" }).click();
  await rows(page, ["Una Unanswered"]);
});

test("whose chats are shown stays over a reload", async () => {
  const page = await open();
  await page.getByLabel("Whose chats").selectOption({ label: "Ann" });
  await rows(page, ["Ann Assigned"]);
  await page.reload();
  await rows(page, ["Ann Assigned"]);
  await page.getByLabel("Whose chats").selectOption({ label: "Everybody’s" });
  await rows(page, ["Una Unanswered", "Ann Assigned"]);
  expect(new URL(page.url()).search).toBe("");
});

test("the browser goes back to the filter before", async () => {
  const page = await open();
  await page.getByRole("button", { name: "Unanswered" }).click();
  await rows(page, ["Una Unanswered"]);
  await page.goBack();
  await rows(page, ["Una Unanswered", "Ann Assigned"]);
});

test("words that are searched for stay over a reload", async () => {
  const page = await open();
  await page.getByRole("button", { name: "Unanswered" }).click();
  await rows(page, ["Una Unanswered"]);
  const search = page.getByRole("searchbox", { name: "Find a contact" });
  await search.fill("Ann");
  await rows(page, ["Ann Assigned"]);
  await page.reload();
  await rows(page, ["Ann Assigned"]);
  await expect.poll(() => search.inputValue()).toBe("Ann");
});

test("an address with an unknown view shows all chats", async () => {
  const page = await openConsole(browser, screenOf(desk, "inbox?view=nonsense&channel="));
  onTestFinished(() => page.context().close());
  await rows(page, ["Una Unanswered", "Ann Assigned"]);
});
