import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { takeOver } from "./disturb.ts";
import { browser } from "./file-browser.ts";
import { openPlace, type Place } from "./fixtures.ts";
import { openSite, widgetTag } from "./site.ts";
import { eventually, newUser, open } from "./visitor.ts";

let place: Place;
let site = "";
const DESK = { width: 1000, height: 760 };

beforeAll(async () => {
  place = await openPlace();
  site = await openSite(({ searchParams }) => ({
    markup: `<!doctype html><html lang="en"><head><title>Shop</title><meta name="viewport" content="width=device-width">
${widgetTag(place.base, { channel: place.channelId, ...Object.fromEntries(searchParams) })}</head>
<body><h1>A shop</h1><button id="ask">Ask us</button></body></html>`,
  }));
});

const siteUrl = (attributes: Record<string, string> = {}) => `${site}/?${String(new URLSearchParams(attributes))}`;
const asUser = (user: string) => ({ user, "user-hash": place.hashOf(user) });

async function visitSite(attributes: Record<string, string> = {}): Promise<Page> {
  const page = await open(browser, { viewport: DESK });
  await page.goto(siteUrl(attributes));
  await page.getByRole("button", { name: "Open chat" }).waitFor();
  return page;
}

/** The site's own call. */
const call = (page: Page, ...given: unknown[]) =>
  page.evaluate((args) => (window as unknown as { Parley: { push(call: unknown): void } }).Parley.push(args), given);
const chat = (page: Page) => page.frameLocator("iframe");
const box = (page: Page) => chat(page).getByRole("textbox", { name: "Message" });
const frameOf = (page: Page) => page.frames().find((one) => one.url().includes("/web/"));

/** An anonymous visitor who has written. */
async function visitAndWrite(text: string): Promise<Page> {
  const page = await visitSite();
  await call(page, "open");
  await write(page, text);
  return page;
}

async function write(page: Page, text: string): Promise<void> {
  await box(page).fill(text);
  await page.keyboard.press("Enter");
  await chat(page).getByText("Sent", { exact: true }).waitFor();
}

/** The names of what the site and the frame keep. */
async function kept(page: Page): Promise<string[][]> {
  const names = () => [...Object.keys(localStorage), ...Object.keys(sessionStorage)].toSorted();
  return [await page.evaluate(names), (await frameOf(page)?.evaluate(names)) ?? []];
}

test("a visitor who signs out and leaves the page at once is forgotten on the next page", async () => {
  const page = await visitAndWrite("mine alone");
  await box(page).fill("half a secret");
  // No chat can load, as if the visitor had left.
  const giveBack = await takeOver(page, /\/web-assets\/chat\.js$/);
  await call(page, "logout");
  giveBack();
  await page.goto(siteUrl());
  await eventually(() => kept(page), [[], []]);
  await call(page, "open");
  await box(page).waitFor();
  await expect.poll(() => box(page).inputValue()).toBe("");
  await expect.poll(() => chat(page).getByText("mine alone").count()).toBe(0);
});

test("a visitor who signs out in one tab is forgotten in the others, drafts included", async () => {
  const page = await visitAndWrite("mine alone");
  const other = await page.context().newPage();
  await other.goto(siteUrl());
  await call(other, "open");
  await chat(other).getByText("mine alone").waitFor();
  await box(other).fill("half a secret");
  await call(page, "logout");
  await eventually(() => chat(other).getByText("mine alone").count(), 0);
  await eventually(() => box(other).inputValue(), "");
});

test("signing out loads nothing where no chat was opened", async () => {
  const page = await visitSite();
  await call(page, "logout");
  await call(page, "logout");
  expect([await page.locator("iframe").count(), await kept(page)]).toEqual([0, [[], []]]);
});

test("for a user with messages, nothing is kept before they open the chat", async () => {
  const user = newUser();
  await place.say(user, "Hello, user");
  const page = await visitSite(asUser(user));
  await page.getByRole("button", { name: "Open chat, 1 unread" }).waitFor();
  expect(await kept(page)).toEqual([[], []]);
});

test("a user who signs in while another's chat is open hears their own chat live, and nothing of the other's", async () => {
  const [one, other] = [newUser(), newUser()];
  await place.say(one, "for one alone");
  await place.meet(other);
  const page = await visitSite(asUser(one));
  await call(page, "open");
  await chat(page).getByText("for one alone").waitFor();
  const frames: string[] = [];
  page.on("websocket", (socket) => socket.on("framereceived", ({ payload }) => frames.push(String(payload))));
  await call(page, "identify", { user: other, hash: place.hashOf(other) });
  await chat(page).getByText(`Writing as ${other}`).waitFor();
  await place.say(one, "for one again");
  await place.say(other, "for the other");
  await chat(page).getByText("for the other").waitFor();
  expect(frames.filter((frame) => frame.includes("for one"))).toEqual([]);
  await expect.poll(() => chat(page).getByText("for one").count()).toBe(0);
});

