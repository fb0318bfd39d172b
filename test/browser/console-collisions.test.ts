import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { openConsole, openDesk, screenOf } from "./console.ts";
import { log, messageBox, messagesOf, openChat, openChatAsMember } from "./console-conversation.ts";
import { holdUp, noteChanges, stopTimers } from "./disturb.ts";
import { browser } from "./file-browser.ts";
import { base } from "./running-server.ts";

/** Two people must not answer the same question, also if the page shows the other one's answer already. */

const desk = await openDesk();

const answers = (chatId: string, content: string) =>
  desk.api("POST", `/chats/${chatId}/messages`, { content, senderId: desk.organization.memberId });

const textsOf = async (chatId: string) => (await messagesOf(desk, chatId)).map(({ text }: { text: string }) => text);

const asks = (page: Page, who = "Ann answered meanwhile.") =>
  page.getByRole("alert").filter({ hasText: who }).waitFor();

test("a colleague’s answer that is on the page since the text was begun asks first, and the next try sends", async () => {
  const chat = await desk.chat("Cara Collides");
  const page = await openChat(desk, chat.id);
  await messageBox(page).fill("We close at six.");
  await answers(chat.id, "We close at five.");
  await log(page).getByText("We close at five.").waitFor();
  const sends = noteChanges(page, /\/messages$/);
  await page.keyboard.press("Control+Enter");
  await asks(page);
  expect(await sends()).toEqual([]);
  await page.keyboard.press("Control+Enter");
  await log(page).getByText("We close at six.").waitFor();
  await page.getByRole("alert").waitFor({ state: "detached" });
  expect((await textsOf(chat.id)).toSorted()).toEqual(["We close at five.", "We close at six."]);
});

test("a text that waited while another chat was open, and the page was loaded again, asks too", async () => {
  const [chat, other] = [await desk.chat("Wim Waits"), await desk.chat("Olaf Other")];
  const page = await openChat(desk, chat.id);
  await messageBox(page).fill("We close at six.");
  await page.goto(`${base}${screenOf(desk, `inbox/${other.id}`)}`);
  await page.getByRole("heading", { level: 1, name: "Olaf Other" }).waitFor();
  await answers(chat.id, "We close at five.");
  await page.goto(`${base}${screenOf(desk, `inbox/${chat.id}`)}`);
  await log(page).getByText("We close at five.").waitFor();
  const sends = noteChanges(page, /\/messages$/);
  await messageBox(page).press("Control+Enter");
  await asks(page);
  expect(await sends()).toEqual([]);
});

test("a template asks for what a colleague answered behind its dialog", async () => {
  const chat = await desk.chat("Tess Template");
  const template = { name: "hours", language: "en", body: "We close at six." };
  await desk.operator("POST", `/organizations/${desk.organization.id}/templates`, template);
  const page = await openChat(desk, chat.id);
  await page.keyboard.press("t");
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: /hours/ }).click();
  await dialog.getByText("We close at six.").waitFor();
  await answers(chat.id, "We close at five.");
  await log(page).getByText("We close at five.").waitFor();
  const sends = noteChanges(page, /\/messages$/);
  await dialog.getByRole("button", { name: "Send", exact: true }).click();
  await asks(page);
  expect(await sends()).toEqual([]);
});

test("what the contact wrote a moment before the send asks first", async () => {
  const chat = await desk.chat("Mo Moment");
  const page = await openChat(desk, chat.id);
  // The moment lasts as long as the test needs.
  await stopTimers(page, 2_000);
  await messageBox(page).fill("You are welcome.");
  await desk.writes(chat.address, "It broke again!");
  await log(page).getByText("It broke again!").waitFor();
  const sends = noteChanges(page, /\/messages$/);
  await page.keyboard.press("Control+Enter");
  await asks(page, "The contact wrote meanwhile.");
  expect(await sends()).toEqual([]);
});

test("what the contact wrote, and the person could read, does not ask", async () => {
  const chat = await desk.chat("Rita Read");
  const page = await openChat(desk, chat.id);
  await page.clock.install();
  await page.reload();
  await messageBox(page).fill("You are welcome.");
  await desk.writes(chat.address, "Thank you");
  await log(page).getByText("Thank you").waitFor();
  // Not `fastForward`: it runs no timer that another one sets on the way.
  await page.clock.runFor(5_000);
  await page.keyboard.press("Control+Enter");
  await log(page).getByText("You are welcome.").waitFor();
  await expect.poll(() => page.getByRole("alert").count()).toBe(0);
});

