import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { PRESETS } from "../../src/model/permission.ts";
import { AGENT, codeIsThere, openAsMember, openConsole, openDesk, screenOf } from "./console.ts";
import { holdUp, intercept, noteChanges, stopTimers } from "./disturb.ts";
import { browser } from "./file-browser.ts";
import { base } from "./running-server.ts";
import { violations } from "./violations.ts";

const desk = await openDesk();

const row = (page: Page, name: string) => page.getByRole("link", { name: new RegExp(name) });
const whose = (page: Page) => page.getByLabel("Whose chats");
const assigneeOf = async (id: string) => (await desk.api("GET", `/chats/${id}`)).chat.assigneeId;

test("a person takes a chat by a key, finds it among theirs, frees it, and every open page follows", async () => {
  const [one, two] = [await desk.chat("Tia Taken"), await desk.chat("Noa Nobody")];
  const mel = await openAsMember(browser, desk, AGENT, screenOf(desk, `inbox/${one.id}`));
  const operator = await openConsole(browser, screenOf(desk, "inbox"));
  await mel.getByRole("button", { name: "Nobody’s. Assign this chat (a)" }).waitFor();
  await mel.keyboard.press("a");
  await mel.getByRole("button", { name: "Assigned to Mel. Change that" }).waitFor();
  expect(await assigneeOf(one.id)).toMatch(/^mbr_/);
  await row(operator, "Tia Taken.*Assigned to Mel").waitFor();
  await mel.keyboard.press("m");
  await row(mel, "Tia Taken").waitFor();
  await expect.poll(() => row(mel, "Noa Nobody").count()).toBe(0);
  await whose(operator).selectOption({ label: "Nobody’s" });
  await row(operator, "Noa Nobody").waitFor();
  await expect.poll(() => row(operator, "Tia Taken").count()).toBe(0);
  await mel.keyboard.press("a");
  await expect.poll(() => assigneeOf(one.id)).toBeNull();
  await row(operator, "Tia Taken").waitFor();
  await whose(operator).selectOption({ label: "Mel" });
  await operator.getByText("No chats here").waitFor();
  await desk.api("PATCH", `/chats/${two.id}`, { assigneeId: desk.organization.memberId });
  await whose(operator).selectOption({ label: "Ann" });
  await row(operator, "Noa Nobody").waitFor();
  expect(await violations(operator)).toEqual([]);
  for (const page of [mel, operator]) await page.context().close();
});

test("the key takes no chat from a colleague, and says whose it is: one click more takes it over", async () => {
  const chat = await desk.chat("Ola Own");
  await desk.api("PATCH", `/chats/${chat.id}`, { assigneeId: desk.organization.memberId });
  const mel = await openAsMember(browser, desk, AGENT, screenOf(desk, `inbox/${chat.id}`));
  await stopTimers(mel, 5_000);
  await mel.getByRole("button", { name: "Assigned to Ann. Change that" }).waitFor();
  const given = noteChanges(mel, /\/chats\/cht_\w+$/);
  await mel.keyboard.press("a");
  const toast = mel.getByRole("status").filter({ hasText: "Assigned to Ann" });
  await toast.getByRole("button", { name: "Take over" }).waitFor();
  expect(await given()).toEqual([]);
  await toast.getByRole("button", { name: "Take over" }).click();
  await mel.getByRole("button", { name: "Assigned to Mel. Change that" }).waitFor();
  await expect.poll(() => mel.getByRole("button", { name: "Take over" }).count()).toBe(0);
  expect(await assigneeOf(chat.id)).not.toBe(desk.organization.memberId);
  await mel.context().close();
});

test("a key acts on the chat that is shown, also on a page that was busy when it was pressed", async () => {
  const chats: string[] = [];
  for (let n = 0; n < 6; n++) chats.unshift((await desk.chat(`Kay ${n}`)).id);
  const [first = "", ...others] = chats;
  const page = await openAsMember(browser, desk, AGENT, screenOf(desk, `inbox/${first}`));
  await page.getByRole("button", { name: "Nobody’s. Assign this chat (a)" }).waitFor();
  await row(page, "Kay 0").waitFor();
  for (const id of others) {
    await page.evaluate(() => {
      setTimeout(() => {
        const end = performance.now() + 300;
        while (performance.now() < end);
      });
    });
    await Promise.all([page.keyboard.press("j"), page.keyboard.press("a")]);
    await page.waitForURL(new RegExp(id));
    await page.getByRole("button", { name: "Assigned to Mel. Change that" }).waitFor();
    expect(await assigneeOf(id)).toMatch(/^mbr_/);
  }
  expect(await assigneeOf(first)).toBeNull();
  await page.context().close();
});

