import type { Browser, Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { PRESETS } from "../../src/model/permission.ts";
import { type Desk, screenOf, signInAsMember } from "./console.ts";
import { stopTimers } from "./disturb.ts";

/** What people do in the console, and what their browsers show, in a day whose clock a test moves. */

/** The people's time zone. Its clocks go forward on the last Sunday of March, at 01:00 UTC. */
const ZONE = "Europe/Berlin";
const PATIENCE = { timeout: 60_000, interval: 250 };

/** Where the history of a chat says that it is. */
export interface Expected {
  id: string;
  name: string;
  address: string;
  state: "open" | "snoozed" | "closed";
  snoozedUntil: string | null;
  assigneeId: string | null;
  labels: string[];
  isUnanswered: boolean;
}

export interface Person {
  name: string;
  id: string;
  page: Page;
}

/** What a person does to a chat. */
export type Act =
  | { key: "c" }
  | { key: "e" }
  | { key: "a" }
  | { key: "s"; preset: string; until: string }
  | { key: "l"; label: string };

/** A person signs in, in a browser whose clock says this time. */
export async function arrive(browser: Browser, desk: Desk, name: string, time: string): Promise<Person> {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 }, timezoneId: ZONE })).newPage();
  await page.clock.install({ time });
  await signInAsMember(page, desk, [...PRESETS.agent], screenOf(desk, "inbox"), name);
  // Offers to undo stay.
  await stopTimers(page, 10_000);
  const { members } = await desk.api("GET", "/members?limit=100");
  return { name, id: members.find((member: { name: string }) => member.name === name).id, page };
}

const head = (page: Page) => page.locator(".conversation-head");
const rowOf = (page: Page, { id }: Expected) => page.locator(`.chats a[href*="${id}"]`);

/** Opens a chat of the list, and does something to it by its key. */
export async function act({ page, name }: Person, chat: Expected, done: Act): Promise<void> {
  await showAll(page);
  // The rows move when a colleague does something, so a click can open a neighbor.
  const isOpen = async () => {
    if (!page.url().includes(chat.id))
      await rowOf(page, chat)
        .click({ timeout: 5_000 })
        .catch(() => {});
    return page.url().includes(chat.id);
  };
  await expect.poll(isOpen, PATIENCE).toBe(true);
  await head(page).getByText(chat.name).waitFor();
  await page.getByRole("log", { name: "Messages" }).locator(".message").first().waitFor();
  await page.getByLabel("Message", { exact: true }).press("Escape");
  await page.keyboard.press(done.key);
  if (done.key === "c") await page.getByRole("button", { name: "Reopen" }).waitFor();
  else if (done.key === "a")
    await head(page)
      .getByRole("button", { name: `Assigned to ${name}.` })
      .waitFor();
  else if (done.key === "e") await rowOf(page, chat).getByText("Unanswered").waitFor({ state: "detached" });
  else if (done.key === "l") await giveLabel(page, done.label);
  else {
    const dialog = page.getByRole("dialog", { name: "Snooze the chat" });
    await dialog.getByRole("button", { name: done.preset }).click();
    await dialog.getByRole("button", { name: "Snooze", exact: true }).click();
    await dialog.waitFor({ state: "detached" });
    await head(page).getByText(/^Back/).waitFor();
  }
}

async function giveLabel(page: Page, label: string): Promise<void> {
  const dialog = page.getByRole("dialog", { name: "Labels" });
  await dialog.getByRole("checkbox", { name: label }).check();
  await dialog.getByRole("checkbox", { name: label, checked: true }).waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
}

/** Leaves the open chat, which stays in its list until then. */
export async function leaveChat(page: Page): Promise<void> {
  const isLeft = async () => {
    if (!/\/inbox\/cht_/.test(page.url())) return true;
    await page.keyboard.press("Escape");
    return false;
  };
  await expect.poll(isLeft, PATIENCE).toBe(true);
}

/** Loads all of a list. */
async function showAll(page: Page): Promise<void> {
  const more = page.getByRole("button", { name: "Show more" });
  const isAll = async () => {
    const isThere = (await more.count()) > 0;
    if (isThere) await more.click({ timeout: 2_000 }).catch(() => {});
    return !isThere;
  };
  await expect.poll(isAll, PATIENCE).toBe(true);
}

/** Chooses a list of chats. Whatever moves the page, such as a notice above it, can take the menu from under a click. */
export async function choose(page: Page, view: "Inbox" | "Unanswered" | "Snoozed" | "Closed"): Promise<void> {
  const bar = page.locator(".chats-head");
  const chosen = bar.locator(".tab-chosen, [aria-pressed=true]").getByText(view);
  const isChosen = async () => {
    const isMain = view === "Inbox" || view === "Unanswered";
    const name = isMain ? new RegExp(`^${view}`) : /^(More|Snoozed|Closed|All|Scheduled)$/;
    const click = (locator: Locator) => locator.click({ timeout: 5_000 }).catch(() => {});
    await click(bar.getByRole("button", { name }));
    if (!isMain) await click(page.getByRole("menuitem", { name: view, exact: true }));
    return (await chosen.count()) > 0;
  };
  await expect.poll(isChosen, PATIENCE).toBe(true);
}

