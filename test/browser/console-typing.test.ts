import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { AGENT, codeIsThere, goByKeys, openAsMember, openConsole, openDesk, screenOf, withUndo } from "./console.ts";
import { log, messageBox } from "./console-conversation.ts";
import { holdUp, intercept, noteChanges, stopTimers } from "./disturb.ts";
import { browser } from "./file-browser.ts";

const desk = await openDesk();

/** Each letter is a key of the console, and some act on the chat. */
const WORDS = "He is again an enemy of Muzak";

const chatOf = async (id: string) => (await desk.api("GET", `/chats/${id}`)).chat;

/** A chat whose contact wrote, and a page of a member who may answer. */
async function openAgent(name: string, path: (chatId: string) => string = (id) => `inbox/${id}`) {
  const chat = await desk.chat(name);
  await desk.writes(chat.address, "Hello?");
  const page = await openAsMember(browser, desk, AGENT, screenOf(desk, path(chat.id)));
  onTestFinished(() => page.context().close());
  return { page, id: chat.id, row: page.getByRole("link", { name: new RegExp(name) }) };
}

/** The chat is as its contact left it, and nothing opened over it. */
async function expectUntouched(page: Page, id: string): Promise<void> {
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
  const { assigneeId, unansweredSince } = await chatOf(id);
  expect({ assigneeId, isUnanswered: unansweredSince !== null }).toEqual({ assigneeId: null, isUnanswered: true });
}

const findField = (page: Page) => page.getByLabel("Find a screen, a contact or an action");

test("what is typed after a click on a row is a message, and acts on nothing", async () => {
  const { page, id, row } = await openAgent("Cleo Clicked", () => "inbox");
  await row.click();
  await page.keyboard.type(WORDS);
  await expect.poll(() => messageBox(page).inputValue()).toBe(WORDS);
  await expectUntouched(page, id);
});

test("a click on the open chat's row gives its text the keys again", async () => {
  const { page, id, row } = await openAgent("Ria Row");
  await messageBox(page).waitFor();
  await row.click();
  await page.keyboard.type(WORDS);
  await expect.poll(() => messageBox(page).inputValue()).toBe(WORDS);
  await expectUntouched(page, id);
});

test("what is typed after a click on the conversation is a message", async () => {
  const { page, id } = await openAgent("Cora Conversation");
  await log(page).getByText("Hello?").click();
  await page.keyboard.type(WORDS);
  await expect.poll(() => messageBox(page).inputValue()).toBe(WORDS);
  await expectUntouched(page, id);
});

test("what is typed after a click on “Mark as answered” is a message", async () => {
  const { page, id } = await openAgent("Ben Button");
  await page.getByRole("button", { name: "Mark as answered" }).click();
  await page.getByText("Marked as answered").waitFor();
  await page.keyboard.type(WORDS);
  await expect.poll(() => messageBox(page).inputValue()).toBe(WORDS);
  expect((await chatOf(id)).assigneeId).toBeNull();
});

test("what is typed while a chat that was chosen is loaded waits for its text", async () => {
  const { page, id } = await openAgent("Sol Slow", () => "inbox?view=scheduled");
  await page.getByRole("button", { name: "Find" }).click();
  await page.keyboard.type("Sol Slow");
  await page.getByRole("option", { name: /Sol Slow/ }).waitFor();
  const release = await holdUp(page, new RegExp(`/chats/${id}$`));
  await page.keyboard.press("Enter");
  await page.waitForURL(new RegExp(id));
  await page.keyboard.type(WORDS);
  release();
  await expect.poll(() => messageBox(page).inputValue()).toBe(WORDS);
  await expectUntouched(page, id);
});

test("what is typed while the text of a note is fetched waits for it, and is no message", async () => {
  const { page, id } = await openAgent("Nora Note");
  const release = await holdUp(page, /\/screens-\w+\.js/);
  await page.reload();
  await messageBox(page).waitFor();
  await page.keyboard.press("w");
  await page.keyboard.type(WORDS);
  release();
  await expect.poll(() => page.getByLabel("Note, seen by your team only").inputValue()).toBe(WORDS);
  await expect.poll(() => messageBox(page).inputValue()).toBe("");
  await expectUntouched(page, id);
});

test("what is typed while “Find” is fetched waits for it", async () => {
  const { page, id } = await openAgent("Fia Find");
  const release = await holdUp(page, /\/screens-\w+\.js/);
  await page.reload();
  await messageBox(page).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("mean");
  release();
  await expect.poll(() => findField(page).inputValue()).toBe("mean");
  expect((await chatOf(id)).assigneeId).toBeNull();
});

test("Escape ends the wait for what is fetched, and keys work again", async () => {
  const { page } = await openAgent("Eda Escape");
  const release = await holdUp(page, /\/screens-\w+\.js/);
  await page.reload();
  await messageBox(page).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("e");
  await page.keyboard.press("Escape");
  await page.keyboard.press("e");
  await page.getByText("Marked as answered").waitFor();
  release();
  await codeIsThere(page);
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
});

test("“Find” that is opened straight after Escape stays open and has the keys", async () => {
  const { page, id } = await openAgent("Kit Quick");
  await messageBox(page).waitFor();
  await codeIsThere(page);
  // Both before the page is drawn again.
  await page.evaluate(async () => {
    for (const key of [{ key: "Escape" }, { key: "k", ctrlKey: true }]) {
      document.body.dispatchEvent(new KeyboardEvent("keydown", { ...key, bubbles: true, cancelable: true }));
      await new Promise((resolve) => setTimeout(resolve));
    }
  });
  await messageBox(page).waitFor({ state: "detached" });
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
  await page.keyboard.type("man e");
  await expect.poll(() => findField(page).inputValue()).toBe("man e");
  expect((await chatOf(id)).assigneeId).toBeNull();
});

