import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { openAsMember, openConsole, openDesk, screenOf } from "./console.ts";
import { hasFocus, log, messageBox, openChatAsMember, send, sendLines } from "./console-conversation.ts";
import { AGENT, notesIn } from "./console-notes.ts";
import { browser } from "./file-browser.ts";
import { violations } from "./violations.ts";

const desk = await openDesk();

const rows = (page: Page) => page.locator(".chat-row-name");
const lists = (page: Page, names: string[]) => expect.poll(() => rows(page).allTextContents()).toEqual(names);

/** What the page led to, as far as it is in view. */
const targets = (page: Page) =>
  page.locator("article:target").evaluateAll((all) =>
    all
      .filter((one) => {
        const { top, bottom } = one.getBoundingClientRect();
        return top >= 0 && bottom <= innerHeight;
      })
      .map(({ textContent }) => textContent),
  );

/** Writes a note. @returns its id */
const note = async (chatId: string, content: string, ...mentions: string[]): Promise<string> =>
  (await desk.api("POST", `/chats/${chatId}/notes`, { content, mentions })).note.id;

/** The inbox of a new agent, and the agent's id. */
async function openMentioned(name: string, path = "inbox") {
  const page = await openAsMember(browser, desk, AGENT, screenOf(desk, path), name);
  onTestFinished(() => page.context().close());
  const { members } = await desk.operator("GET", `/organizations/${desk.organization.id}/members?limit=100`);
  const { id } = members.find((member: { name: string }) => member.name === name);
  return { page, id: id as string };
}

async function showMentions(page: Page): Promise<void> {
  await page.getByRole("button", { name: "More", exact: true }).first().click();
  await page.getByRole("menuitem", { name: "Mentions" }).click();
}

test("Mentions lists the chats whose notes mention the person, newest mention first, and follows what others write", async () => {
  const [one, two, other] = [await desk.chat("Una One"), await desk.chat("Tim Two"), await desk.chat("Otto Other")];
  const { page, id } = await openMentioned("Mia");
  await note(one.id, "@Mia look", id);
  await note(two.id, "@Mia and here", id);
  await note(other.id, "For nobody");
  await showMentions(page);
  await lists(page, ["Tim Two", "Una One"]);
  expect(new URL(page.url()).searchParams.get("view")).toBe("mentions");
  // The chat's own messages move nothing.
  await desk.writes(one.address, "Hello?");
  await page.locator(".chat-row").getByText("Hello?").waitFor();
  await lists(page, ["Tim Two", "Una One"]);
  const later = await note(other.id, "@Mia this too", id);
  await lists(page, ["Otto Other", "Tim Two", "Una One"]);
  await desk.api("DELETE", `/chats/${other.id}/notes/${later}`);
  await lists(page, ["Tim Two", "Una One"]);
  await desk.operator("DELETE", `/chats/${two.id}`);
  await lists(page, ["Una One"]);
  expect(await violations(page)).toEqual([]);
});

test("a chat of Mentions leads to the note in its place, by a key and by a click, also far up, and again", async () => {
  const [far, near] = [await desk.chat("Fay Far"), await desk.chat("Nia Near")];
  const { page, id } = await openMentioned("Mo");
  await send(desk, far.id, { content: "The very first" });
  await note(far.id, "@Mo far up", id);
  await sendLines(desk, far.id, 120);
  await note(near.id, "@Mo near", id);
  await page.keyboard.press("y");
  await lists(page, ["Nia Near", "Fay Far"]);
  await page.keyboard.press("j");
  await expect.poll(() => targets(page)).toEqual([expect.stringContaining("@Mo near")]);
  await page.keyboard.press("j");
  await expect.poll(() => targets(page)).toEqual([expect.stringContaining("@Mo far up")]);
  await expect.poll(() => new URL(page.url()).hash).toBe("");
  await log(page).evaluate((box) => box.scrollTo(0, box.scrollHeight));
  await notesIn(page).getByText("far up").waitFor({ state: "detached" });
  await page.getByRole("link", { name: /Fay Far/ }).click();
  await expect.poll(() => targets(page)).toEqual([expect.stringContaining("@Mo far up")]);
  await hasFocus(page, messageBox(page));
});

test("a link to a note that was deleted says so", async () => {
  const chat = await desk.chat("Dia Deleted");
  const gone = await note(chat.id, "Soon gone");
  await desk.api("DELETE", `/chats/${chat.id}/notes/${gone}`);
  const page = await openChatAsMember(desk, chat.id, AGENT, "Max");
  await page.goto(`${page.url()}#${gone}`);
  await page.getByText("The note was deleted.").waitFor();
  await expect.poll(() => new URL(page.url()).hash).toBe("");
});

test("Mentions is empty at first and says how it fills, and is only for members who may read notes", async () => {
  const { page } = await openMentioned("Noa");
  await showMentions(page);
  await page.getByText("No mentions").waitFor();
  const readers = ["chats:read", "messages:read", "events:read"];
  const reader = await openAsMember(browser, desk, readers, screenOf(desk, "inbox?view=mentions"), "Rea");
  const operator = await openConsole(browser, screenOf(desk, "inbox?view=mentions"));
  for (const each of [reader, operator]) {
    await each.getByRole("button", { name: "Inbox", pressed: true }).waitFor();
    await each.getByRole("button", { name: "More", exact: true }).first().click();
    await each.getByRole("menuitem", { name: "Scheduled" }).waitFor();
    await expect.poll(() => each.getByRole("menuitem", { name: "Mentions" }).count()).toBe(0);
    await each.context().close();
  }
});