test("of two who assign a chat at once the later one is told, and sees whose it is", async () => {
  const chat = await desk.chat("Rae Race");
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  await intercept(page.context(), /\/events\/stream/, (route) => route.abort());
  await page.reload();
  await page.getByRole("button", { name: "Nobody’s. Assign this chat" }).click();
  await desk.api("PATCH", `/chats/${chat.id}`, { assigneeId: desk.organization.memberId });
  await page.getByRole("menuitem", { name: "Mel" }).first().click();
  await page.getByText("Somebody was faster: Assigned to Ann").waitFor();
  await page.getByRole("button", { name: "Assigned to Ann. Change that" }).waitFor();
  expect(await assigneeOf(chat.id)).toBe(desk.organization.memberId);
  await page.context().close();
});

test("a chat is dragged on somebody's name, on nobody's, and by who may not change chats on nothing", async () => {
  const chat = await desk.chat("Dee Dragged");
  const mel = await openAsMember(browser, desk, AGENT, screenOf(desk, "inbox"));
  await whose(mel).selectOption({ label: "Everybody’s" });
  // What can be dragged is fetched after the page.
  await codeIsThere(mel);
  const targets = mel.locator(".drop-targets");
  const drop = async (name: string) => {
    await row(mel, "Dee Dragged").hover();
    await mel.mouse.down();
    await mel.mouse.move(40, 300);
    await mel.mouse.move(44, 304);
    await targets.getByText(name, { exact: true }).hover();
    await mel.mouse.up();
    await targets.waitFor({ state: "detached" });
  };
  await drop("Ann");
  await mel.locator(".toasts").getByText("Assigned to Ann").waitFor();
  expect(await assigneeOf(chat.id)).toBe(desk.organization.memberId);
  await drop("Nobody’s");
  await mel.locator(".toasts").getByText("Unassigned").waitFor();
  await expect.poll(() => assigneeOf(chat.id)).toBeNull();
  await drop("Mine");
  await mel.locator(".toasts").getByText("Assigned to Mel").waitFor();
  expect(await assigneeOf(chat.id)).toMatch(/^mbr_/);
  await mel.context().close();
  const viewer = AGENT.filter((permission) => permission !== "chats:write");
  const page = await openAsMember(browser, desk, viewer, screenOf(desk, "inbox"));
  await whose(page).selectOption({ label: "Everybody’s" });
  await codeIsThere(page);
  // Rows can't be dragged, but their links can, by the browser. Whatever the row does then follows in a timer.
  const drag = await page.evaluateHandle(() => {
    const { promise, resolve } = Promise.withResolvers<void>();
    addEventListener("dragstart", () => setTimeout(() => resolve()), { once: true });
    return { begun: promise };
  });
  await row(page, "Dee Dragged").hover();
  await page.mouse.down();
  await page.mouse.move(40, 300);
  await page.mouse.move(44, 304);
  await drag.evaluate(({ begun }) => begun);
  await expect.poll(() => page.locator(".drop-targets").count()).toBe(0);
  await page.mouse.up();
  await page.context().close();
});

test("who answers a chat gets it, if the organization has chosen so and the chat is nobody's", async () => {
  const own = await openDesk("Takers");
  const [free, held] = [await own.chat("Fia Free"), await own.chat("Hal Held")];
  await own.api("PATCH", `/chats/${held.id}`, { assigneeId: own.organization.memberId });
  const ownerOf = async (id: string) => (await own.api("GET", `/chats/${id}`)).chat.assigneeId;
  const manager = await openConsole(browser, screenOf(own, "settings"));
  const boxOf = (page: Page) => page.getByRole("checkbox", { name: "Assign a chat to the member who answers it" });
  const box = boxOf(manager);
  await expect.poll(() => box.isChecked()).toBe(false);
  const answerOn = async (page: Page, text: string) => {
    await page.getByLabel("Message", { exact: true }).fill(text);
    await page.keyboard.press("Control+Enter");
    await page.getByRole("log", { name: "Messages" }).getByText(text, { exact: true }).waitFor();
  };
  const open = (id: string) => openAsMember(browser, own, AGENT, screenOf(own, `inbox/${id}`));
  const mel = await open(free.id);
  const given = noteChanges(mel, /\/chats\/cht_\w+$/);
  const asked = mel.waitForResponse(/\/organization$/);
  await answerOn(mel, "Not yet mine");
  await asked;
  expect(await ownerOf(free.id)).toBeNull();
  await box.check();
  await manager.getByText("Saved", { exact: true }).waitFor();
  await manager.reload();
  await expect.poll(() => box.isChecked()).toBe(true);
  // Also on a page that was opened before the setting was changed.
  await answerOn(mel, "Mine");
  await mel.getByRole("button", { name: "Assigned to Mel. Change that" }).waitFor();
  expect(await ownerOf(free.id)).toMatch(/^mbr_/);
  expect(await given()).toHaveLength(1);
  const other = await open(held.id);
  await answerOn(other, "Not mine");
  await other.getByRole("button", { name: "Assigned to Ann. Change that" }).waitFor();
  expect(await ownerOf(held.id)).toBe(own.organization.memberId);
  await other.goto(new URL(screenOf(own, "settings"), other.url()).href);
  await expect.poll(() => boxOf(other).isDisabled()).toBe(true);
  for (const page of [manager, mel, other]) await page.context().close();
});

