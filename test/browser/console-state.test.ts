import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { openDesk, screenOf } from "./console.ts";
import { log, openChat, openChatAsMember, SOON } from "./console-conversation.ts";
import { stopTimers } from "./disturb.ts";
import { base } from "./running-server.ts";

const desk = await openDesk();
const MEMBER = ["chats:read", "chats:write", "messages:read", "messages:send", "events:read"];

const workOf = async (id: string) => {
  const { state, snoozedUntil, unansweredSince } = (await desk.api("GET", `/chats/${id}`)).chat;
  return { state, isSnoozed: snoozedUntil !== null, isUnanswered: unansweredSince !== null };
};
const row = (page: Page, name: string) => page.getByRole("link", { name: new RegExp(name) });
const isListed = (page: Page, name: string) => row(page, name).count();

/** Shows a list of the menu. */
async function show(page: Page, view: string): Promise<void> {
  await page
    .locator(".chats-head")
    .getByRole("button", { name: /^(More|Snoozed|Closed|All|Scheduled)$/ })
    .click();
  await page.getByRole("menuitem", { name: view, exact: true }).click();
  await page.locator(".chats-head").getByRole("button", { name: view, exact: true }).waitFor();
}

/** Chats of two contacts who wrote, and a page on which the first one's is open. Its offers to undo stay. */
async function twoWaiting(first: string, second: string) {
  const [one, two] = [await desk.chat(first), await desk.chat(second)];
  for (const { address } of [one, two]) await desk.writes(address, `This is ${address}`);
  const page = await openChat(desk, one.id);
  await stopTimers(page, 10_000);
  await log(page).getByText(`This is ${one.address}`).waitFor();
  return { one, two, page };
}

test.for([
  ["closed", "Somebody closed it meanwhile."],
  ["snoozed", "Somebody snoozed it meanwhile."],
] as const)(
  "a snooze of a chat that a colleague has %s meanwhile says so before it is sent",
  async ([state, notice]) => {
    const { one, page } = await twoWaiting(`Sam Snooze ${state}`, `Una Under ${state}`);
    await page.keyboard.press("s");
    const dialog = page.getByRole("dialog", { name: "Snooze the chat" });
    await dialog.waitFor();
    const until = new Date(Date.now() + 86_400_000).toISOString();
    await desk.api("PATCH", `/chats/${one.id}`, { state, ...(state === "snoozed" && { snoozedUntil: until }) });
    await expect.poll(() => dialog.getByRole("alert").textContent(), SOON).toBe(notice);
  },
);

test("c closes a chat: it leaves the inbox once the person goes on, and z brings it back as it was", async () => {
  const { one, two, page } = await twoWaiting("Cleo Closed", "Oda Other");
  await page.keyboard.press("c");
  await page.getByRole("button", { name: "Reopen" }).waitFor();
  expect(await workOf(one.id)).toEqual({ state: "closed", isSnoozed: false, isUnanswered: false });
  await page.locator(".toasts").getByText("Closed", { exact: true }).waitFor();
  // The page has heard of it too, once it hears of what came later.
  await desk.api("POST", `/chats/${two.id}/messages`, { content: "Later" });
  await page
    .getByRole("link", { name: /Oda Other/ })
    .getByText("Later")
    .waitFor();
  // A list that moves under the reader's hand makes people answer the wrong chat.
  expect(await isListed(page, "Cleo Closed")).toBe(1);
  await page.keyboard.press("z");
  await page.getByRole("button", { name: "Close", exact: true }).waitFor();
  await expect.poll(() => workOf(one.id), SOON).toEqual({ state: "open", isSnoozed: false, isUnanswered: true });
  await page.keyboard.press("c");
  await page.getByRole("button", { name: "Reopen" }).waitFor();
  await row(page, "Oda Other").click();
  await page.waitForURL(new RegExp(two.id));
  await row(page, "Cleo Closed").waitFor({ state: "detached" });
  await show(page, "Closed");
  await row(page, "Cleo Closed").click();
  await page.getByRole("button", { name: "Reopen" }).click();
  await page.getByRole("button", { name: "Close", exact: true }).waitFor();
  expect((await workOf(one.id)).state).toBe("open");
});

