import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { openDesk } from "./console.ts";
import { anotherTab, click, icon, openMember, openOn, row, shown, type Told, writes } from "./console-notifications.ts";

const desk = await openDesk();

/** Tabs of one browser that all show this chat in their list. */
async function openTabs(name: string, count: number) {
  const chat = await desk.chat(name);
  const { page, context, told } = await openMember(desk);
  const tabs = [page];
  while (tabs.length < count) tabs.push(await anotherTab(context, desk));
  for (const tab of tabs) await row(tab, name).waitFor();
  return { chat, tabs, told };
}

/** The tab that told, and the others. */
async function whoTold(tabs: Page[], told: Told, at = 0) {
  await expect.poll(() => told.notifications.length).toBe(at + 1);
  const teller = told.notifications[at]?.page as Page;
  expect(tabs).toContain(teller);
  return { teller, others: tabs.filter((tab) => tab !== teller) };
}

async function haveTitle(tabs: Page[], title: string): Promise<void> {
  for (const tab of tabs) await expect.poll(() => tab.title()).toBe(title);
}

async function haveIcon(tabs: Page[], text: string): Promise<void> {
  for (const tab of tabs) await expect.poll(() => icon(tab)).toContain(`>${text}</text>`);
}

test("a tab without anything new has the plain icon", async () => {
  const { tabs } = await openTabs("Paul Plain", 1);
  await haveIcon(tabs, "P");
});

test("of three tabs one tells of a message, by who and where, and not by what it says", async () => {
  const { chat, tabs, told } = await openTabs("Una Once", 3);
  await desk.writes(chat.address, "A secret of Una");
  await haveTitle(tabs, "(1) Inbox · Parley");
  await expect.poll(() => shown(told)).toEqual(["Una Once: New message · Site"]);
  const { teller } = await whoTold(tabs, told);
  await expect.poll(() => openOn(teller)).toEqual([chat.id]);
  expect(JSON.stringify(shown(told))).not.toContain("secret");
});

test("every tab counts a chat with something new, in its title and its icon", async () => {
  const { chat, tabs } = await openTabs("Cleo Counted", 3);
  await desk.writes(chat.address, "Hello");
  await haveTitle(tabs, "(1) Inbox · Parley");
  await haveIcon(tabs, "1");
});

test("when the tab that tells closes, another one tells", async () => {
  const { chat, tabs, told } = await openTabs("Cora Closes", 3);
  await desk.writes(chat.address, "Hello");
  const { teller, others } = await whoTold(tabs, told);
  await teller.close();
  const other = await desk.chat("Otto Other");
  await desk.writes(other.address, "Hello");
  await expect.poll(() => shown(told)).toEqual(["Cora Closes: New message · Site", "Otto Other: New message · Site"]);
  await whoTold(others, told, 1);
  await haveTitle(others, "(2) Inbox · Parley");
});

test("a click on a notification leads to its chat", async () => {
  const { chat, tabs, told } = await openTabs("Clea Clicked", 1);
  await desk.writes(chat.address, "Hello");
  const { teller } = await whoTold(tabs, told);
  await click(teller, chat.id);
  await teller.getByRole("heading", { name: "Clea Clicked" }).waitFor();
});

test("a chat to which a notification led is read on every tab, and its notification is gone", async () => {
  const { chat, tabs, told } = await openTabs("Rea Read", 2);
  await desk.writes(chat.address, "Hello");
  await haveTitle(tabs, "(1) Inbox · Parley");
  const { teller } = await whoTold(tabs, told);
  await click(teller, chat.id);
  await haveTitle(tabs, "Inbox · Parley");
  await expect.poll(() => openOn(teller)).toEqual([]);
});

test("a chat that one tab opens is read on every tab, and no longer notified", async () => {
  const { chat, tabs, told } = await openTabs("Ola Opened", 2);
  await desk.writes(chat.address, "Hello");
  await haveTitle(tabs, "(1) Inbox · Parley");
  const { others } = await whoTold(tabs, told);
  await row(others[0] as Page, "Ola Opened").click();
  await haveTitle(tabs, "Inbox · Parley");
  await haveIcon(tabs, "P");
  expect(told.notifications).toHaveLength(1);
});

const REMEMBERED_MS = 4_000;
/** When a tab of these tests hears of the second chat, after the first. */
const SECOND_MS = 1_234;

