import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Desk, openConsole, openDesk, screenOf } from "./console.ts";
import { openHearing } from "./console-notifications.ts";
import { stopTimers } from "./disturb.ts";
import { browser } from "./file-browser.ts";
import { fillWithHostileData, GERMAN, type Hostile } from "./hostile-data.ts";
import { layoutFaults } from "./layout-faults.ts";
import { base } from "./running-server.ts";
import { violations } from "./violations.ts";

let desk: Desk;
let hostile: Hostile;

beforeAll(async () => {
  desk = await openDesk(`${GERMAN} & Söhne`);
  hostile = await fillWithHostileData(desk, base);
});

/** The operator's page of a screen. It closes after the test. */
async function open(width: number, path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const viewport = { width, height: 900 };
  const page = await openConsole(browser, screenOf(desk, path), { viewport, ...options });
  onTestFinished(() => page.context().close());
  return page;
}

/** Screens that scroll as a whole are measured at once. */
const TALL = 3_600;

/** Opens a screen as its link does, and waits until all of it is there. */
async function show(page: Page, path: string, height = TALL): Promise<void> {
  await page.setViewportSize({ width: 1440, height });
  await page.evaluate(
    (to) => {
      history.pushState(null, "", to);
      dispatchEvent(new PopStateEvent("popstate"));
    },
    screenOf(desk, path),
  );
  await page.locator("main :is(h1, .chat-row)").first().waitFor({ state: "attached" });
  await page.locator(".skeleton").first().waitFor({ state: "detached" });
}

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name, exact: true });

/** What is measured, by name. Each begins on any screen. */
const SCENES: Record<string, (page: Page) => Promise<unknown>> = {
  inbox: async (page) => {
    await show(page, "inbox", 900);
    await page.locator(".count").first().waitFor();
  },
  "a chat": (page) => show(page, `inbox/${hostile.chatId}`, 900),
  "a contact’s details": async (page) => {
    await show(page, `inbox/${hostile.chatId}`, 900);
    await openDetails(page);
  },
  "a search in a chat": async (page) => {
    await show(page, `inbox/${hostile.chatId}`, 900);
    await button(page, "Find in this conversation").click();
    await page.locator(".search-bar").waitFor();
  },
  "selected chats": async (page) => {
    await show(page, "members", 900);
    await show(page, "inbox", 900);
    for (const n of [0, 1])
      await page
        .getByRole("checkbox", { name: /^Select/ })
        .nth(n)
        .check();
    await page.getByRole("region", { name: "Selected chats" }).waitFor();
  },
  "a snooze": async (page) => {
    await show(page, `inbox/${hostile.chatId}`, 900);
    await page.locator(".conversation-head").getByRole("button", { name: "Snooze" }).click();
    await page.getByRole("dialog").getByLabel("Until").waitFor();
  },
  "the labels of a chat": async (page) => {
    await show(page, `inbox/${hostile.chatId}`, 900);
    await openDetails(page);
    await button(page, "Change the labels").click();
    await page.getByRole("dialog").getByRole("checkbox").first().waitFor();
  },
  scheduled: (page) => show(page, "scheduled"),
  channels: (page) => show(page, "channels"),
  "a channel": (page) => show(page, `channels/${hostile.channelId}`),
  "a web chat": (page) => show(page, `channels/${desk.channel.id}`),
  "kinds of channels": (page) => show(page, "channels/new"),
  "a new channel": (page) => show(page, "channels/new/whatsapp"),
  "a set-up": (page) => show(page, `channels/${desk.channel.id}/set-up`),
  "chat settings": (page) => show(page, `channels/${desk.channel.id}/chat`),
  webhooks: (page) => show(page, "webhooks"),
  "a webhook": (page) => show(page, `webhooks/${hostile.webhookId}`),
  "a new webhook": (page) => openDialog(page, "webhooks", "New webhook"),
  keys: (page) => show(page, "keys"),
  "a key": (page) => show(page, `keys/${hostile.keyId}`),
  "a new key": (page) => openDialog(page, "keys", "New key"),
  templates: (page) => show(page, "templates"),
  "a template": (page) => show(page, `templates/${hostile.templateId}`),
  members: (page) => show(page, "members"),
  "a new member": (page) => openDialog(page, "members", "Add a member"),
  statistics: (page) => show(page, "statistics"),
  audit: (page) => show(page, "audit"),
  settings: (page) => show(page, "settings"),
  limits: (page) => openDialog(page, "settings", "Change limits"),
  "send later": async (page) => {
    await show(page, `inbox/${hostile.chatId}`, 900);
    await button(page, "Send later").click();
    await page.getByRole("menuitem", { name: "Send later…" }).click();
    await page.getByRole("dialog").getByLabel("Send at").waitFor();
  },
  "the list of shortcuts": async (page) => {
    // By way of another screen, so that no text box has the focus.
    await show(page, "members", 900);
    await show(page, `inbox/${hostile.chatId}`, 900);
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).getByText("Escape").first().waitFor();
  },
  "the list of templates": async (page) => {
    await show(page, `inbox/${hostile.chatId}`, 900);
    await button(page, "Templates").click();
    await page.getByRole("dialog").getByText("welcome").waitFor();
  },
};