test("an away message of the service does not ask", async () => {
  const closed = await openDesk("Closed");
  const settings = { hours: { timeZone: "UTC", week: {} }, away: { text: "We are back on Monday." } };
  await closed.operator("PATCH", `/channels/${closed.channel.id}`, { settings });
  const chat = await closed.chat("Abe Away");
  const page = await openChat(closed, chat.id);
  await page.clock.install();
  await page.reload();
  await messageBox(page).fill("You are welcome.");
  await closed.writes(chat.address, "Thank you");
  await log(page).getByText("We are back on Monday.").waitFor();
  await page.clock.runFor(5_000);
  await page.keyboard.press("Control+Enter");
  await log(page).getByText("You are welcome.").waitFor();
  await expect.poll(() => page.getByRole("alert").count()).toBe(0);
});

test("what was sent from here does not ask", async () => {
  const chat = await desk.chat("Ona Own");
  const page = await openChat(desk, chat.id);
  for (const text of ["One", "Two", "Three"]) {
    await messageBox(page).fill(text);
    await page.keyboard.press("Control+Enter");
    await expect.poll(() => messageBox(page).inputValue()).toBe("");
  }
  expect((await textsOf(chat.id)).toSorted()).toEqual(["One", "Three", "Two"]);
  await expect.poll(() => page.getByRole("alert").count()).toBe(0);
});

test("an answer to the message in the list is sent before the conversation is loaded", async () => {
  const chat = await desk.chat("Fay Fast");
  await desk.writes(chat.address, "Is it ready?");
  const page = await openConsole(browser, screenOf(desk, "inbox"));
  onTestFinished(() => page.context().close());
  const release = await holdUp(page.context(), new RegExp(`/chats/${chat.id}/messages\\?`));
  await page.getByRole("link", { name: /Fay Fast.*Is it ready/ }).click();
  await messageBox(page).fill("Yes.");
  await page.keyboard.press("Control+Enter");
  await expect.poll(() => textsOf(chat.id)).toEqual(["Is it ready?", "Yes."]);
  release();
  await log(page).getByText("Yes.").waitFor();
  await expect.poll(() => page.getByRole("alert").count()).toBe(0);
});

test("a send that is refused after the person went on to another chat says whose it was", async () => {
  const [chat, next] = [await desk.chat("Gus Gone"), await desk.chat("Ned Next")];
  const page = await openChat(desk, chat.id, { isDeaf: true });
  await messageBox(page).fill("It is ready.");
  const release = await holdUp(page.context(), new RegExp(`/chats/${chat.id}/messages$`));
  await answers(chat.id, "It is not ready.");
  const isSending = page.waitForRequest((one) => one.method() === "POST" && one.url().endsWith("/messages"));
  await page.keyboard.press("Control+Enter");
  await isSending;
  await page.getByRole("link", { name: /Ned Next/ }).click();
  await page.waitForURL(`**/inbox/${next.id}`);
  release();
  await page.getByText("Your message to Gus Gone was not sent. The chat has newer messages.").waitFor();
  await page.getByRole("link", { name: /Gus Gone.*Draft: It is ready/ }).click();
  await expect.poll(() => messageBox(page).inputValue()).toBe("It is ready.");
  expect(await textsOf(chat.id)).toEqual(["It is not ready."]);
});

test("what the same person sent, perhaps in another tab, does not ask", async () => {
  const chat = await desk.chat("Sia Same");
  const permissions = ["chats:read", "messages:read", "messages:send", "events:read", "members:read"];
  const page = await openChatAsMember(desk, chat.id, permissions, "Sam");
  const { members } = await desk.operator("GET", `/organizations/${desk.organization.id}/members`);
  const { id: senderId } = members.find(({ name }: { name: string }) => name === "Sam");
  await messageBox(page).fill("And close at six.");
  await desk.api("POST", `/chats/${chat.id}/messages`, { content: "We open at nine.", senderId });
  await log(page).getByText("We open at nine.").waitFor();
  await page.keyboard.press("Control+Enter");
  await log(page).getByText("And close at six.").waitFor();
  await expect.poll(() => page.getByRole("alert").count()).toBe(0);
});
