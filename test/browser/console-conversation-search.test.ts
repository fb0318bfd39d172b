import type { Locator, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { openDesk } from "./console.ts";
import { hasFocus, log, openChat, send, sendLines } from "./console-conversation.ts";

const desk = await openDesk();

describe("the search in a conversation", () => {
  let chatId: string;

  // Searching changes nothing in the chat, and writing its 61 messages takes longer than a test.
  beforeAll(async () => {
    ({ id: chatId } = await desk.chat("Sue Searches"));
    await send(desk, chatId, { content: "The Nädel is here" });
    await sendLines(desk, chatId, 60);
  });

  /** The field is opened by its key, and has the focus: else the keys of the screen would take what is typed. */
  async function openSearch() {
    const page = await openChat(desk, chatId);
    await log(page).getByText("Line 60").waitFor();
    await page.keyboard.press("f");
    const field = page.getByRole("searchbox", { name: "Find in this conversation" });
    await hasFocus(page, field);
    return { page, field };
  }

  const count = (page: Page, text: string) => page.getByText(text, { exact: true }).waitFor();
  /** Resolves once the page has led to a message with this text: then the address names none. */
  const leadsTo = (page: Page, text: string) =>
    expect
      .poll(() =>
        page.evaluate(() => (location.hash === "" ? document.querySelector("article:target")?.textContent : null)),
      )
      .toContain(text);

  test("finds what is typed after its key, and leads to the newest message", async () => {
    const { page } = await openSearch();
    await page.keyboard.type("line 5");
    await count(page, "1 of 11");
    await leadsTo(page, "Line 59");
  });

  test("leads to the next older message by Enter", async () => {
    const { page, field } = await openSearch();
    await field.fill("line 5");
    await count(page, "1 of 11");
    await leadsTo(page, "Line 59");
    await page.keyboard.press("Enter");
    await count(page, "2 of 11");
    await leadsTo(page, "Line 58");
  });

  test("leads back to the newer message by Shift and Enter", async () => {
    const { page, field } = await openSearch();
    await field.fill("line 5");
    await count(page, "1 of 11");
    await leadsTo(page, "Line 59");
    await page.keyboard.press("Enter");
    await count(page, "2 of 11");
    await leadsTo(page, "Line 58");
    await page.keyboard.press("Shift+Enter");
    await leadsTo(page, "Line 59");
  });

  test("says that it found none", async () => {
    const { page, field } = await openSearch();
    await field.fill("nobody said");
    await count(page, "None");
  });

  test("finds words without their accents, in messages that are not loaded yet", async () => {
    const { page, field } = await openSearch();
    await field.fill("nadel");
    await count(page, "1 of 1");
    await leadsTo(page, "The Nädel is here");
  });

  test("shows the whole outline of the message that it leads to", async () => {
    const { page, field } = await openSearch();
    await field.fill("line 30");
    await leadsTo(page, "Line 30");
    const topOf = async (found: Locator) => (await found.boundingBox())?.y ?? Number.NaN;
    const room = async () => (await topOf(page.locator("article:target .bubble"))) - (await topOf(log(page)));
    // It is 4 pixels wide.
    await expect.poll(room).toBeGreaterThan(4);
  });

  test("closes by Escape", async () => {
    const { page, field } = await openSearch();
    await page.keyboard.press("Escape");
    await expect.poll(() => field.count()).toBe(0);
  });
});

/** A page that shows older messages than the newest, while two new ones come. */
async function openAbove(name: string) {
  const chat = await desk.chat(name);
  await sendLines(desk, chat.id, 30);
  const page = await openChat(desk, chat.id);
  await log(page).getByText("Line 30").waitFor();
  await expect.poll(() => toEnd(page)).toBeLessThan(80);
  await log(page).hover();
  const scrolled = async () => {
    await page.mouse.wheel(0, -600);
    return toEnd(page);
  };
  await expect.poll(scrolled).toBeGreaterThan(200);
  return { chat, page };
}

/** How far the end of the conversation is below what is shown. */
const toEnd = (page: Page) => log(page).evaluate((one) => one.scrollHeight - one.scrollTop - one.clientHeight);

test("new messages below what one reads are counted", async () => {
  const { chat, page } = await openAbove("Bea Below");
  await send(desk, chat.id, { content: "Line 31" });
  await page.getByRole("button", { name: "1 new message" }).waitFor();
  await send(desk, chat.id, { content: "Line 32" });
  await page.getByRole("button", { name: "2 new messages" }).waitFor();
});

test("the button that counts new messages leads to them, and goes", async () => {
  const { chat, page } = await openAbove("Bo Below");
  await send(desk, chat.id, { content: "Line 31" });
  const button = page.getByRole("button", { name: "1 new message" });
  await button.click();
  await button.waitFor({ state: "detached" });
  await expect.poll(() => toEnd(page)).toBeLessThan(80);
});
