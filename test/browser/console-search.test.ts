import type { Page } from "playwright-core";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { type Desk, openAsMember, openConsole, openDesk, screenOf } from "./console.ts";
import { hasFocus, log, send, sendLines, textOfTarget } from "./console-conversation.ts";
import { intercept, takeOver } from "./disturb.ts";
import { browser } from "./file-browser.ts";
import { violations } from "./violations.ts";

/** The inbox's search finds contacts, and messages of all chats. */

let desk: Desk;
let long: string;

beforeAll(async () => {
  desk = await openDesk("Searched", { search: { on: true } });
  const ada = await desk.chat("Ada Lamp");
  await desk.writes(ada.address, "Where is my refund?");
  await send(desk, ada.id, { content: "Your REFUND is on its way." });
  ({ id: long } = await desk.chat("Ben Long"));
  await send(desk, long, { content: "An old word: Réfund policy" });
  await sendLines(desk, long, 60);
  await isFound("refund", 3);
});

/** Resolves once the index has as many messages with a text. */
const isFound = (text: string, count: number) =>
  vi.waitUntil(async () => (await desk.api("GET", `/messages?limit=100&search=${text}`)).messages.length === count, {
    ...{ timeout: 60_000, interval: 500 },
  });

const field = (page: Page) => page.getByRole("searchbox", { name: "Find a contact or a message" });
const messages = (page: Page) => page.getByRole("region", { name: "Messages", exact: true });
const hit = (page: Page, text: string) => messages(page).getByRole("link", { name: text });
const marks = (page: Page) => messages(page).locator("mark").allTextContents();
const row = (page: Page, name: string) => page.locator(".chat-row-name", { hasText: name });

async function search(text: string, options = {}): Promise<Page> {
  const page = await openConsole(browser, screenOf(desk, "inbox"), options);
  onTestFinished(() => page.context().close());
  await field(page).fill(text);
  return page;
}

test("contacts come first, then messages by their chats, the newest first, with the words marked", async () => {
  const page = await search("refund");
  await hit(page, "Where is my refund?").waitFor();
  await page.getByText("No matching contacts").waitFor();
  const chats = messages(page).getByRole("heading", { level: 3 });
  await expect.poll(() => chats.allTextContents()).toEqual(["Ben LongSite", "Ada LampSite"]);
  await expect.poll(() => marks(page)).toEqual(["Réfund", "REFUND", "refund"]);
  await expect
    .poll(() => messages(page).getByRole("link").allTextContents())
    .toEqual([
      expect.stringMatching(/^Ann.*An old word: Réfund policy$/),
      expect.stringMatching(/^Ann.*Your REFUND is on its way\.$/),
      expect.stringMatching(/^Ada Lamp.*Where is my refund\?$/),
    ]);
  await field(page).fill("lamp");
  await row(page, "Ada Lamp").waitFor();
  await page.getByText("No matching messages").waitFor();
});

test("a message that is found opens its chat, and leads to it however old it is", async () => {
  const page = await search("policy");
  await hit(page, "An old word").click();
  await page.getByRole("heading", { level: 1, name: "Ben Long" }).waitFor();
  await expect.poll(() => textOfTarget(page).catch(() => null)).toContain("Réfund policy");
  await expect.poll(() => new URL(page.url()).hash).toBe("");
  await expect.poll(() => hit(page, "An old word").getAttribute("aria-current")).toBe("true");
  await log(page).getByText("Réfund policy").waitFor();
});

test("the address of a message leads to it in another tab", async () => {
  const { messages: found } = await desk.api("GET", "/messages?search=policy");
  const page = await openConsole(browser, screenOf(desk, `inbox/${long}#${found[0].message.id}`));
  onTestFinished(() => page.context().close());
  await expect.poll(() => textOfTarget(page).catch(() => null)).toContain("Réfund policy");
});

test("the arrows lead through what was found, Enter opens it, and Escape leads back", async () => {
  const page = await openConsole(browser, screenOf(desk, "inbox"));
  onTestFinished(() => page.context().close());
  await row(page, "Ada Lamp").waitFor();
  await page.keyboard.press("/");
  await hasFocus(page, field(page));
  // On a slow machine, part of the word is searched for too.
  const found = page.waitForResponse((response) => {
    const { pathname, searchParams } = new URL(response.url());
    return pathname.endsWith("/messages") && searchParams.get("search") === "refund";
  });
  await page.keyboard.type("refund");
  await found;
  await hit(page, "Where is my refund?").waitFor();
  await page.keyboard.press("ArrowDown");
  await hasFocus(page, hit(page, "An old word"));
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Ada Lamp" }).waitFor();
  await expect.poll(() => textOfTarget(page).catch(() => null)).toContain("REFUND");
  await page.keyboard.press("ArrowDown");
  await hasFocus(page, hit(page, "Where is my refund?"));
  await page.keyboard.press("Escape");
  await hasFocus(page, field(page));
  await page.keyboard.press("Escape");
  await row(page, "Ben Long").waitFor();
  await expect.poll(() => field(page).inputValue()).toBe("");
});

