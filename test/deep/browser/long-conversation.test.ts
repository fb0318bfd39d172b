import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { type Desk, openConsole, openDesk, screenOf } from "../../browser/console.ts";
import { browser } from "../../browser/file-browser.ts";
import { openPlace, type Place } from "../../browser/fixtures.ts";
import { newUser, visit } from "../../browser/visitor.ts";

/** A page with a conversation of 230 messages, of which it has loaded the newest ones. */
interface Long {
  page: Page;
  /** The selector of the box that scrolls. */
  scroller: string;
  /** Loads the previous page. */
  older(): Promise<void>;
  say(text: string): Promise<unknown>;
}

const COUNT = 230;

let place: Place;
let desk: Desk;

beforeAll(async () => {
  [place, desk] = await Promise.all([openPlace(), openDesk()]);
});

const textOf = (number: number) => `Message ${number}. ${"It is one of many. ".repeat(number % 7)}`;

async function visitorsPage(): Promise<Long> {
  const user = newUser();
  for (let n = 1; n <= COUNT; n++) await place.say(user, textOf(n));
  const page = await visit(browser, place, { user });
  const button = page.getByRole("button", { name: "Show earlier messages" });
  // Playwright's own click would scroll.
  const older = () => button.evaluate((element: HTMLElement) => element.click());
  return { page, scroller: ".scroller", older, say: (text) => place.say(user, text) };
}

async function console(): Promise<Long> {
  const { id } = await desk.chat("Lia Long");
  const say = (content: string) => desk.api("POST", `/chats/${id}/messages`, { content });
  for (let n = 1; n <= COUNT; n++) await say(textOf(n));
  const page = await openConsole(browser, screenOf(desk, `inbox/${id}`), { viewport: { width: 1280, height: 800 } });
  // It loads them automatically, when the scrolling rests.
  const older = async () => {};
  return { page, scroller: ".messages", older, say };
}

const PAGES = [
  ["the visitors' page", visitorsPage],
  ["the console", console],
] as const;

/** The text of the first message in view. */
const firstInView = ({ page, scroller }: Long) =>
  page.locator(scroller).evaluate((box) => {
    const { top } = box.getBoundingClientRect();
    const first = [...box.querySelectorAll(".message")].find((one) => one.getBoundingClientRect().top > top);
    return first?.querySelector(".text")?.textContent ?? "";
  });

/** How far a message is from the upper edge of the view, in pixels; null if it is not drawn. */
const placeOf = ({ page, scroller }: Long, text: string) =>
  page.locator(scroller).evaluate((box, wanted) => {
    const found = [...box.querySelectorAll(".text")].find(({ textContent }) => textContent === wanted);
    return found ? Math.round(found.getBoundingClientRect().top - box.getBoundingClientRect().top) : null;
  }, text);

const heightOf = ({ page, scroller }: Long) => page.locator(scroller).evaluate((box) => box.scrollHeight);

const scrollTo = ({ page, scroller }: Long, top: number) =>
  page.locator(scroller).evaluate((box, to) => box.scrollTo(0, to), top);

/** Scrolls through all that is loaded: to the start, and to the end. */
const scrollThrough = ({ page, scroller }: Long) =>
  page.locator(scroller).evaluate(async (box) => {
    const drawn = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    const step = box.clientHeight / 2;
    for (; box.scrollTop > box.clientHeight; box.scrollTop -= step) await drawn();
    for (; box.scrollTop + box.clientHeight < box.scrollHeight - 1; box.scrollTop += step) await drawn();
    await drawn();
  });

test.for(PAGES)("%s: what one reads stays where it is while older messages come, and a new one", async ([, open]) => {
  const long = await open();
  const { page } = long;
  await page.locator(long.scroller).getByText(`Message ${COUNT}.`).waitFor();
  const height = await heightOf(long);
  await scrollTo(long, 40);
  await expect.poll(() => firstInView(long)).toMatch(/^Message 1[38][0-9]\./);
  const read = await firstInView(long);
  const top = await placeOf(long, read);
  await long.older();
  await expect.poll(() => heightOf(long)).toBeGreaterThan(height + 1_000);
  await expect.poll(() => placeOf(long, read)).toBe(top);
  await long.say("One more");
  await page.getByRole("button", { name: /new message/i }).waitFor();
  expect(await placeOf(long, read)).toBe(top);
  await expect.poll(() => page.locator("*").count()).toBeLessThan(1_500);
  await page.getByRole("button", { name: /new message/i }).click();
  await expect.poll(() => page.locator(long.scroller).getByText("One more").isVisible()).toBe(true);
  await page.context().close();
});

test.for(PAGES)("%s: focus and selection stay, wherever one scrolls", async ([, open]) => {
  const long = await open();
  const { page } = long;
  const last = page.locator(`${long.scroller} .message`, { hasText: `Message ${COUNT}.` });
  // The writers' names come after the messages.
  await expect.poll(() => last.textContent()).not.toContain("\u00a0");
  await last.getByRole("button", { name: "React or reply" }).focus();
  const focused = () => page.evaluate(() => document.activeElement?.closest(".message")?.textContent);
  const selected = () => page.evaluate(() => getSelection()?.toString());
  const before = await focused();
  expect(before).toContain(`Message ${COUNT}.`);
  const [from, to] = [COUNT - 15, COUNT - 2].map((number) =>
    page.locator(`${long.scroller} .text`, { hasText: `Message ${number}.` }),
  );
  const end = await to?.elementHandle();
  await from?.evaluate((first, second) => {
    const range = document.createRange();
    range.setStart(first, 0);
    range.setEnd(second as Node, 1);
    getSelection()?.removeAllRanges();
    getSelection()?.addRange(range);
  }, end);
  const chosen = await selected();
  expect(chosen).toContain(`Message ${COUNT - 8}.`);
  await scrollTo(long, 2_000);
  await page
    .locator(long.scroller)
    .getByText(`Message ${COUNT - 40}.`)
    .waitFor({ state: "detached" });
  await scrollThrough(long);
  expect(await focused()).toBe(before);
  expect(await selected()).toBe(chosen);
  await page.context().close();
});

test.for(PAGES)("%s: screen readers hear what is new, and nothing that only comes into view", async ([, open]) => {
  const long = await open();
  const { page } = long;
  const log = page.locator("[role=log]");
  await expect.poll(() => log.getAttribute("aria-live")).toBe("polite");
  await log.evaluate((element) => {
    const heard: string[] = [];
    Object.assign(window, { heard });
    new MutationObserver((changes) => {
      if (element.getAttribute("aria-live") === "off") return;
      for (const { addedNodes } of changes) {
        for (const node of addedNodes) {
          const messages = node instanceof Element ? [node, ...node.querySelectorAll(".message")] : [];
          heard.push(
            ...messages.flatMap((one) =>
              one.matches(".message") ? (one.querySelector(".text")?.textContent ?? "") : [],
            ),
          );
        }
      }
    }).observe(element, { childList: true, subtree: true });
  });
  const heard = () => page.evaluate(() => (window as unknown as { heard: string[] }).heard);
  await scrollThrough(long);
  await expect.poll(() => log.getAttribute("aria-live")).toBe("polite");
  expect(await heard()).toEqual([]);
  await long.say("A fresh one");
  await expect.poll(heard).toEqual(["A fresh one"]);
  await page.context().close();
});
