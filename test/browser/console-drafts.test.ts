import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { codeIsThere, openDesk } from "./console.ts";
import { hasFocus, log, messageBox, openChatAsMember, SOON } from "./console-conversation.ts";
import { AGENT, notesIn, openAgent, stored } from "./console-notes.ts";
import { violations } from "./violations.ts";

const desk = await openDesk();

const press = (page: Page, name: string) => notesIn(page).getByRole("button", { name, exact: true }).click();
const gone = (page: Page) => notesIn(page).waitFor({ state: "detached" });

/** An agent's page of a chat with a draft. */
async function openDraft(contact: string, content = "It arrives tomorrow.") {
  const { chat, page } = await openAgent(desk, contact);
  await desk.api("POST", `/chats/${chat.id}/notes`, { content, draft: true });
  await notesIn(page).getByText(content).waitFor();
  await notesIn(page).getByRole("button", { name: "Drop" }).waitFor();
  return { chat, page };
}

/** Waits until the chat has these messages, and no draft. */
const becomes = (chatId: string, ...messages: string[]) =>
  expect.poll(() => stored(desk, chatId), SOON).toEqual({ messages, notes: [] });

test("a draft says that it is one, and is sent as it is", async () => {
  const { chat, page } = await openDraft("Dora Draft");
  await notesIn(page).getByText("Draft by").waitFor();
  expect(await violations(page)).toEqual([]);
  await press(page, "Send");
  await gone(page);
  await log(page).getByText("It arrives tomorrow.").waitFor();
  await becomes(chat.id, "It arrives tomorrow.");
});

test("a draft is changed in the composer, and what is sent takes its place", async () => {
  const { chat, page } = await openDraft("Edda Edit");
  await press(page, "Edit");
  await hasFocus(page, messageBox(page));
  await expect.poll(() => messageBox(page).inputValue()).toBe("It arrives tomorrow.");
  await page.keyboard.type(" At noon.");
  await page.keyboard.press("Control+Enter");
  await gone(page);
  await becomes(chat.id, "It arrives tomorrow. At noon.");
});

test("a draft is dropped after a question", async () => {
  const { chat, page } = await openDraft("Drew Drop");
  await press(page, "Drop");
  await page.getByRole("dialog").getByRole("button", { name: "Drop" }).click();
  await gone(page);
  await becomes(chat.id);
});

test("a draft that two people send is sent once, and the second is told", async () => {
  const { chat, page } = await openDraft("Tilda Two");
  const other = await openChatAsMember(desk, chat.id, AGENT, "Zoe");
  await press(other, "Edit");
  await press(page, "Send");
  await gone(page);
  await gone(other);
  await log(other).getByText("It arrives tomorrow.").waitFor(SOON);
  await other.keyboard.press("Control+Enter");
  await other.getByText("answered meanwhile").waitFor();
  await other.getByRole("button", { name: "Send anyway" }).click();
  await other.getByText("sent, changed or deleted meanwhile").waitFor();
  await becomes(chat.id, "It arrives tomorrow.");
});

test("who may not write notes sees a draft without buttons", async () => {
  const chat = await desk.chat("Rea Reader");
  await desk.api("POST", `/chats/${chat.id}/notes`, { content: "Hello", draft: true });
  const rights = AGENT.filter((permission) => permission !== "notes:write");
  const page = await openChatAsMember(desk, chat.id, rights, "Rea");
  await notesIn(page).getByText("Hello").waitFor();
  // A draft's buttons are fetched after the page.
  await codeIsThere(page);
  await expect.poll(() => notesIn(page).getByRole("button").count()).toBe(0);
});