test("capitals are no shortcuts", async () => {
  const { page, id } = await openAgent("Caro Capitals");
  await messageBox(page).waitFor();
  const changes = noteChanges(page, /\/chats\/(?!.*\/read$)/);
  for (const key of ["E", "A", "N", "T", "J", "W"]) await page.keyboard.press(key);
  await expectUntouched(page, id);
  expect(await changes()).toEqual([]);
  await page.keyboard.press("e");
  await page.getByText("Marked as answered").waitFor();
});

test("the key z takes back that a chat was marked as answered", async () => {
  const { page, id } = await openAgent("Zoe Undo");
  await messageBox(page).waitFor();
  const { unansweredSince } = await chatOf(id);
  await stopTimers(page, 10_000);
  await page.keyboard.press("e");
  await page.getByText("Marked as answered").waitFor();
  expect((await chatOf(id)).unansweredSince).toBeNull();
  await page.keyboard.press("z");
  await page.getByRole("button", { name: "Mark as answered" }).waitFor();
  expect((await chatOf(id)).unansweredSince).toBe(unansweredSince);
  await expect.poll(() => page.getByRole("button", { name: "Undo (z)" }).count()).toBe(0);
});

test("the key z takes an assignment by a key back", async () => {
  const { page, id } = await openAgent("Zac Undo");
  await messageBox(page).waitFor();
  await stopTimers(page, 10_000);
  await page.keyboard.press("a");
  // The button can show the assignment before its answer is here.
  await page.getByRole("button", { name: "Undo (z)" }).waitFor();
  await page.keyboard.press("z");
  await page.getByRole("button", { name: /^Nobody’s. Assign this chat/ }).waitFor();
  expect((await chatOf(id)).assigneeId).toBeNull();
});

test("a chat that was marked as answered is marked as unanswered by its button", async () => {
  const { page, id } = await openAgent("Una Answered");
  await page.getByRole("button", { name: "Mark as answered" }).click();
  await page.getByRole("button", { name: "Mark as unanswered" }).click();
  await page.getByText("Marked as unanswered").waitFor();
  await page.getByRole("button", { name: "Mark as answered" }).waitFor();
  expect((await chatOf(id)).unansweredSince).not.toBeNull();
});

test("a key that is pressed twice, or held down, acts once", async () => {
  const { page, id } = await openAgent("Toni Twice");
  await messageBox(page).waitFor();
  const asked: string[] = [];
  const gate = Promise.withResolvers<void>();
  await intercept(page, new RegExp(`/chats/${id}(/answered)?$`), async (route) => {
    const method = route.request().method();
    if (method !== "GET") asked.push(method);
    if (method !== "GET") await gate.promise;
    await route.continue();
  });
  await page.keyboard.press("a");
  await page.keyboard.press("a");
  await page.keyboard.down("e");
  await page.keyboard.down("e");
  await page.keyboard.up("e");
  await page.keyboard.press("e");
  gate.resolve();
  await page.getByRole("button", { name: "Assigned to Mel. Change that" }).waitFor();
  await page.getByText("Marked as answered").waitFor();
  expect(asked.toSorted()).toEqual(["PATCH", "POST"]);
  await expect.poll(() => page.getByText("Somebody was faster").count()).toBe(0);
});

test("Escape closes the search, then the details, then the chat", async () => {
  const { page } = await openAgent("Esme Escape");
  await messageBox(page).waitFor();
  const details = page.getByRole("complementary", { name: "Details" });
  await page.keyboard.press("i");
  await details.waitFor();
  await page.keyboard.press("f");
  const search = page.getByRole("searchbox", { name: "Find in this conversation" });
  await search.waitFor();
  await log(page).focus();
  await page.keyboard.press("Escape");
  await search.waitFor({ state: "detached" });
  await details.waitFor();
  await page.keyboard.press("Escape");
  await details.waitFor({ state: "detached" });
  await messageBox(page).waitFor();
  await page.keyboard.press("Escape");
  await messageBox(page).waitFor({ state: "detached" });
});

test("what a key did is not said in the chat that is opened next", async () => {
  const { page, id, row } = await openAgent("Ada Acted");
  const next = await desk.chat("Nell Next");
  await messageBox(page).waitFor();
  await stopTimers(page, 10_000);
  const release = await holdUp(page, new RegExp(`/chats/${id}/answered$`));
  await page.keyboard.press("e");
  await page.getByRole("link", { name: /Nell Next/ }).click();
  await page.waitForURL(`**/inbox/${next.id}`);
  release();
  await row.getByText("Unanswered").waitFor({ state: "detached" });
  await expect.poll(() => page.getByText("Marked as answered").count()).toBe(0);
  await row.click();
  await page.getByText("Marked as answered").waitFor();
});

test("a send that is taken back from another screen leaves that screen its keys", async () => {
  const chat = await desk.chat("Ulf Undone");
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`), withUndo());
  onTestFinished(() => page.context().close());
  await messageBox(page).fill("Too early");
  await page.keyboard.press("Control+Enter");
  await page.getByText("Undo (Esc)").waitFor();
  await page.getByRole("link", { name: "Channels" }).click();
  await page.getByRole("heading", { level: 1, name: "Channels" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByText("Undo (Esc)").waitFor({ state: "detached" });
  await goByKeys(page, "k", "Keys");
});