test("who may not change chats sees whose a chat is, and can't assign it", async () => {
  const chat = await desk.chat("Vic Viewer");
  await desk.api("PATCH", `/chats/${chat.id}`, { assigneeId: desk.organization.memberId });
  const viewer = AGENT.filter((permission) => permission !== "chats:write");
  const page = await openAsMember(browser, desk, viewer, screenOf(desk, `inbox/${chat.id}`));
  await page.locator(".conversation-head").getByText("Ann").waitFor();
  await codeIsThere(page);
  await page.keyboard.press("a");
  await page.keyboard.press("n");
  await expect.poll(() => page.getByRole("button", { name: /Assign|New chat/ }).count()).toBe(0);
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
  expect(await assigneeOf(chat.id)).toBe(desk.organization.memberId);
  await page.context().close();
});

test("who may not see members sees that a chat is somebody's, and who was faster is not nobody", async () => {
  const chat = await desk.chat("Una Unseen");
  const permissions = AGENT.filter((permission) => permission !== "members:read");
  const page = await openAsMember(browser, desk, permissions, screenOf(desk, `inbox/${chat.id}`));
  await intercept(page.context(), /\/events\/stream/, (route) => route.abort());
  await page.reload();
  await page.getByRole("button", { name: "Nobody’s. Assign this chat (a)" }).waitFor();
  await desk.api("PATCH", `/chats/${chat.id}`, { assigneeId: desk.organization.memberId });
  await page.keyboard.press("a");
  await page.getByText("Somebody was faster: Assigned to A colleague").waitFor();
  await page.getByRole("button", { name: "Assigned to A colleague. Change that" }).waitFor();
  await whose(page).selectOption({ label: "Everybody’s" });
  await row(page, "Una Unseen.*Assigned to A colleague").waitFor();
  await page.context().close();
});

test("the last of many members is named, offered, and can be mentioned", async () => {
  const own = await openDesk("Large");
  const chat = await own.chat("Max Many");
  let last = "";
  for (let n = 0; n < 105; n++) {
    const body = { name: `Member ${n}.`, permissions: ["notes:read", "chats:write"] };
    last = (await own.operator("POST", `/organizations/${own.organization.id}/members`, body)).member.id;
  }
  await own.api("PATCH", `/chats/${chat.id}`, { assigneeId: last });
  const page = await openAsMember(browser, own, AGENT, screenOf(own, `inbox/${chat.id}`));
  await page.getByRole("button", { name: "Assigned to Member 104.. Change that" }).waitFor();
  await whose(page).selectOption({ label: "Member 104." });
  await row(page, "Max Many").waitFor();
  await page.keyboard.press("w");
  await page.getByLabel("Note, seen by your team only").pressSequentially("Ask @member 104");
  await page.getByRole("listbox", { name: "Members" }).getByRole("option", { name: "Member 104." }).waitFor();
  await page.context().close();
});

test("a list of nobody's chats goes on where its first page ended, before the reader is there", async () => {
  const own = await openDesk("Many");
  for (let n = 0; n < 55; n++) await own.chat(`Mo ${n}.`);
  const { id } = await own.chat("Tia Taken");
  await own.api("PATCH", `/chats/${id}`, { assigneeId: own.organization.memberId });
  const page = await openConsole(browser, screenOf(own, "inbox"));
  // Events would bring chats of the second page one by one.
  await intercept(page.context(), /\/events/, (route) => route.abort());
  await page.reload();
  await row(page, "Tia Taken").waitFor();
  await whose(page).selectOption({ label: "Nobody’s" });
  // The list of all chats has the others too.
  await expect.poll(() => row(page, "Tia Taken").count()).toBe(0);
  await row(page, "Mo 54\\.").waitFor();
  await page.locator(".chats-rows").evaluate((list) => list.scrollTo(0, list.scrollHeight - list.clientHeight - 200));
  await row(page, "Mo 0\\.").waitFor();
  await expect.poll(() => row(page, "Mo ").count()).toBe(55);
  await page.context().close();
});

