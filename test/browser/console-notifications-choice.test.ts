import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { openDesk } from "./console.ts";
import { actsOf, CANARY, hasTitle, openMember, shown, writes } from "./console-notifications.ts";
import { stopTimers } from "./disturb.ts";

const desk = await openDesk();
const { assign, note } = actsOf(desk);

let teams = 0;

/** A page whose person was just given one of three chats, which are a colleague's, nobody's and the person's. */
async function openThree() {
  const n = ++teams;
  const [other, nobodys, mine] = [
    await desk.chat(`Ola Other ${n}`),
    await desk.chat(`Nora Nobody ${n}`),
    await desk.chat(`Mia Mine ${n}`),
  ];
  const { page, told, id } = await openMember(desk);
  await assign(other.id, desk.organization.memberId);
  await assign(mine.id, id);
  await expect.poll(() => shown(told).length).toBe(1);
  const [given] = told.notifications.splice(0);
  let rounds = 0;
  /** All three contacts write, the person's first. */
  const allWrite = async () => {
    rounds++;
    await writes(page, desk, `Mia Mine ${n}`, mine, `Hello ${rounds} of mine`);
    await writes(page, desk, `Ola Other ${n}`, other, `Hello ${rounds} of another`);
    await writes(page, desk, `Nora Nobody ${n}`, nobodys, `Hello ${rounds} of nobody`);
  };
  /** The contacts of whom the person is told. */
  const tells = (contacts: string[]) =>
    expect
      .poll(() => told.notifications.map(({ title }) => title).toSorted())
      .toEqual(contacts.map((contact) => `${contact} ${n}`));
  return { page, told, id, given, nobodys, other, allWrite, tells };
}

async function choose(page: Page, of: string): Promise<void> {
  await page.getByTitle("Your account").click();
  await page.getByRole("menuitem", { name: "Notifications" }).click();
  await page.getByLabel("Tell me about").selectOption({ label: of });
  await page.getByRole("button", { name: "Close" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
}

test("before the first choice: the chats that a colleague gives them", async () => {
  const { given } = await openThree();
  expect(given?.body).toMatch(/gave you this chat · Site$/);
});

test("the screen too says which chat a colleague gives them, and that they are mentioned, and opens it", async () => {
  const { page, id, nobodys, other } = await openThree();
  await stopTimers(page, 5_000);
  const toasts = page.locator(".toasts");
  await assign(other.id, id);
  await toasts.getByText(/^Ola Other \d+: .+ gave you this chat$/).waitFor();
  const open = toasts.getByRole("button", { name: "Open" }).last();
  // A word that is broken has two lines.
  expect((await open.boundingBox())?.height).toBeLessThan(30);
  await note(nobodys.id, [id]);
  await toasts.getByText(/ mentioned you$/).waitFor();
  await open.click();
  await page.waitForURL(new RegExp(nobodys.id));
});

test("before the first choice: messages in their own chats and nobody’s", async () => {
  const { allWrite, tells } = await openThree();
  await allWrite();
  await tells(["Mia Mine", "Nora Nobody"]);
});

test("all chats: messages in a colleague’s too", async () => {
  const { page, allWrite, tells } = await openThree();
  await choose(page, "All chats");
  await allWrite();
  await tells(["Mia Mine", "Nora Nobody", "Ola Other"]);
});

test("mentions: a note for them alone, and nothing of what it says", async () => {
  const { page, told, id, nobodys, other, allWrite, tells } = await openThree();
  await choose(page, "Mentions, and chats I’m given");
  await allWrite();
  await note(other.id, [desk.organization.memberId]);
  await note(nobodys.id, [id]);
  await tells(["Nora Nobody"]);
  expect(shown(told)[0]).toMatch(/^Nora Nobody \d+: .* mentioned you · Site$/);
  expect(shown(told).join()).not.toContain(CANARY);
  await expect.poll(() => page.title()).toMatch(/^\(\d+\) Inbox/);
});

test("nothing: no chat is told or counted", async () => {
  const { page, told, nobodys, allWrite, tells } = await openThree();
  await choose(page, "All chats");
  await allWrite();
  await tells(["Mia Mine", "Nora Nobody", "Ola Other"]);
  await hasTitle(page, "(3) Inbox · Parley");
  told.notifications.length = 0;
  await choose(page, "Nothing");
  await allWrite();
  // The chat that was given still counts for that. Nothing is told of the messages, which are taken in their order.
  await hasTitle(page, "(1) Inbox · Parley");
  await choose(page, "My chats and nobody’s");
  await desk.writes(nobodys.address, "The last");
  await tells(["Nora Nobody"]);
});
