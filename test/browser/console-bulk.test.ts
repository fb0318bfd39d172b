import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type Desk, openDesk } from "./console.ts";
import { log, openChat, openChatAsMember, SOON } from "./console-conversation.ts";
import { choose } from "./day-of-three.ts";
import { holdUp, noteChanges, stopTimers } from "./disturb.ts";

const row = (page: Page, name: string) => page.getByRole("link", { name: new RegExp(name) });
const bar = (page: Page) => page.getByRole("region", { name: "Selected chats" });

/** A desk with three chats whose contacts wrote, and a page with the first one open. Its offers to undo stay. */
async function threeWaiting() {
  const desk = await openDesk("Bulk");
  const chats = [await desk.chat("Ada One"), await desk.chat("Bob Two"), await desk.chat("Cyd Three")];
  for (const { address } of chats) await desk.writes(address, `This is ${address}`);
  const page = await openChat(desk, chats[0]?.id ?? "");
  await stopTimers(page, 10_000);
  await log(page).getByText("This is").waitFor();
  for (const name of ["Ada One", "Bob Two", "Cyd Three"]) await row(page, name).getByText("This is").waitFor();
  return { desk, chats, page };
}

async function states(desk: Desk, chats: readonly { id: string }[]) {
  const read = async ({ id }: { id: string }) => {
    const { state, unansweredSince, assigneeId } = (await desk.api("GET", `/chats/${id}`)).chat;
    return `${state}${unansweredSince ? " waits" : ""}${assigneeId ? " assigned" : ""}`;
  };
  return Promise.all(chats.map(read));
}

test("x selects chats, which are closed together, and z brings all of them back", async () => {
  const { desk, chats, page } = await threeWaiting();
  await page.keyboard.press("x");
  await bar(page).getByText("1 selected").waitFor();
  await page.keyboard.press("x");
  await bar(page).waitFor({ state: "detached" });
  await row(page, "Bob Two").hover();
  await page.getByRole("checkbox", { name: "Select Bob Two" }).check();
  await page.getByRole("checkbox", { name: "Select Cyd Three" }).check();
  await bar(page).getByText("2 selected").waitFor();
  await bar(page).getByRole("button", { name: "Close", exact: true }).click();
  await page.locator(".toasts").getByText("2 chats closed").waitFor();
  await bar(page).waitFor({ state: "detached" });
  await row(page, "Bob Two").waitFor({ state: "detached" });
  expect(await states(desk, chats)).toEqual(["open waits", "closed", "closed"]);
  await page.keyboard.press("z");
  await row(page, "Bob Two").waitFor();
  await row(page, "Cyd Three").waitFor();
  await expect.poll(() => states(desk, chats), SOON).toEqual(["open waits", "open waits", "open waits"]);
});

test("after a click on a box, single keys mean the selection", async () => {
  const { desk, chats, page } = await threeWaiting();
  await page.getByRole("checkbox", { name: "Select Bob Two" }).check();
  await page.getByRole("checkbox", { name: "Select Cyd Three" }).check();
  // The bar has the keys, once its code is there.
  await bar(page).getByText("2 selected").waitFor();
  await page.keyboard.press("c");
  await page.locator(".toasts").getByText("2 chats closed").waitFor();
  expect(await states(desk, chats)).toEqual(["open waits", "closed", "closed"]);
  await page.getByRole("checkbox", { name: "Select Ada One" }).check();
  await page.keyboard.press("x");
  await bar(page).waitFor({ state: "detached" });
});

test("of several chats, one whose contact wrote since it was selected stays, is named, and stays selected", async () => {
  const { desk, chats, page } = await threeWaiting();
  await page.getByRole("checkbox", { name: "Select Bob Two" }).check();
  await page.getByRole("checkbox", { name: "Select Cyd Three" }).check();
  await desk.writes(chats[2]?.address ?? "", "One more thing");
  await row(page, "Cyd Three").getByText("One more thing").waitFor();
  await bar(page).getByRole("button", { name: "Close", exact: true }).click();
  await page.locator(".toasts").getByText("1 chat closed").waitFor();
  await page.locator(".toasts").getByText("Cyd Three: There are newer messages.").waitFor();
  await bar(page).getByText("1 selected").waitFor();
  await expect.poll(() => page.getByRole("checkbox", { name: "Select Cyd Three" }).isChecked()).toBe(true);
  expect(await states(desk, chats)).toEqual(["open waits", "closed", "open waits"]);
});

