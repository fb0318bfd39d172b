import type { BrowserContext, Page } from "playwright-core";
import { expect, test } from "vitest";
import { codeIsThere, openConsole, openDesk, screenOf } from "./console.ts";
import { browser } from "./file-browser.ts";
import { base } from "./running-server.ts";

const desk = await openDesk();

/** The organization's own program writes. Visitors have a rate limit. */
const send = (chatId: string, content: string) => desk.api("POST", `/chats/${chatId}/messages`, { content });

const log = (page: Page) => page.getByRole("log", { name: "Messages" });

/** Counts the streams that a browser's tabs have open. */
function countStreams(context: BrowserContext): () => number {
  const open = new Map<unknown, Page>();
  context.on(
    "request",
    (request) => request.url().includes("/events/stream") && open.set(request, request.frame().page()),
  );
  context.on("requestfinished", (request) => open.delete(request));
  context.on("requestfailed", (request) => open.delete(request));
  return () => [...open.values()].filter((page) => !page.isClosed()).length;
}

async function another(context: BrowserContext, path: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${base}${path}`);
  return page;
}

test("three tabs share one stream, and when the one that has it closes, the others lose nothing", async () => {
  const chat = await desk.chat("Tia Tabs");
  await send(chat.id, "One");
  const path = screenOf(desk, `inbox/${chat.id}`);
  const first = await openConsole(browser, screenOf(desk, "settings"));
  const context = first.context();
  const streams = countStreams(context);
  await first.goto(`${base}${path}`);
  await log(first).getByText("One", { exact: true }).waitFor();
  await expect.poll(streams).toBe(1);
  const others = [await another(context, path), await another(context, path)];
  for (const page of others) await log(page).getByText("One", { exact: true }).waitFor();
  await send(chat.id, "Two");
  for (const page of [first, ...others]) await log(page).getByText("Two", { exact: true }).waitFor();
  await expect.poll(streams).toBe(1);

  await Promise.all([first.close(), send(chat.id, "Three")]);
  await send(chat.id, "Four");
  for (const page of others) {
    for (const text of ["Three", "Four"]) await log(page).getByText(text, { exact: true }).waitFor();
  }
  await expect.poll(streams).toBe(1);
  await context.close();
});

test("a tab that joins hears of new messages without a stream of its own, and counts the unanswered chats", async () => {
  const chat = await desk.chat("Jo Joins");
  const first = await openConsole(browser, screenOf(desk, "settings"));
  const streams = countStreams(first.context());
  await first.goto(`${base}${screenOf(desk, "inbox")}`);
  await expect.poll(streams).toBe(1);
  // It counts the chats with something new.
  await codeIsThere(first);
  const second = await another(first.context(), screenOf(desk, "inbox"));
  await second.getByRole("link", { name: /Jo Joins/ }).waitFor();
  await desk.writes(chat.address, "Am I heard?");
  await second
    .getByRole("link", { name: /Jo Joins/ })
    .getByText("Am I heard?")
    .waitFor();
  await expect.poll(() => second.title()).toMatch(/^\(\d+\) Inbox/);
  await expect.poll(streams).toBe(1);
  await first.context().close();
});