async function openDialog(page: Page, path: string, name: string): Promise<void> {
  await show(page, path, 900);
  await button(page, name).first().click();
  await page.getByRole("dialog").getByRole("heading").first().waitFor();
}

async function openDetails(page: Page): Promise<void> {
  const details = page.getByRole("complementary", { name: "Details" });
  if (!(await details.isVisible())) await button(page, "Details").click();
  await details.getByText("Metadata", { exact: true }).waitFor();
}

const WIDTHS = [1440, 1024, 390];
const LOOKS = { light: {}, dark: { colorScheme: "dark" }, "right to left": { dir: "rtl" } } as const;

/** What is broken of what a page shows, in each look and width. */
async function faultsOf(page: Page): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const [name, look] of Object.entries(LOOKS)) {
    const { colorScheme = "light", dir = "ltr" } = look as { colorScheme?: "dark"; dir?: string };
    await page.emulateMedia({ colorScheme });
    // Nobody has translated the console, but its boxes must have no left and right of their own.
    await page.evaluate((direction) => document.documentElement.setAttribute("dir", direction), dir);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: page.viewportSize()?.height ?? 900 });
      const faults = await layoutFaults(page);
      if (faults.length > 0) found[`${name}, ${width} px`] = faults;
    }
  }
  await page.evaluate(() => document.documentElement.removeAttribute("dir"));
  return found;
}

describe("in every look, at 1440, 1024 and 390 px, nothing is cut, covered or off the screen", () => {
  let page: Page;
  beforeAll(async () => {
    page = await openConsole(browser, screenOf(desk, "inbox"), { viewport: { width: 1440, height: 900 } });
    return () => page.context().close();
  });

  test.each(Object.keys(SCENES))("%s", async (name) => {
    await SCENES[name]?.(page);
    const found = await faultsOf(page);
    if (await page.getByRole("dialog").isVisible()) await page.keyboard.press("Escape");
    expect(found).toEqual({});
  });
});

test.each(["light", "dark"] as const)("what is hostile has no accessibility violation: %s", async (colorScheme) => {
  const page = await open(1440, "inbox", { colorScheme });
  const found: Record<string, string[]> = {};
  for (const name of [
    "inbox",
    "a contact’s details",
    "selected chats",
    "the labels of a chat",
    "a webhook",
    "statistics",
    "a new key",
  ]) {
    await SCENES[name]?.(page);
    await page.setViewportSize({ width: 1024, height: 900 });
    const faults = await violations(page);
    if (faults.length > 0) found[name] = faults;
  }
  expect(found).toEqual({});
});

const boxOf = async (part: Locator) => {
  const box = await part.boundingBox();
  if (!box) throw new Error("It is not shown");
  return { ...box, right: box.x + box.width, bottom: box.y + box.height };
};

test("at 900 px the list shows twelve chats", async () => {
  const busy = await openDesk("Busy");
  for (let n = 0; n < 13; n++) await busy.chat(`Contact ${n}`);
  const page = await openConsole(browser, screenOf(busy, "inbox"), { viewport: { width: 1440, height: 900 } });
  onTestFinished(() => page.context().close());
  await page.locator(".chat-row").nth(12).waitFor();
  // The offer of notifications is shown once.
  await button(page, "Not now").click();
  await expect.poll(async () => (await boxOf(page.locator(".chat-row").nth(11))).bottom).toBeLessThanOrEqual(900);
});

test("a row of the list is as high with an answer, a draft, “New” or nothing", async () => {
  const own = await openDesk("Heights");
  await own.chat("Nia None");
  const [draft, sent, news] = [await own.chat("Dan Draft"), await own.chat("Sam Sent"), await own.chat("Nick Noted")];
  const page = await openConsole(browser, "/console");
  onTestFinished(() => page.context().close());
  // “New” is for what comes once the page tells of it.
  await openHearing(page, own, `inbox/${draft.id}`);
  const row = (name: string) => page.locator(".chat-row").filter({ hasText: name });
  const heightOf = async (name: string) => (await boxOf(row(name))).height;
  await page.getByLabel("Message", { exact: true }).fill("Good morning 🌞");
  await row("Nia None").click();
  await row("Good morning").waitFor();
  await own.api("POST", `/chats/${sent.id}/messages`, { content: "Sent 🌞" });
  await own.writes(news.address, "Hello 🌞");
  await row("Sent 🌞").locator(".chat-row-mark").waitFor();
  await row("Hello 🌞").locator(".count").waitFor();
  const plain = await heightOf("Nia None");
  for (const name of ["Dan Draft", "Sam Sent", "Nick Noted"])
    expect([name, await heightOf(name)]).toEqual([name, plain]);
});

