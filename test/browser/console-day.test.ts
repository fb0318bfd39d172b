import { errors, type Page } from "playwright-core";
import { expect, test } from "vitest";
import { PRESETS } from "../../src/model/permission.ts";
import { type Desk, openAsMember, openDesk, screenOf } from "./console.ts";
import { browser } from "./file-browser.ts";

const PEOPLE = ["Ida", "Jo", "Kim"];
const CHATS = 60;
/** This many chats are there in the morning. The others come while the three work. */
const AT_ONCE = 20;
/** How long a person waits for the next chat before the day is over. */
const PATIENCE_MS = 5_000;

/** What a person did, in the person's own words. */
interface Entry {
  chatId: string;
  person: string;
}

const head = (page: Page) => page.locator(".conversation-head");
const whose = (page: Page) => head(page).getByRole("button", { name: /Nobody’s|Assigned to/ });

const rowOf = (page: Page, chatId: string) => page.locator(`.chats a[href*="${chatId}"]`);

/**
 * Clicks the chat's row.
 * @returns whether the chat opened. The list moves while others work: the row can leave from under the pointer.
 */
async function opens(page: Page, chatId: string): Promise<boolean> {
  try {
    await rowOf(page, chatId).click({ timeout: 1_000 });
    await page.waitForURL(new RegExp(chatId), { timeout: 1_000 });
    return true;
  } catch (error) {
    if (error instanceof errors.TimeoutError) return false;
    throw error;
  }
}

/** Takes the chat that is open. The key takes it from nobody. @returns false if somebody else has it */
async function take(page: Page, person: string): Promise<boolean> {
  const label = (await whose(page).getAttribute("aria-label")) ?? "";
  if (!label.startsWith("Nobody’s")) return false;
  // A click on the row gave the text the keys.
  await page.getByLabel("Message", { exact: true }).press("Escape");
  await page.keyboard.press("a");
  const mine = head(page).getByRole("button", { name: `Assigned to ${person}.` });
  const others = head(page).getByRole("button", { name: new RegExp(`Assigned to (?!${person})`) });
  await mine.or(others).waitFor();
  return mine.isVisible();
}

/** Writes a note and an answer, and waits until both are in the conversation. */
async function answer(page: Page, person: string): Promise<void> {
  const log = page.getByRole("log", { name: "Messages" });
  await page.keyboard.press("w");
  await page.getByLabel("Note, seen by your team only").fill(`${person} has this one`);
  await page.keyboard.press("Control+Enter");
  await log.locator(".note-line").getByText(`${person} has this one`).waitFor();
  await page.getByRole("button", { name: "Write a message" }).click();
  await page.getByLabel("Message", { exact: true }).fill(`Hello from ${person}`);
  await page.keyboard.press("Control+Enter");
  await log.locator(".message").getByText(`Hello from ${person}`).waitFor();
}

/** Works as long as chats of nobody's wait for an answer. */
async function work(page: Page, person: string, done: Entry[]): Promise<void> {
  // The open chat stays in the list, also once it is answered.
  const seen: string[] = [];
  for (;;) {
    const left = await page
      .waitForFunction(
        (ids) => {
          const links = [...document.querySelectorAll<HTMLAnchorElement>(".chats a.chat-row")];
          const others = links
            .map(({ pathname }) => pathname.split("/").at(-1) ?? "")
            .filter((id) => !ids.includes(id));
          return others.length > 0 && others;
        },
        seen,
        { timeout: PATIENCE_MS },
      )
      .then(
        (found) => found.jsonValue(),
        () => [],
      );
    if (left === false || left.length === 0) {
      if (done.length === CHATS || page.isClosed()) return;
      continue;
    }
    // Each begins elsewhere in the list, and often at the chat of another.
    const chatId = left[Math.min(PEOPLE.indexOf(person) * 2, left.length - 1)] ?? "";
    seen.push(chatId);
    if (!(await opens(page, chatId))) {
      // Somebody else took it, so it left the list. If it is still there, the click was late: again.
      if ((await rowOf(page, chatId).count()) > 0) seen.pop();
      continue;
    }
    await whose(page).waitFor();
    if (!(await take(page, person))) continue;
    await answer(page, person);
    done.push({ chatId, person });
  }
}

/** A customer writes in a new chat. @returns the chat's id */
async function arrive(desk: Desk, number: number): Promise<string> {
  const { id, address } = await desk.chat(`Customer ${number}`);
  await desk.writes(address, `Question ${number}`);
  return id;
}

test("three people answer the 60 chats of a day: each is taken, noted and answered once, and none is forgotten", async () => {
  const desk = await openDesk();
  const came: string[] = [];
  for (let number = 0; number < AT_ONCE; number++) came.push(await arrive(desk, number));
  const pages = await Promise.all(
    PEOPLE.map((person) => openAsMember(browser, desk, [...PRESETS.agent], screenOf(desk, "inbox"), person)),
  );
  for (const page of pages) {
    await page.getByRole("button", { name: "Unanswered" }).click();
    await page.getByLabel("Whose chats").selectOption({ label: "Nobody’s" });
  }
  const done: Entry[] = [];
  const working = Promise.all(pages.map((page, index) => work(page, PEOPLE[index] ?? "", done)));
  for (let number = AT_ONCE; number < CHATS; number++) came.push(await arrive(desk, number));
  await working;
  // The people's own log: each chat once.
  expect(done.map(({ chatId }) => chatId).toSorted()).toEqual(came.toSorted());
  expect(new Set(done.map(({ person }) => person))).toEqual(new Set(PEOPLE));
  // What is stored says the same.
  const { members } = await desk.api("GET", "/members?limit=100");
  const idOf = (person: string) => members.find(({ name }: { name: string }) => name === person).id;
  for (const { chatId, person } of done) {
    const { chat } = await desk.api("GET", `/chats/${chatId}`);
    expect([chat.assigneeId, chat.unansweredSince], chatId).toEqual([idOf(person), null]);
    const { messages } = await desk.api("GET", `/chats/${chatId}/messages`);
    const sent = messages.filter(({ direction }: { direction: string }) => direction === "OUTBOUND");
    expect(sent, chatId).toMatchObject([{ text: `Hello from ${person}`, senderId: idOf(person) }]);
    const { notes } = await desk.api("GET", `/chats/${chatId}/notes`);
    expect(notes, chatId).toMatchObject([{ content: `${person} has this one`, author: { id: idOf(person) } }]);
  }
  for (const page of pages) await page.context().close();
}, 480_000);