test("s snoozes a chat until a time, and its contact's message brings it back at once", async () => {
  const { one, page } = await twoWaiting("Sona Snoozed", "Ulla Unmoved");
  await page.keyboard.press("s");
  await page.getByRole("dialog", { name: "Snooze the chat" }).waitFor();
  const until = page.getByLabel("Until");
  await until.fill("2020-01-01T09:00");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByText("Must be in the future.").waitFor();
  await page.getByRole("button", { name: "Tomorrow at 9" }).click();
  await page.getByRole("button", { name: "Snooze", exact: true }).last().click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("heading", { level: 1, name: "Sona Snoozed" }).waitFor();
  await page
    .getByRole("banner")
    .or(page.locator(".conversation-head"))
    .getByText(/^Back in/)
    .waitFor();
  // The contact still waits.
  expect(await workOf(one.id)).toEqual({ state: "snoozed", isSnoozed: true, isUnanswered: true });
  await row(page, "Ulla Unmoved").click();
  await row(page, "Sona Snoozed").waitFor({ state: "detached" });
  await show(page, "Snoozed");
  await row(page, "Sona Snoozed").waitFor();
  expect(await isListed(page, "Ulla Unmoved")).toBe(0);
  await desk.writes(one.address, "Are you there?");
  await row(page, "Sona Snoozed").waitFor({ state: "detached" });
  expect((await workOf(one.id)).state).toBe("open");
});

test("a snooze that ends brings its chat back to the open page", async () => {
  const { two, page } = await twoWaiting("Ida Idle", "Bea Back");
  const snooze = (ms: number) =>
    desk.api("PATCH", `/chats/${two.id}`, { state: "snoozed", snoozedUntil: new Date(Date.now() + ms).toISOString() });
  // The page shows it first, however long that takes.
  await snooze(86_400_000);
  await row(page, "Bea Back").waitFor({ state: "detached" });
  await snooze(10_000);
  await row(page, "Bea Back").waitFor();
  expect((await workOf(two.id)).state).toBe("open");
});

test("the number of unanswered chats is the length of their list: a snoozed one is in neither", async () => {
  const own = await openDesk("Counters");
  const chats = [await own.chat("Ada One"), await own.chat("Eve Two")];
  for (const { address } of chats) await own.writes(address, "Hello");
  const page = await openChat(own, chats[0]?.id ?? "");
  await page.getByRole("button", { name: "Unanswered 2" }).waitFor();
  await own.api("PATCH", `/chats/${chats[1]?.id}`, {
    state: "snoozed",
    snoozedUntil: new Date(Date.now() + 86_400_000).toISOString(),
  });
  await page.getByRole("button", { name: "Unanswered 1" }).click();
  await page.locator(".chat-row").first().waitFor();
  await expect.poll(() => page.locator(".chat-row").allTextContents()).toEqual([expect.stringContaining("Ada One")]);
});

test("the number of unanswered chats follows an answer by a key, and its undo, which are no events", async () => {
  const own = await openDesk("Answers");
  const chats = [await own.chat("Ada One"), await own.chat("Eve Two")];
  for (const { address } of chats) await own.writes(address, "Hello");
  const page = await openChat(own, chats[0]?.id ?? "");
  await stopTimers(page, 10_000);
  // All is counted again twelve seconds after the stream has begun.
  await stopTimers(page, 12_000);
  await page.reload();
  await page.getByRole("button", { name: "Unanswered 2" }).waitFor();
  await page.getByRole("button", { name: "Mark as answered" }).waitFor();
  await page.keyboard.press("e");
  await page.getByRole("button", { name: "Unanswered 1" }).waitFor();
  await page.keyboard.press("z");
  await page.getByRole("button", { name: "Unanswered 2" }).waitFor();
});