test("the menu of a large team fits the window, and a letter in it finds a name and does nothing else", async () => {
  const own = await openDesk("Large");
  const names = ["Zoe", "Eve", ...Array.from({ length: 24 }, (_, n) => `Kim ${n + 10}`)];
  for (const name of names) await own.operator("POST", `/organizations/${own.organization.id}/members`, { name });
  const chat = await own.chat("Wanda Waits");
  await own.writes(chat.address, "Hello?");
  const page = await openConsole(browser, screenOf(own, `inbox/${chat.id}`), {
    viewport: { width: 1280, height: 600 },
  });
  await page.getByRole("button", { name: "Mark as answered" }).waitFor();
  await page.getByRole("button", { name: "Nobody’s. Assign this chat" }).click();
  const items = page.getByRole("menuitem");
  await expect.poll(() => items.allTextContents()).toEqual(["Ann", "Eve", ...names.slice(2), "Zoe"]);
  const box = await page.getByRole("menu").boundingBox();
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(600);
  await page.keyboard.press("e");
  expect(await items.nth(1).evaluate((item) => item === document.activeElement)).toBe(true);
  await page.keyboard.press("Shift+Z");
  expect(await items.last().evaluate((item) => item === document.activeElement)).toBe(true);
  await page.keyboard.press("n");
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
  expect((await own.api("GET", `/chats/${chat.id}`)).chat.unansweredSince).not.toBeNull();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Assigned to Zoe. Change that" }).waitFor();
  await page.context().close();
});

test("a menu that opens before its names are here takes no key for the page, and then has the first name", async () => {
  const own = await openDesk("Late");
  const chat = await own.chat("Lou Late");
  await own.writes(chat.address, "Hello?");
  const page = await openConsole(browser, screenOf(own, `inbox/${chat.id}`));
  const release = await holdUp(page.context(), /\/members/);
  await page.reload();
  await page.getByRole("button", { name: "Mark as answered" }).waitFor();
  await page.getByRole("button", { name: "Nobody’s. Assign this chat" }).click();
  await page.keyboard.press("e");
  release();
  const item = page.getByRole("menuitem");
  await item.waitFor();
  await expect.poll(() => item.evaluate((one) => one === document.activeElement)).toBe(true);
  expect((await own.api("GET", `/chats/${chat.id}`)).chat.unansweredSince).not.toBeNull();
  await page.context().close();
});

test("a filter by member has no count of all chats, and says what an empty list means", async () => {
  const own = await openDesk("Filters");
  const chat = await own.chat("Fay Filtered");
  await own.writes(chat.address, "Hello?");
  await own.api("PATCH", `/chats/${chat.id}`, { assigneeId: own.organization.memberId });
  const page = await openConsole(browser, screenOf(own, "inbox"));
  await page.getByRole("button", { name: "Unanswered 1" }).waitFor();
  await whose(page).selectOption({ label: "Nobody’s" });
  await page.getByRole("heading", { name: "No unassigned chats" }).waitFor();
  await page.getByRole("button", { name: "Unanswered", exact: true }).click();
  await page.getByRole("heading", { name: "No one is waiting for a reply" }).waitFor();
  await page.context().close();
});

test("the menu that assigns a chat offers nobody who can only read, and a manager is told why keys need the operator", async () => {
  const chat = await desk.chat("Una Unread");
  const { id } = (await desk.api("POST", "/members", { name: "Vi Viewer", permissions: "viewer" })).member;
  const page = await openAsMember(browser, desk, [...PRESETS.manager], screenOf(desk, `inbox/${chat.id}`));
  await page.getByRole("button", { name: "Nobody’s. Assign this chat (a)" }).click();
  await page.getByRole("menuitem", { name: "Ann" }).waitFor();
  await expect.poll(() => page.getByRole("menuitem", { name: "Vi Viewer" }).count()).toBe(0);
  await page.goto(`${base}${screenOf(desk, "keys")}`);
  await page.getByText("Self-service for keys is off").waitFor();
  await page.goto(`${base}${screenOf(desk, "members")}`);
  await page.getByRole("button", { name: "Add a member" }).click();
  const hint = page.getByText("can only revoke keys while self-service for keys is off");
  await page.getByRole("radio", { name: "Manager" }).waitFor();
  await expect.poll(() => hint.count()).toBe(0);
  await page.getByRole("radio", { name: "Manager" }).click();
  await hint.waitFor();
  await desk.api("DELETE", `/members/${id}`);
  await page.context().close();
});