test("a chat that was left because its contact wrote is closed once the person asks again", async () => {
  const { desk, chats, page } = await threeWaiting();
  await page.getByRole("checkbox", { name: "Select Cyd Three" }).check();
  await desk.writes(chats[2]?.address ?? "", "One more thing");
  await row(page, "Cyd Three").getByText("One more thing").waitFor();
  await bar(page).getByRole("button", { name: "Close", exact: true }).click();
  await page.locator(".toasts").getByText("Cyd Three: There are newer messages.").waitFor();
  await bar(page).getByRole("button", { name: "Close", exact: true }).click();
  await page.locator(".toasts").getByText("1 chat closed").waitFor();
  expect(await states(desk, chats)).toEqual(["open waits", "open waits", "closed"]);
});

test("a message that comes before several chats are brought back stays unanswered", async () => {
  const { desk, chats, page } = await threeWaiting();
  await selectTwo(page);
  await page.keyboard.press("e");
  await page.locator(".toasts").getByText("2 chats marked as answered").waitFor();
  await selectTwo(page);
  await page.keyboard.press("c");
  await page.locator(".toasts").getByText("2 chats closed").waitFor();
  await desk.writes(chats[1]?.address ?? "", "One more thing");
  await row(page, "Bob Two").getByText("One more thing").waitFor();
  const changes = noteChanges(page, new RegExp(`${chats[1]?.id}(?!/read)`));
  const looked = page.waitForResponse(
    (one) => one.request().method() === "GET" && one.url().endsWith(`/chats/${chats[1]?.id}`),
  );
  await page.keyboard.press("z");
  await (await looked).finished();
  await expect.poll(() => states(desk, chats), SOON).toEqual(["open waits", "open waits", "open"]);
  expect(await changes()).toEqual([]);
});

test("closed chats are reopened together by a button", async () => {
  const { desk, chats, page } = await threeWaiting();
  for (const { id } of chats) await desk.api("PATCH", `/chats/${id}`, { state: "closed" });
  await choose(page, "Closed");
  await page.getByRole("checkbox", { name: "Select Bob Two" }).check();
  await page.getByRole("checkbox", { name: "Select Cyd Three" }).check();
  await bar(page).getByRole("button", { name: "Reopen" }).click();
  await page.locator(".toasts").getByText("2 chats reopened").waitFor();
  expect(await states(desk, chats)).toEqual(["closed", "open", "open"]);
  await expect.poll(() => bar(page).count()).toBe(0);
});

test("several chats are assigned and snoozed, and a time that has passed changes none", async () => {
  const { desk, chats, page } = await threeWaiting();
  const select = async () => {
    for (const name of ["Ada One", "Bob Two"]) await page.getByRole("checkbox", { name: `Select ${name}` }).check();
  };
  await select();
  await bar(page).getByRole("button", { name: "Assign the selected chats" }).click();
  await page.getByRole("menuitem", { name: "Ann" }).click();
  await page.locator(".toasts").getByText("2 chats assigned").waitFor();
  expect(await states(desk, chats)).toEqual(["open waits assigned", "open waits assigned", "open waits"]);
  await page.keyboard.press("z");
  await expect.poll(() => states(desk, chats), SOON).toEqual(["open waits", "open waits", "open waits"]);
  await select();
  await bar(page).getByRole("button", { name: "Snooze the selected chats" }).click();
  await page.getByLabel("Until").fill("2020-01-01T09:00");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByText("Must be in the future.").waitFor();
  expect(await states(desk, chats)).toEqual(["open waits", "open waits", "open waits"]);
  await page.getByRole("button", { name: "Tomorrow at 9" }).click();
  await page.keyboard.press("Tab");
  await page.getByRole("dialog").getByRole("button", { name: "Snooze", exact: true }).click();
  await page.locator(".toasts").getByText("2 chats snoozed").waitFor();
  expect(await states(desk, chats)).toEqual(["snoozed waits", "snoozed waits", "open waits"]);
});

test("another list selects nothing, Escape selects none, and who may not change chats has nothing to select by", async () => {
  const { desk, chats, page } = await threeWaiting();
  await page.keyboard.press("x");
  await bar(page).waitFor();
  await page.getByRole("button", { name: "Unanswered" }).click();
  await bar(page).waitFor({ state: "detached" });
  await row(page, "Ada One").waitFor();
  await page.keyboard.press("x");
  await bar(page).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("heading", { name: "Choose a chat" }).waitFor();
  await bar(page).waitFor();
  await page.keyboard.press("Escape");
  await bar(page).waitFor({ state: "detached" });
  const reader = ["chats:read", "messages:read", "messages:send", "events:read"];
  const own = await openChatAsMember(desk, chats[0]?.id ?? "", reader, "Rea");
  await row(own, "Bob Two").waitFor();
  await expect.poll(() => own.getByRole("checkbox").count()).toBe(0);
});

/** Selects Bob and Cyd. The chat of Ada is open. */
async function selectTwo(page: Page) {
  for (const name of ["Bob Two", "Cyd Three"]) await page.getByRole("checkbox", { name: `Select ${name}` }).check();
  await bar(page).getByText("2 selected").waitFor();
  // What opened a chat by a click or has the focus would take the key.
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
}