/** The ids of the chats that a page lists, in its order. */
async function listed(page: Page): Promise<string[]> {
  await showAll(page);
  return page
    .locator(".chats a.chat-row")
    .evaluateAll((rows) => rows.map((row) => (row as HTMLAnchorElement).pathname.split("/").at(-1) ?? ""));
}

/** The ids of the chats that the service lists, in its order. */
async function stored(desk: Desk, query: string, by: "before" | "after"): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ""; ; ) {
    const { chats, pagination } = await desk.api("GET", `/chats?${query}&limit=100${cursor}`);
    ids.push(...chats.map(({ id }: { id: string }) => id));
    if (!pagination.hasMore) return ids;
    cursor = `&${by}=${pagination.cursor}`;
  }
}

const LISTS = {
  Inbox: { query: "state=open", by: "before" },
  Unanswered: { query: "unanswered=true&state=open", by: "after" },
  Snoozed: { query: "state=snoozed", by: "before" },
  Closed: { query: "state=closed", by: "before" },
} as const;

/** Waits until a page shows just the chats of a list, each once and in the service's order. */
export async function sameAsStored(desk: Desk, page: Page, view: keyof typeof LISTS): Promise<void> {
  const { query, by } = LISTS[view];
  // Both are read again each time: a chat's newest activity may have been on its way to the list.
  const differences = async () => {
    const ids = await stored(desk, query, by);
    const rows = await listed(page);
    if (rows.join() === ids.join()) return null;
    const extra = await Promise.all(
      rows.filter((id) => !ids.includes(id)).map((id) => page.locator(`.chats a[href*="${id}"]`).textContent()),
    );
    return { view, extra, rows, stored: ids };
  };
  await expect.poll(differences, PATIENCE).toBeNull();
}

/**
 * Waits until a page whose list was loaded shows the number of unanswered chats. One whose list was not need not learn
 * that a colleague marked a chat as answered: that makes no event.
 */
export async function sameNumber(desk: Desk, page: Page): Promise<void> {
  const tab = page.locator(".chats-head").getByRole("button", { name: /^Unanswered/ });
  const difference = async () => {
    const { pagination } = await desk.api("GET", "/chats?unanswered=true&state=open");
    const number = pagination.total > 99 ? "99+" : pagination.total === 0 ? "" : String(pagination.total);
    const shown = (await tab.textContent())?.replace("Unanswered", "");
    return shown === number ? null : { shown, number };
  };
  await expect.poll(difference, PATIENCE).toBeNull();
}

/** Waits until every chat is in just the lists of the service where its history says, and is counted there. */
export async function storedAsExpected(desk: Desk, chats: Expected[], labels: Record<string, string>): Promise<void> {
  const idsOf = (is: (chat: Expected) => boolean) =>
    chats
      .filter(is)
      .map(({ id }) => id)
      .toSorted();
  const lists = (is: (chat: Expected) => boolean) => ({
    Inbox: idsOf((chat) => is(chat) && chat.state === "open"),
    Unanswered: idsOf((chat) => is(chat) && chat.state === "open" && chat.isUnanswered),
    Snoozed: idsOf((chat) => is(chat) && chat.state === "snoozed"),
    Closed: idsOf((chat) => is(chat) && chat.state === "closed"),
  });
  const read = async (filter: string) => {
    const all = Object.entries(LISTS).map(async ([name, { query, by }]) => {
      return [name, (await stored(desk, `${query}${filter}`, by)).toSorted()];
    });
    return Object.fromEntries(await Promise.all(all));
  };
  await expect.poll(() => read(""), PATIENCE).toEqual(lists(() => true));
  for (const [name, id] of Object.entries(labels)) {
    const has = ({ labels }: Expected) => labels.includes(name);
    await expect.poll(() => read(`&label=${id}`), PATIENCE).toEqual(lists(has));
    const { label } = await desk.api("GET", `/stats?label=${id}&limit=1`);
    const { Inbox, Snoozed, Closed } = lists(has);
    expect(label).toMatchObject({
      chats: Inbox.length + Snoozed.length + Closed.length,
      counted: {
        ...{ open: Inbox.length, snoozed: Snoozed.length, closed: Closed.length },
        unanswered: idsOf((chat) => has(chat) && chat.isUnanswered).length,
      },
    });
  }
}

/** Waits until the service says of a chat what its history says. */
export async function isAsExpected(desk: Desk, chat: Expected): Promise<void> {
  const { id, name: _, address: __, ...expected } = chat;
  const read = async (): Promise<typeof expected> => {
    const { state, snoozedUntil, assigneeId, labels, unansweredSince } = (await desk.api("GET", `/chats/${id}`)).chat;
    const names = labels.map(({ name }: { name: string }) => name);
    return { state, snoozedUntil, assigneeId, labels: names, isUnanswered: unansweredSince !== null };
  };
  await expect.poll(read, { ...PATIENCE, message: id }).toEqual(expected);
}
