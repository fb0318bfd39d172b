import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { createKey } from "../support/world/factories.ts";
import { type Desk, openAsMember, openConsole, openDesk, screenOf } from "./console.ts";
import { log, messageBox, openChat, openChatAsMember, SOON } from "./console-conversation.ts";
import { openMember, row, shown } from "./console-notifications.ts";
import { stopTimers } from "./disturb.ts";
import { browser } from "./file-browser.ts";

const MEMBER = ["chats:read", "chats:write", "messages:read", "messages:send", "events:read", "channels:read"];

/** A desk whose channel has a bot, which has all chats that begin. */
async function openBotDesk(name: string): Promise<Desk & { setBot: (bot: object | null) => Promise<unknown> }> {
  const desk = await openDesk(name);
  const permissions = ["chats:read", "chats:write", "messages:read", "messages:send"];
  const key = await createKey(desk.organization, { permissions });
  const setBot = (bot: object | null) => desk.operator("PATCH", `/channels/${desk.channel.id}`, { settings: { bot } });
  await setBot({ keyId: key.id, handOverAfterSeconds: 3_600 });
  return { ...desk, setBot };
}

const workOf = async (desk: Desk, id: string) => {
  const { handler, state, unansweredSince } = (await desk.api("GET", `/chats/${id}`)).chat;
  return { handler, state, isUnanswered: unansweredSince !== null };
};
const handOver = (desk: Desk, id: string, to: string) => desk.api("POST", `/chats/${id}/handover`, { to });
const head = (page: Page) => page.locator(".conversation-head");
const takeOver = (page: Page) => head(page).getByRole("button", { name: "Take over" });
const says = (page: Page, text: string) => page.locator(".toasts").getByText(text);

async function showBots(page: Page): Promise<void> {
  await page
    .locator(".chats-head")
    .getByRole("button", { name: /^(More|All)$/ })
    .click();
  await page.getByRole("menuitem", { name: "With the bot" }).click();
}

test("the bot's chats are on a list of their own, and come to people live with the handover", async () => {
  const desk = await openBotDesk("Listers");
  const [first, second] = [await desk.chat("Bo First"), await desk.chat("Bea Second")];
  for (const { address } of [first, second]) await desk.writes(address, "Hello");
  await handOver(desk, first.id, "people");
  const page = await openChat(desk, first.id);
  await page.getByRole("button", { name: "Unanswered 1" }).waitFor();
  await row(page, "Bo First").waitFor();
  await expect.poll(() => row(page, "Bea Second").count()).toBe(0);
  await handOver(desk, second.id, "people");
  await row(page, "Bea Second").waitFor();
  await page.getByRole("button", { name: "Unanswered 2" }).waitFor();
  await handOver(desk, second.id, "bot");
  await row(page, "Bea Second").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Unanswered 1" }).waitFor();
  await showBots(page);
  await row(page, "Bea Second").waitFor();
  await handOver(desk, second.id, "people");
  await row(page, "Bea Second").waitFor({ state: "detached" });
});

test("a person takes a chat over by the button, gives it back by z, and takes it over by h", async () => {
  const desk = await openBotDesk("Takers");
  const { id, address } = await desk.chat("Tom Taken");
  await desk.writes(address, "Hello");
  const page = await openChatAsMember(desk, id, MEMBER, "Mel");
  await stopTimers(page, 10_000);
  await head(page).getByText("With the bot").waitFor();
  await takeOver(page).click();
  await says(page, "Taken over").waitFor();
  await takeOver(page).waitFor({ state: "detached" });
  expect(await workOf(desk, id)).toEqual({ handler: "people", state: "open", isUnanswered: true });
  await head(page).getByRole("button", { name: "Mark as answered" }).waitFor();
  await page.keyboard.press("z");
  await takeOver(page).waitFor();
  expect((await workOf(desk, id)).handler).toBe("bot");
  await page.keyboard.press("h");
  await takeOver(page).waitFor({ state: "detached" });
  expect((await workOf(desk, id)).handler).toBe("people");
});

test("the composer says that a message takes the chat over, and it does", async () => {
  const desk = await openBotDesk("Writers");
  const { id, address } = await desk.chat("Wim Written");
  await desk.writes(address, "Hello");
  const page = await openChatAsMember(desk, id, MEMBER, "Mel");
  const notice = page.getByText("Your message takes it over");
  await notice.waitFor();
  await messageBox(page).fill("A person here");
  await page.keyboard.press("Control+Enter");
  await log(page).getByText("A person here").waitFor();
  await notice.waitFor({ state: "detached" });
  await expect.poll(() => workOf(desk, id), SOON).toEqual({ handler: "people", state: "open", isUnanswered: false });
});

test("closing gives a chat to the bot, and its undo makes it people's and as it was", async () => {
  const desk = await openBotDesk("Closers");
  const { id, address } = await desk.chat("Cleo Closed");
  await desk.writes(address, "Hello");
  await handOver(desk, id, "people");
  await desk.api("POST", `/chats/${id}/answered`);
  const page = await openChat(desk, id);
  await stopTimers(page, 10_000);
  await page.keyboard.press("c");
  await page.getByRole("button", { name: "Reopen" }).waitFor();
  expect((await workOf(desk, id)).handler).toBe("bot");
  await page.getByRole("button", { name: "Undo (z)" }).waitFor();
  await page.keyboard.press("z");
  await page.getByRole("button", { name: "Close", exact: true }).waitFor();
  await expect.poll(() => workOf(desk, id), SOON).toEqual({ handler: "people", state: "open", isUnanswered: false });
});