test("a name that runs from right to left stands beside its picture, in the list and above the conversation", async () => {
  const { id } = await desk.chat("שרה");
  const page = await open(1440, `inbox/${id}`);
  for (const part of [page.locator(".chat-row[aria-current=true]"), page.locator(".conversation-head")]) {
    const picture = await boxOf(part.locator(".avatar").first());
    const text = await part
      .getByText("שרה")
      .first()
      .evaluate((element) => {
        const range = document.createRange();
        range.selectNodeContents(element);
        return range.getBoundingClientRect().left;
      });
    expect(text - picture.right).toBeLessThanOrEqual(16);
  }
});

test("a run of messages shows one time, and each message its own to the pointer and the focus", async () => {
  const { id } = await desk.chat("Rita Run");
  for (const content of ["One", "Two", "Three"]) await desk.api("POST", `/chats/${id}/messages`, { content });
  const page = await open(1440, `inbox/${id}`);
  const log = page.getByRole("log", { name: "Messages" });
  await log.getByText("Three").waitFor();
  const shown = () =>
    log
      .locator("article time")
      .evaluateAll((times) => times.filter((time) => time.checkVisibility({ opacityProperty: true })).length);
  await expect.poll(shown).toBe(1);
  await log.getByText("One").hover();
  await expect.poll(shown).toBe(2);
  await log
    .locator("article")
    .first()
    .getByTitle(/Show details/)
    .click();
  await page.getByRole("heading", { name: "Message 1" }).waitFor();
});

describe.each([1440, 1024, 390])("at %i px", (width) => {
  test("a short message covers neither the head, nor a button, nor the banner, and stays on its screen", async () => {
    const first = await desk.chat("Tom Toast");
    const second = await desk.chat("Uma Other");
    await desk.writes(first.address, "Hello?");
    const page = await open(width, `inbox/${first.id}`);
    await stopTimers(page, 10_000);
    await page.getByRole("button", { name: "Mark as answered" }).click();
    const toast = page.getByText("Marked as answered");
    await toast.waitFor();
    await page.context().setOffline(true);
    await page.getByText(/No connection/).waitFor();
    expect(await layoutFaults(page)).toEqual([]);
    const head = await boxOf(page.locator(".conversation-head"));
    expect((await boxOf(page.locator(".toast"))).y).toBeGreaterThanOrEqual(head.bottom);
    await page.context().setOffline(false);
    await page.evaluate(
      (path) => {
        history.pushState(null, "", path);
        dispatchEvent(new PopStateEvent("popstate"));
      },
      screenOf(desk, `inbox/${second.id}`),
    );
    await page.getByRole("heading", { level: 1, name: "Uma Other" }).waitFor();
    await expect.poll(() => toast.count()).toBe(0);
  });

  test("what a key may do with one thing stands side by side, and the chosen preset is marked", async () => {
    const page = await open(width, "keys");
    await button(page, "New key").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("radio", { name: "Chats and messages", checked: true }).waitFor();
    await dialog.getByRole("radio", { name: "Custom" }).check();
    const [read, write] = [
      await boxOf(dialog.getByLabel("See channels")),
      await boxOf(dialog.getByLabel("Manage channels")),
    ];
    expect(read.y).toBe(write.y);
    const radios = dialog.getByRole("radio");
    expect(new Set(await radios.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().x))).size).toBe(1);
  });
});

test("small charts of a list begin in one line", async () => {
  for (const path of ["keys", "channels"]) {
    const page = await open(1440, path);
    await page.locator(".sparkline").nth(2).waitFor();
    const starts = await page
      .locator(".sparkline")
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().x));
    expect(new Set(starts.map(Math.round)).size, path).toBe(1);
  }
});

test("a table that has more to the side says so: its names stay, and its edge has a shadow", async () => {
  const page = await open(1024, "statistics");
  const table = page.getByRole("region", { name: "Conversations by channel and member" });
  await table.waitFor();
  const name = table.getByRole("rowheader").nth(2);
  const before = await boxOf(name);
  await table.evaluate((element) => element.scrollTo({ left: 9_999 }));
  expect((await boxOf(name)).x).toBe(before.x);
  expect(await table.evaluate((element) => getComputedStyle(element).backgroundImage)).toContain("gradient");
});