test("a new hash of the same user changes nothing until the chat connects again", async () => {
  const user = newUser();
  await place.meet(user);
  const page = await visitSite(asUser(user));
  await call(page, "open");
  await box(page).fill("half a thought");
  await frameOf(page)?.evaluate(() => Object.assign(window, { isTheSame: true }));
  const isTheSame = () => frameOf(page)?.evaluate(() => "isTheSame" in window) ?? Promise.resolve(false);
  await call(page, "identify", { user, hash: "0".repeat(64) });
  await call(page, "identify", { user, hash: "0".repeat(64) });
  await eventually(async () => frameOf(page)?.evaluate(() => location.hash.includes("0000")), true);
  expect([await isTheSame(), await box(page).inputValue()]).toEqual([true, "half a thought"]);
  await page.context().setOffline(true);
  await page.context().setOffline(false);
  await chat(page).getByText("We couldn’t confirm who you are").waitFor();
  // A hash that is right connects a chat that was refused.
  await call(page, "identify", { user, hash: place.hashOf(user) });
  await write(page, "a whole thought");
  expect(await place.heard(user)).toEqual(["a whole thought"]);
});

test("the focus goes back to what opened the chat, and stays where the visitor is if the site closes it", async () => {
  const page = await visitSite();
  await page.evaluate(() => {
    const { Parley } = window as unknown as { Parley: { toggle(): void } };
    document.querySelector("#ask")?.addEventListener("click", () => Parley.toggle());
  });
  const ask = page.getByRole("button", { name: "Ask us" });
  await ask.focus();
  await page.keyboard.press("Enter");
  await eventually(() => box(page).evaluate((element) => element === document.activeElement), true);
  await page.keyboard.press("Escape");
  await eventually(() => ask.evaluate((element) => element === document.activeElement), true);
  await call(page, "open");
  // The frame takes the focus once it knows that it is open.
  await eventually(
    () => box(page).evaluate((element) => document.hasFocus() && element === document.activeElement),
    true,
  );
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await call(page, "close");
  expect(await page.evaluate(() => document.activeElement === document.body)).toBe(true);
});

test("without a button, the chat stands in its corner, and its own button closes it", async () => {
  const page = await open(browser, { viewport: DESK });
  await page.goto(siteUrl({ launcher: "off" }));
  await page.locator("parley-chat").waitFor({ state: "attached" });
  await call(page, "open");
  await box(page).waitFor();
  await eventually(async () => {
    const { x, y, width, height } = (await page.locator("iframe").boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    return [1000 - x - width, 760 - y - height];
  }, [20, 20]);
  await chat(page).getByRole("button", { name: "Close chat" }).click();
  await eventually(() => page.locator("iframe").isVisible(), false);
});

test("an invalid color leaves the company's, on the button and in the chat", async () => {
  const colored = await openPlace({ accentColor: "#aa0000" });
  const page = await visitSite({ channel: colored.channelId, accent: "red" });
  await call(page, "open");
  const colorOf = (element: Element) => getComputedStyle(element).backgroundColor;
  await eventually(() => chat(page).getByRole("button", { name: "Send" }).evaluate(colorOf), "rgb(170, 0, 0)");
  expect(await page.getByRole("button", { name: "Close chat" }).evaluate(colorOf)).toBe("rgb(170, 0, 0)");
});

test("two widgets of a page have a chat each, and window.Parley is the first one's", async () => {
  const [second, user] = [await openPlace(), newUser()];
  await second.say(user, "from the second");
  const page = await visitSite();
  const tag = { base: place.base, channel: second.channelId, user, hash: second.hashOf(user) };
  await page.evaluate(({ base, channel, user, hash }) => {
    const script = document.createElement("script");
    script.src = `${base}/widget.js`;
    Object.assign(script.dataset, { channel, user, userHash: hash, position: "left" });
    document.head.append(script);
  }, tag);
  await page.getByRole("button", { name: "Open chat, 1 unread" }).waitFor();
  await call(page, "open");
  const first = page.locator(`parley-chat[data-parley="${place.channelId}"]`);
  await first.getByRole("button", { name: "Close chat" }).waitFor();
  await page.getByRole("button", { name: "Open chat, 1 unread" }).click();
  const other = page.locator(`parley-chat[data-parley="${second.channelId}"]`);
  await other.locator("iframe").contentFrame().getByText("from the second").waitFor();
});

test("what the site's other frames say is ignored, by the widget and by the chat", async () => {
  const user = newUser();
  await place.say(user, "unseen");
  const page = await visitSite(asUser(user));
  await page.getByRole("button", { name: "Open chat, 1 unread" }).waitFor();
  await page.evaluate(() => {
    const stranger = document.createElement("iframe");
    stranger.srcdoc = "<p>An advertisement</p>";
    document.body.append(stranger);
    return new Promise((resolve) => stranger.addEventListener("load", resolve));
  });
  await page.evaluate(() => {
    const stranger = document.querySelector("iframe")?.contentWindow as unknown as { eval(code: string): void };
    const chat = "top.document.querySelector('parley-chat').shadowRoot.querySelector('iframe').contentWindow";
    stranger.eval(`top.postMessage({ parley: "unread", count: 9 }, "*"); top.postMessage({ parley: "close" }, "*");
      ${chat}.postMessage({ parley: "opened", focus: true }, "*")`);
    return new Promise<void>((resolve) => {
      addEventListener("message", ({ data }) => data === "after the others" && resolve());
      postMessage("after the others", "*");
    });
  });
  // The company's next message comes after the stranger's words, and nothing was read.
  await place.say(user, "unseen too");
  await page.getByRole("button", { name: "Open chat, 2 unread" }).waitFor();
  await eventually(() => place.statuses(user), ["DELIVERED", "DELIVERED"]);
});