test("Escape closes the chat that was found, and then the search", async () => {
  const page = await openConsole(browser, screenOf(desk, "inbox"));
  onTestFinished(() => page.context().close());
  await field(page).fill("refund");
  await hit(page, "Where is my refund?").click();
  await page.getByRole("heading", { level: 1, name: "Ada Lamp" }).waitFor();
  // The first one leaves the text, in which a click on a message begins.
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.getByRole("heading", { name: "Choose a chat" }).waitFor();
  await expect.poll(() => field(page).inputValue()).toBe("refund");
  await page.keyboard.press("Escape");
  await row(page, "Ben Long").waitFor();
  await expect.poll(() => field(page).inputValue()).toBe("");
});

test("messages are filtered by who wrote, whose chat it is and when", async () => {
  const page = await search("refund");
  await hit(page, "Where is my refund?").waitFor();
  await messages(page).getByLabel("Who wrote").selectOption({ label: "Contacts" });
  await expect.poll(() => marks(page)).toEqual(["refund"]);
  await messages(page).getByLabel("When").selectOption({ label: "Last 24 hours" });
  await expect.poll(() => marks(page)).toEqual(["refund"]);
  await messages(page).getByLabel("Whose chats").selectOption({ label: "Ann" });
  await page.getByText("No matching messages").waitFor();
  await messages(page).getByLabel("Whose chats").selectOption({ label: "Unassigned chats" });
  await hit(page, "Where is my refund?").waitFor();
});

test("older messages follow page by page", async () => {
  await isFound("line", 60);
  const page = await search("line");
  await expect.poll(() => messages(page).locator("mark").count()).toBe(20);
  const more = messages(page).getByRole("button", { name: "Show older messages" });
  await more.click();
  await expect.poll(() => messages(page).locator("mark").count()).toBe(40);
  await more.click();
  await expect.poll(() => messages(page).locator("mark").count()).toBe(60);
  // The chat is shown once for each page.
  expect(await violations(page)).toEqual([]);
  await more.waitFor({ state: "detached" });
});

test("a message that is redacted meanwhile goes from what was found", async () => {
  const { id } = await desk.chat("Rita Redacted");
  const { message } = await send(desk, id, { content: "My secret zebra" });
  await isFound("zebra", 1);
  const page = await search("zebra");
  await hit(page, "My secret zebra").waitFor();
  await desk.api("POST", `/chats/${id}/messages/${message.id}/redact`);
  await page.getByText("No matching messages").waitFor();
});

test("a search that fails says so, and is tried again", async () => {
  const page = await openConsole(browser, screenOf(desk, "inbox"));
  onTestFinished(() => page.context().close());
  const body = JSON.stringify({ message: "Not now", code: "rate_limited" });
  const giveBack = await takeOver(page, /\/messages\?/, (route) =>
    route.fulfill({ status: 403, contentType: "application/json", body }),
  );
  await field(page).fill("refund");
  await messages(page).getByText("Not now").waitFor();
  giveBack();
  await messages(page).getByRole("button", { name: "Try again" }).click();
  await hit(page, "Where is my refund?").waitFor();
});

test("a page can be empty before the end, and then the next one is asked for", async () => {
  const page = await openConsole(browser, screenOf(desk, "inbox"));
  onTestFinished(() => page.context().close());
  let asked = 0;
  const empty = { messages: [], pagination: { limit: 20, hasMore: true, cursor: "next" } };
  await intercept(page, /\/messages\?/, (route) => {
    asked++;
    return route.fulfill({ contentType: "application/json", body: JSON.stringify(empty) });
  });
  await field(page).fill("refund");
  await messages(page).getByText("Not in the newest messages").waitFor();
  expect(asked).toBe(5);
  await messages(page).getByRole("button", { name: "Show older messages" }).waitFor();
});

test("who may not read messages finds contacts", async () => {
  const page = await openAsMember(browser, desk, ["chats:read", "channels:read"], screenOf(desk, "inbox"));
  onTestFinished(() => page.context().close());
  await page.getByRole("searchbox", { name: "Find a contact", exact: true }).fill("lamp");
  await row(page, "Ada Lamp").waitFor();
  await page.getByRole("heading", { name: "Messages" }).waitFor({ state: "detached" });
});

test("many contacts leave room for the messages", async () => {
  const place = await openDesk("Many", { search: { on: true } });
  for (let n = 1; n <= 7; n++) await place.chat(`Zoe ${n}`);
  const page = await openConsole(browser, screenOf(place, "inbox"));
  onTestFinished(() => page.context().close());
  await field(page).fill("zoe");
  await messages(page).waitFor();
  await expect.poll(() => row(page, "Zoe").count()).toBe(5);
  await page.getByRole("button", { name: "Show more contacts" }).click();
  await expect.poll(() => row(page, "Zoe").count()).toBe(7);
});

test.each([
  ["on a phone", { viewport: { width: 380, height: 700 } }],
  ["in the dark", { colorScheme: "dark" as const }],
])("what was found is accessible %s", async (_, look) => {
  const page = await search("refund", look);
  await hit(page, "Where is my refund?").waitFor();
  expect(await violations(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
});