/** In a page: its clock stands, and the timers by which it remembers a chat are held until the test runs them. */
function holdMemory([rememberedMs, secondMs]: number[]): void {
  const { setTimeout } = globalThis;
  const began = Date.now();
  let held: (() => void)[] = [];
  const setClock = (ms: number) => Object.assign(Date, { now: () => began + ms });
  const runTimers = (isLast: boolean) => {
    if (isLast) Object.assign(globalThis, { setTimeout });
    const due = held;
    held = [];
    for (const run of due) run();
  };
  const holding = (run: () => void, ms?: number) =>
    ms === rememberedMs || ms === secondMs ? held.push(run) : setTimeout(run, ms);
  setClock(0);
  Object.assign(globalThis, { setTimeout: holding, setClock, runTimers });
}

const setClock = (page: Page, at: number) =>
  page.evaluate((ms) => (globalThis as unknown as { setClock(ms: number): void }).setClock(ms), at);
/** @param isLast whether the timers after it are the page's own again */
const runTimers = (page: Page, isLast: boolean) =>
  page.evaluate((last) => (globalThis as unknown as { runTimers(last: boolean): void }).runTimers(last), isLast);

/** Two tabs that heard of two chats. One of them told of the first, and has not told of the second yet. */
async function tellFirst(names: [string, string]) {
  const second = await desk.chat(names[1]);
  const { chat, tabs, told } = await openTabs(names[0], 2);
  for (const tab of tabs) await tab.evaluate(holdMemory, [REMEMBERED_MS, SECOND_MS]);
  await desk.writes(chat.address, "Hello");
  for (const tab of tabs) await row(tab, names[0]).getByText("Hello").waitFor();
  const { teller, others } = await whoTold(tabs, told);
  const left = others[0] as Page;
  // It waits, because a person is told every few seconds only. Here it waits until it closes.
  await teller.evaluate(() => Object.assign(globalThis, { setTimeout: () => 0 }));
  await setClock(left, SECOND_MS);
  await writes(left, desk, names[1], second, "Hello");
  return { chat, teller, left, told };
}

/** The other tab tells from now on. */
async function closeTeller({ teller, left }: { teller: Page; left: Page }): Promise<void> {
  await teller.close();
  const tabsThatWait = () => left.evaluate(async () => (await navigator.locks.query()).pending?.length);
  await expect.poll(tabsThatWait).toBe(0);
  await runTimers(left, true);
}

test("what a tab has not told when it closes, another one tells and counts", async () => {
  const tabs = await tellFirst(["Flo First", "Sam Second"]);
  await closeTeller(tabs);
  await expect
    .poll(() => shown(tabs.told))
    .toEqual(["Flo First: New message · Site", "Sam Second: New message · Site"]);
  await haveTitle([tabs.left], "(2) Inbox · Parley");
});

test("a tab that has forgotten the first chat of which it heard still tells of the second", async () => {
  const tabs = await tellFirst(["Ivo First", "Ina Second"]);
  await setClock(tabs.left, REMEMBERED_MS);
  await runTimers(tabs.left, false);
  await closeTeller(tabs);
  await expect
    .poll(() => shown(tabs.told))
    .toEqual(["Ivo First: New message · Site", "Ina Second: New message · Site"]);
});

test("a chat of which a tab hears again does not keep it from forgetting another one", async () => {
  const third = await desk.chat("Bo Third");
  const tabs = await tellFirst(["Bea Busy", "Abe Second"]);
  const { chat, left, told } = tabs;
  await setClock(left, 2 * SECOND_MS);
  await writes(left, desk, "Bea Busy", chat, "Hello again");
  for (const at of [REMEMBERED_MS, REMEMBERED_MS + SECOND_MS]) {
    await setClock(left, at);
    await runTimers(left, false);
  }
  await closeTeller(tabs);
  await setClock(left, 3 * REMEMBERED_MS);
  await desk.writes(third.address, "Hello");
  await expect.poll(() => shown(told).slice(1)).toEqual(["Bo Third: New message · Site"]);
});

test("what a tab has told before it closes, another one does not tell again", async () => {
  const third = await desk.chat("Thea Third");
  const tabs = await tellFirst(["Fia First", "Sue Second"]);
  await closeTeller(tabs);
  await expect.poll(() => shown(tabs.told).slice(1)).toEqual(["Sue Second: New message · Site"]);
  await setClock(tabs.left, 3 * REMEMBERED_MS);
  await desk.writes(third.address, "Hello");
  await expect.poll(() => shown(tabs.told).slice(2)).toEqual(["Thea Third: New message · Site"]);
});