test("the number of unanswered chats is read again with a list, because a colleague’s “answered” is no event", async () => {
  const own = await openDesk("Colleagues");
  const chats = [await own.chat("Ada One"), await own.chat("Eve Two")];
  for (const { address } of chats) await own.writes(address, "Hello");
  const page = await openChat(own, chats[0]?.id ?? "");
  let counts = 0;
  page.on("response", (response) => {
    if (/\/chats\?.*\blimit=1$/.test(response.url())) counts++;
  });
  // All is counted again twelve seconds after the stream has begun.
  await stopTimers(page, 12_000);
  await page.reload();
  // The page counts as it opens, and soon after.
  await expect.poll(() => counts).toBeGreaterThan(1);
  await page.getByRole("button", { name: "Unanswered 2" }).waitFor();
  await own.api("POST", `/chats/${chats[1]?.id}/answered`);
  await page.getByRole("button", { name: /^Unanswered/ }).click();
  await page.getByRole("button", { name: "Unanswered 1" }).waitFor();
});

test("a chat that a colleague marked as answered says so to who opens it", async () => {
  const { two, page } = await twoWaiting("Cora Current", "Omar Opened");
  await desk.api("POST", `/chats/${two.id}/answered`);
  await row(page, "Omar Opened").click();
  await page.getByRole("button", { name: "Mark as unanswered" }).waitFor();
});

/** A page of a chat whose contact has just written: not two seconds ago, however long the test takes. */
async function justWritten(name: string) {
  const { id, address } = await desk.chat(name);
  await desk.writes(address, "First");
  const page = await openChat(desk, id);
  await stopTimers(page, 2_000);
  await page.goto(`${base}${screenOf(desk, `inbox/${id}`)}`);
  await log(page).getByText("First").waitFor();
  await desk.writes(address, "One more thing");
  await log(page).getByText("One more thing").waitFor();
  return { id, page };
}

const NEWER = "There are newer messages. Read them, and try again.";

test.each([
  { key: "c", act: "closes" },
  { key: "e", act: "marks as answered" },
])("a chat that the contact wrote in a moment ago stays, whoever $act it", async ({ key }) => {
  const { id, page } = await justWritten(`Mia Moment ${key}`);
  await page.keyboard.press(key);
  await page.locator(".toasts").getByText(NEWER).waitFor();
  expect(await workOf(id)).toEqual({ state: "open", isSnoozed: false, isUnanswered: true });
});

test("the dialog that snoozes says so too", async () => {
  const { id, page } = await justWritten("Sia Snoozing");
  await page.keyboard.press("s");
  await page.getByRole("dialog").getByLabel("Until").press("Enter");
  await page.getByRole("dialog").getByText(NEWER).waitFor();
  expect((await workOf(id)).state).toBe("open");
});

test("a person's own message is known to them: they send, and close at once", async () => {
  const { id, address } = await desk.chat("Ona Own");
  await desk.writes(address, "Thanks!");
  const page = await openChatAsMember(desk, id, MEMBER, "Max");
  await stopTimers(page, 2_000);
  await page.goto(`${base}${screenOf(desk, `inbox/${id}`)}`);
  await log(page).getByText("Thanks!").waitFor();
  await page.getByLabel("Message", { exact: true }).fill("You are welcome.");
  await page.keyboard.press("Control+Enter");
  await log(page).getByText("You are welcome.").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("c");
  await page.getByRole("button", { name: "Reopen" }).waitFor();
  expect((await workOf(id)).state).toBe("closed");
});

test("in an open chat, g and then s goes to the scheduled messages, and snoozes nothing", async () => {
  const { id } = await desk.chat("Gil Goes");
  const page = await openChat(desk, id);
  // The second key counts for a second, so both come at once.
  await page.evaluate(() => {
    for (const key of ["g", "s"]) document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  });
  await page.getByRole("heading", { level: 1, name: "Scheduled" }).waitFor();
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
});

test("who may not change chats sees where the work stands, and has no keys for it", async () => {
  const { id } = await desk.chat("Ron Reader");
  await desk.api("PATCH", `/chats/${id}`, { state: "closed" });
  const page = await openChatAsMember(desk, id, ["chats:read", "messages:read", "messages:send", "events:read"], "Rea");
  await page.locator(".conversation-head").getByText("Closed").waitFor();
  await expect.poll(() => page.getByRole("button", { name: "Reopen" }).count()).toBe(0);
  await page.keyboard.press("o");
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  await expect.poll(() => page.getByRole("dialog").getByText("Reopen the chat").count()).toBe(0);
  expect((await workOf(id)).state).toBe("closed");
});