test("the keys e, s, c and o act on the selected chats, after another chat was opened too, and then on the open one", async () => {
  const { desk, chats, page } = await threeWaiting();
  const toast = (text: string) => page.locator(".toasts").getByText(text).waitFor();
  await selectTwo(page);
  await page.keyboard.press("e");
  await toast("2 chats marked as answered");
  expect(await states(desk, chats)).toEqual(["open waits", "open", "open"]);
  await page.keyboard.press("z");
  await expect.poll(() => states(desk, chats), SOON).toEqual(["open waits", "open waits", "open waits"]);
  await selectTwo(page);
  // The conversation that opens brings its own keys.
  await page.keyboard.press("k");
  await page.getByRole("region", { name: /^Conversation with (Bob|Cyd)/ }).waitFor();
  await page.keyboard.press("s");
  await page.getByRole("button", { name: "Tomorrow at 9" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Snooze", exact: true }).click();
  await toast("2 chats snoozed");
  expect(await states(desk, chats)).toEqual(["open waits", "snoozed waits", "snoozed waits"]);
  await page.keyboard.press("z");
  await expect.poll(() => states(desk, chats), SOON).toEqual(["open waits", "open waits", "open waits"]);
  await row(page, "Cyd Three").waitFor();
  await selectTwo(page);
  await page.keyboard.press("?");
  const list = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await list.getByText("Close the selected chats").waitFor();
  await expect.poll(() => list.getByText("Close the chat").count()).toBe(0);
  await page.keyboard.press("Escape");
  await page.keyboard.press("c");
  await toast("2 chats closed");
  expect(await states(desk, chats)).toEqual(["open waits", "closed", "closed"]);
  await choose(page, "Closed");
  await selectTwo(page);
  await page.keyboard.press("o");
  await toast("2 chats reopened");
  expect(await states(desk, chats)).toEqual(["open waits", "open", "open"]);
  await page.keyboard.press("z");
  await expect.poll(() => states(desk, chats), SOON).toEqual(["open waits", "closed", "closed"]);
  await choose(page, "Inbox");
  await row(page, "Ada One").click();
  await page.getByRole("region", { name: "Conversation with Ada One" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("c");
  await expect.poll(() => states(desk, chats)).toEqual(["closed", "closed", "closed"]);
});

test("the keys a and l open the menus of the selected chats, and the first label is made there", async () => {
  const { desk, chats, page } = await threeWaiting();
  await selectTwo(page);
  await page.keyboard.press("a");
  await page.getByRole("menuitem", { name: "Ann" }).press("Enter");
  await page.locator(".toasts").getByText("2 chats assigned").waitFor();
  expect(await states(desk, chats)).toEqual(["open waits", "open waits assigned", "open waits assigned"]);
  await selectTwo(page);
  await page.keyboard.press("l");
  await page.getByRole("menuitem", { name: "New label…" }).press("Enter");
  await page.getByRole("dialog", { name: "New label" }).getByLabel("Name").fill("Spring sale");
  await page.keyboard.press("Enter");
  await page.locator(".toasts").getByText("2 chats labeled “Spring sale”").waitFor();
  const labels = async ({ id }: { id: string }) => (await desk.api("GET", `/chats/${id}`)).chat.labels.length;
  expect(await Promise.all(chats.map(labels))).toEqual([0, 1, 1]);
  const writer = ["chats:read", "chats:write", "messages:read", "messages:send", "events:read"];
  const own = await openChatAsMember(desk, chats[0]?.id ?? "", writer, "Wes");
  await selectTwo(own);
  await own.keyboard.press("l");
  await own.getByRole("menuitem", { name: "Spring sale" }).waitFor();
  await expect.poll(() => own.getByRole("menuitem", { name: "New label…" }).count()).toBe(0);
});

test("the key l means the selected chats, also if they were selected before the labels came", async () => {
  const { desk, chats } = await threeWaiting();
  await desk.api("POST", "/labels", { name: "Spring sale" });
  const writer = ["chats:read", "chats:write", "messages:read", "messages:send", "events:read"];
  const page = await openChatAsMember(desk, chats[0]?.id ?? "", writer, "Wes");
  const release = await holdUp(page, /\/labels$/);
  await page.reload();
  await selectTwo(page);
  await bar(page).getByText("2 selected").waitFor();
  await page.keyboard.press("l");
  release();
  await bar(page).getByRole("button", { name: "Label the selected chats" }).waitFor();
  // What was pressed too early does nothing later.
  await expect.poll(() => page.getByRole("menuitem").count()).toBe(0);
  await page.keyboard.press("l");
  await page.getByRole("menuitem", { name: "Spring sale" }).waitFor();
});