test("a person hands a chat to the bot from its details, and is told if there is no bot", async () => {
  const desk = await openBotDesk("Handers");
  const { id } = await desk.chat("Hal Handed");
  await handOver(desk, id, "people");
  const page = await openChatAsMember(desk, id, MEMBER, "Mel");
  await page.getByRole("button", { name: "Details", exact: true }).click();
  const answered = page.waitForResponse(/\/handover$/);
  await page.getByRole("button", { name: "Hand to the bot" }).click();
  await answered;
  await takeOver(page).waitFor();
  expect((await workOf(desk, id)).handler).toBe("bot");
  await handOver(desk, id, "people");
  await desk.setBot(null);
  await page.getByRole("button", { name: "Hand to the bot" }).click();
  await says(page, "has no bot").waitFor();
});

test("a chat that the bot has notifies nobody, until it is handed to people", async () => {
  const desk = await openBotDesk("Hearers");
  const [quiet, loud] = [await desk.chat("Quin Quiet"), await desk.chat("Lou Loud")];
  await handOver(desk, loud.id, "people");
  const { page, told } = await openMember(desk);
  await row(page, "Lou Loud").waitFor();
  await desk.writes(quiet.address, "For the bot");
  await desk.writes(loud.address, "For people");
  await expect.poll(() => shown(told)).toEqual(["Lou Loud: New message · Site"]);
  await expect.poll(() => page.title()).toBe("(1) Inbox · Parley");
  await handOver(desk, quiet.id, "people");
  await expect.poll(() => shown(told)[1]).toBe("Quin Quiet: Handed to people · Site");
  await expect.poll(() => page.title()).toBe("(2) Inbox · Parley");
});

test("a channel gets a bot, other seconds, and no bot, on its screen", async () => {
  const desk = await openDesk("Setters");
  const key = await createKey(desk.organization, { name: "Helper", permissions: ["messages:send"] });
  await createKey(desk.organization, { name: "Reader", permissions: ["messages:read"] });
  const botOf = async () => (await desk.api("GET", `/channels/${desk.channel.id}`)).channel.settings.bot;
  const page = await openConsole(browser, screenOf(desk, `channels/${desk.channel.id}`));
  onTestFinished(() => page.context().close());
  const box = page.locator(".box", { has: page.getByRole("heading", { name: "Bot" }) });
  const save = () => page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await box.getByRole("button", { name: "Choose a bot" }).click();
  const choice = page.getByLabel("Key", { exact: true });
  await expect.poll(() => choice.locator("option").allTextContents()).toEqual(["No bot", "Key", "Helper"]);
  await choice.selectOption({ label: "Helper" });
  await save();
  await box.getByText("Helper").waitFor();
  await box.getByText("After 120 seconds without an answer").waitFor();
  expect(await botOf()).toEqual({ keyId: key.id, handOverAfterSeconds: 120 });
  await box.getByRole("button", { name: "Change" }).click();
  await page.getByLabel("Seconds until people get a chat").fill("45");
  await save();
  await box.getByText("After 45 seconds").waitFor();
  await box.getByRole("button", { name: "Change" }).click();
  await choice.selectOption({ label: "No bot" });
  await save();
  await box.getByText("None. People answer all chats.").waitFor();
  expect(await botOf()).toBeUndefined();
});

test("who may not read keys names a bot by its id, and is told if it can be none", async () => {
  const desk = await openDesk("Typers");
  const { id } = await createKey(desk.organization, { permissions: ["messages:send"] });
  const path = screenOf(desk, `channels/${desk.channel.id}`);
  const page = await openAsMember(browser, desk, ["channels:read", "channels:write"], path);
  onTestFinished(() => page.context().close());
  await page.getByRole("button", { name: "Choose a bot" }).click();
  const field = page.getByLabel("Key’s id");
  await field.fill("key_nobody");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Must be the id of a key of the organization").waitFor();
  await field.fill(id);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("After 120 seconds without an answer").waitFor();
});

test("the statistics show what the bot has, and why people got its chats, once a channel has a bot", async () => {
  const desk = await openBotDesk("Counters");
  const [one] = [await desk.chat("Cy Counted"), await desk.chat("Kay Kept")];
  await desk.writes(one.address, "Hello");
  await handOver(desk, one.id, "people");
  const page = await openConsole(browser, screenOf(desk, "statistics"));
  onTestFinished(() => page.context().close());
  const table = page.getByRole("region", { name: "Conversations by channel and member" });
  await table.getByRole("columnheader", { name: "Handed to people" }).waitFor();
  const last = async (name: string) =>
    (await table.getByRole("row", { name }).getByRole("cell").allTextContents()).slice(-2);
  await expect.poll(() => last("Site")).toEqual(["1", "1"]);
  await expect.poll(() => last("Ann")).toEqual(["–", "–"]);
  await page.getByRole("heading", { name: "Handed to people" }).waitFor();
  await page.getByRole("heading", { name: "Time with the bot" }).waitFor();
});
