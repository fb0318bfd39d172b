import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { createChat } from "../support/world/factories.ts";
import { openDesk } from "./console.ts";
import { log, messageBox, openChat, send, sendLines } from "./console-conversation.ts";
import { stopTimers } from "./disturb.ts";

const desk = await openDesk();

/** What reaches beyond the right edge of the page and is not in a box that scrolls or clips. */
const overflowing = (page: Page) =>
  page.evaluate(() => {
    const isClipped = (element: Element | null): boolean =>
      element !== null && (getComputedStyle(element).overflowX !== "visible" || isClipped(element.parentElement));
    return [...document.querySelectorAll("body *")]
      .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !isClipped(one.parentElement))
      .map((one) => one.outerHTML.slice(0, 120));
  });

/** What is cut off at the right edge of its own part of the page. */
const cutOff = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll(".conversation, .chats, .panel, .dialog, .dialog-body")]
      .filter((one) => one.scrollWidth > one.clientWidth || one.getBoundingClientRect().right > innerWidth + 1)
      .map((one) => `${one.className}: ${one.scrollWidth} > ${one.clientWidth}`),
  );

describe.each([1440, 1024, 390])("at %i px, long words push nothing off the screen", (width) => {
  const LONG = `https://shop.example/${"order".repeat(40)}`;
  const TEMPLATE = `t${width}${"x".repeat(90)}`;
  const VARIABLE = "v".repeat(40);
  let chatId: string;

  // The tests of a width look at one chat, and change nothing in it.
  beforeAll(async () => {
    const chat = await createChat(desk.channel, {
      contact: { address: `long-${width}-${"x".repeat(180)}`, name: "Wolfeschlegelstein".repeat(5) },
      metadata: { page: LONG },
    });
    chatId = chat.id;
    await send(desk, chatId, { content: LONG });
    await desk.api("POST", "/templates", { name: TEMPLATE, language: "en", body: `${LONG} {{${VARIABLE}}}` });
  });

  async function open(): Promise<Page> {
    const page = await openChat(desk, chatId, { viewport: { width, height: 800 } });
    await log(page).getByText(LONG).waitFor();
    await messageBox(page).fill(LONG);
    return page;
  }

  async function openDetails(): Promise<Page> {
    const page = await open();
    if (width < 1351) await page.getByRole("button", { name: "Details", exact: true }).click();
    await page.getByText("Metadata", { exact: true }).waitFor();
    return page;
  }

  async function openTemplates(): Promise<Page> {
    const page = await open();
    await page.getByRole("button", { name: "Templates", exact: true }).click();
    await page.getByRole("dialog").getByText(TEMPLATE).waitFor();
    return page;
  }

  async function hasAllOnScreen(page: Page): Promise<void> {
    await expect.poll(() => overflowing(page)).toEqual([]);
    await expect.poll(() => cutOff(page)).toEqual([]);
  }

  test("in the conversation and its box", async () => {
    await hasAllOnScreen(await open());
  });

  test("in the details", async () => {
    await hasAllOnScreen(await openDetails());
  });

  test("in the dialog of the metadata", async () => {
    const page = await openDetails();
    await page.getByRole("button", { name: "Change the metadata" }).click();
    await page.getByRole("dialog", { name: "Metadata" }).waitFor();
    await hasAllOnScreen(page);
  });

  test("in the question before the chat is deleted", async () => {
    const page = await openDetails();
    await page.getByRole("button", { name: "Delete this chat" }).click();
    await page.getByRole("dialog", { name: "Delete this chat?" }).waitFor();
    await hasAllOnScreen(page);
  });

  test("in the list of templates", async () => {
    await hasAllOnScreen(await openTemplates());
  });

  test("in a template that is being filled", async () => {
    const page = await openTemplates();
    await page.getByRole("dialog").getByRole("button", { name: TEMPLATE }).click();
    await page.getByLabel(VARIABLE).fill(LONG);
    await hasAllOnScreen(page);
  });
});

test.each([
  [1400, 860],
  [1100, 700],
  [320, 640],
])("only the conversation scrolls, not the page: %i × %i", async (width, height) => {
  const chat = await desk.chat("Lena Long");
  await sendLines(desk, chat.id, 40);
  const page = await openChat(desk, chat.id, { viewport: { width, height } });
  await log(page).getByText("Line 40").waitFor();
  await page.getByRole("button", { name: "Attach files" }).waitFor();
  const excess = ({ scrollWidth, clientWidth, scrollHeight, clientHeight }: Element) => [
    scrollWidth - clientWidth,
    scrollHeight - clientHeight,
  ];
  await expect.poll(() => page.locator("html").evaluate(excess)).toEqual([0, 0]);
  await expect.poll(() => page.locator("main").evaluate(excess)).toEqual([0, 0]);
});

test("a page that is offline shows all of the composer", async () => {
  const chat = await desk.chat("Olaf Offline");
  const page = await openChat(desk, chat.id);
  await page.context().setOffline(true);
  await page.getByText(/No connection/).waitFor();
  const end = async () => {
    const button = await page.getByRole("button", { name: "Send", exact: true }).boundingBox();
    return button ? button.y + button.height : Number.NaN;
  };
  await expect.poll(end).toBeLessThanOrEqual(800);
});

test("on a phone, the details keep the reader's place, and what is said is seen over them", async () => {
  const chat = await desk.chat("Pia Phone");
  await sendLines(desk, chat.id, 40);
  await desk.writes(chat.address, "Hello?");
  const page = await openChat(desk, chat.id, { viewport: { width: 390, height: 700 } });
  await log(page).getByText("Hello?").waitFor();
  await stopTimers(page, 10_000);
  const place = () => log(page).evaluate((box) => box.scrollTop);
  const scrolled = () =>
    log(page).evaluate((box) => {
      box.scrollTo(0, 200);
      // By then the page knows it.
      return new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => resolve(box.scrollTop))));
    });
  await expect.poll(scrolled).toBe(200);
  await page.getByRole("button", { name: "Mark as answered" }).click();
  await page.getByText("Marked as answered").waitFor();
  await page.getByRole("button", { name: "Details", exact: true }).click();
  await page.getByRole("button", { name: "Close the details" }).waitFor();
  await page.getByRole("button", { name: "Undo (z)" }).click();
  await page.getByRole("button", { name: "Undo (z)" }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Close the details" }).click();
  await page.getByRole("button", { name: "Mark as answered" }).waitFor();
  expect(await place()).toBe(200);
});
