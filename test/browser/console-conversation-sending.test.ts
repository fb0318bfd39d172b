import { beforeAll, expect, onTestFinished, test } from "vitest";
import { type Channel, createChannel, createChat } from "../support/world/factories.ts";
import { type Desk, openAsMember, openDesk, screenOf, withUndo } from "./console.ts";
import {
  chooseSending,
  log,
  messageBox,
  messagesOf,
  openChat,
  send,
  sendLines,
  textOfTarget,
  whatsAppChat,
} from "./console-conversation.ts";
import { intercept } from "./disturb.ts";
import { browser } from "./file-browser.ts";

let desk: Desk;
let telegram: Channel;

beforeAll(async () => {
  desk = await openDesk();
  const credentials = { botToken: "123456:a-token-of-this-test" };
  telegram = await createChannel(desk.organization, { kind: "telegram", credentials });
});

/** The dialog that sends a text later, with a time that has passed. */
async function openPast(name: string) {
  const chat = await desk.chat(name);
  const page = await openChat(desk, chat.id);
  await messageBox(page).fill("Good morning");
  await chooseSending(page, "Send later…");
  const dialog = page.getByRole("dialog", { name: "Send later" });
  await dialog.getByLabel("Send at").fill("2020-01-01T09:00");
  return { chat, page, dialog };
}

test("a time for “Send later” that has passed is said", async () => {
  const { dialog } = await openPast("Pia Past");
  await dialog.getByText("This time has passed.").waitFor();
});

test("a message can’t be scheduled for a time that has passed", async () => {
  const { dialog } = await openPast("Paul Past");
  await dialog.getByRole("button", { name: "Send now" }).waitFor();
  await expect.poll(() => dialog.getByRole("button", { name: "Schedule" }).count()).toBe(0);
});

test("“Send now” sends at once what was for a time that has passed", async () => {
  const { chat, page, dialog } = await openPast("Pam Past");
  await dialog.getByRole("button", { name: "Send now" }).click();
  await log(page).getByText("Good morning").waitFor();
  await expect.poll(() => messagesOf(desk, chat.id)).toMatchObject([{ text: "Good morning" }]);
  const [message] = await messagesOf(desk, chat.id);
  expect(message.scheduledAt).toBeUndefined();
});

/** The dialog that opens a chat, after it refused an address. */
async function openWrongAddress(name: string) {
  const chat = await desk.chat(name);
  const page = await openChat(desk, chat.id);
  await page.getByRole("button", { name: "New chat" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Address").fill("web_nobody");
  await dialog.getByRole("button", { name: "Open the chat" }).click();
  return dialog;
}

test("what is wrong with the address of a new chat is said below the field", async () => {
  const dialog = await openWrongAddress("Fia Fault");
  await dialog.getByText(/^Must be well-formed text/).waitFor();
  await expect.poll(() => dialog.textContent()).not.toContain("contact.address");
});

test("the field with the wrong address of a new chat takes the keys", async () => {
  const dialog = await openWrongAddress("Fay Fault");
  await dialog.getByText(/^Must be/).waitFor();
  await expect
    .poll(() => dialog.getByLabel("Address").evaluate((field) => field === document.activeElement))
    .toBe(true);
});

/** The dialog that sends a text later, after it refused the time until which it makes sense. */
async function openTooLate(name: string) {
  const chat = await desk.chat(name);
  const page = await openChat(desk, chat.id);
  await messageBox(page).fill("Too late");
  await chooseSending(page, "Send later…");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Not after").fill("2020-01-01T09:00");
  await dialog.getByRole("button", { name: "Schedule" }).click();
  await dialog.getByText(/^Must be/).waitFor();
  return page;
}

test("what is wrong with the end of a scheduled message is said below the field", async () => {
  await openTooLate("Flo Fault");
});

test("a message that could not be scheduled stays in its box", async () => {
  const page = await openTooLate("Fred Fault");
  await expect.poll(() => messageBox(page).inputValue()).toBe("Too late");
});

/** A page that was told that somebody answered meanwhile, below 20 messages. */
async function openAnswered(name: string) {
  const chat = await desk.chat(name);
  await sendLines(desk, chat.id, 20);
  const page = await openChat(desk, chat.id, { isDeaf: true });
  await log(page).getByText("Line 20").waitFor();
  await send(desk, chat.id, { content: "The last word" });
  await messageBox(page).fill("Me too");
  await messageBox(page).press("Control+Enter");
  await page.getByText("Ann answered meanwhile.").waitFor();
  return page;
}

test("the notice that somebody answered meanwhile names the person", async () => {
  const page = await openAnswered("Nia Notice");
  await page.getByText("Ann answered meanwhile. Your message was not sent.").waitFor();
});

test("the notice that somebody answered meanwhile hides no message", async () => {
  const page = await openAnswered("Noa Notice");
  const answer = log(page).getByText("The last word");
  await expect
    .poll(async () => {
      const [shown, within] = await Promise.all([answer.boundingBox(), log(page).boundingBox()]);
      return shown && within && shown.y + shown.height <= within.y + within.height;
    })
    .toBe(true);
});

/** A page with a failed message that was sent again. Telegram needs a file, so the message fails each time. */
async function openSentAgain(address: string, name: string) {
  const { id } = await createChat(telegram, { contact: { address, name } });
  await send(desk, id, { content: "A picture", type: "IMAGE" });
  const page = await openChat(desk, id);
  const failed = log(page).getByRole("article").first();
  await failed.getByRole("button", { name: "Send again" }).click();
  const link = failed.getByRole("link", { name: "Sent again as message 2" });
  await link.waitFor();
  return { page, failed, link };
}

test("a failed message can be sent again once", async () => {
  const { failed } = await openSentAgain("4711", "Flo Fails");
  await expect.poll(() => failed.getByRole("button", { name: "Send again" }).count()).toBe(0);
});

test("a failed message leads to the message that sends it again", async () => {
  const { page, link } = await openSentAgain("4712", "Fia Fails");
  await link.click();
  await expect.poll(() => textOfTarget(page)).toContain("A picture");
});

test("a failed message is known as sent again when the page is loaded again", async () => {
  const { page, link } = await openSentAgain("4713", "Fred Fails");
  await page.reload();
  await link.waitFor();
});

test.each([
  ["can be canceled while it is certain that nothing was sent", "retry", 1],
  ["can’t be canceled once it may have been sent", "unknown", 0],
] as const)("a waiting message %s", async (_what, outcome, count) => {
  const { id } = await whatsAppChat(desk, `491555000000${count}`, "Cal Cancel");
  await send(desk, id, { content: "Waits" });
  const page = await openChat(desk, id);
  const attempt = { number: 1, startedAt: new Date().toISOString(), durationMs: 85, code: null, message: "No answer" };
  await intercept(page, /\/attempts$/, (route) =>
    route.fulfill({ json: { attempts: [{ ...attempt, outcome }], dropped: 0, nextAttemptAt: null } }),
  );
  await log(page).getByText("Waiting").click();
  await page.getByText("No answer", { exact: true }).waitFor();
  await expect.poll(() => page.getByRole("button", { name: "Cancel it" }).count()).toBe(count);
});

test("a send in a web chat goes out at once by default", async () => {
  const chat = await desk.chat("Una Undo");
  const page = await openChat(desk, chat.id);
  await messageBox(page).fill("At once");
  await messageBox(page).press("Control+Enter");
  await log(page).getByText("At once").waitFor();
  await expect.poll(() => messagesOf(desk, chat.id)).toMatchObject([{ text: "At once" }]);
  const [message] = await messagesOf(desk, chat.id);
  expect(message.scheduledAt).toBeUndefined();
});

test("a send in a web chat waits as long as the person chose", async () => {
  const chat = await desk.chat("Uma Undo");
  const page = await openChat(desk, chat.id);
  await chooseSending(page, "Time to undo…");
  await page.getByLabel("In web chats").selectOption("10 seconds");
  await page.reload();
  await messageBox(page).fill("With time");
  const stored = page.waitForResponse((one) => one.request().method() === "POST" && one.url().endsWith("/messages"));
  const before = await page.evaluate(() => Date.now());
  await messageBox(page).press("Control+Enter");
  const { message } = await (await stored).json();
  expect(Date.parse(message.scheduledAt)).toBeGreaterThanOrEqual(before + 10_000);
});

test("a click on “Undo” puts the text back into its box", async () => {
  const chat = await desk.chat("Ugo Undo");
  const page = await openChat(desk, chat.id, withUndo());
  await messageBox(page).fill("With time");
  await messageBox(page).press("Control+Enter");
  await page.getByRole("button", { name: "Undo (Esc)" }).click();
  await expect.poll(() => messageBox(page).inputValue()).toBe("With time");
});

/** The inbox of a member who may send and not read, with a chat whose contact wrote. */
async function openUnreadable(name: string) {
  const chat = await desk.chat(name);
  await desk.writes(chat.address, "A secret");
  const page = await openAsMember(browser, desk, ["chats:read", "messages:send"], screenOf(desk, "inbox"));
  onTestFinished(() => page.context().close());
  const row = page.getByRole("link", { name: new RegExp(name) });
  await row.waitFor();
  return { chat, page, row };
}

test("the list tells who may not read messages so", async () => {
  const { row } = await openUnreadable("Rex Unread");
  await row.getByText("You can’t read messages").waitFor();
});

test("a conversation tells who may not read messages which permission is missing, and not as a failure", async () => {
  const { page, row } = await openUnreadable("Ria Unread");
  await row.click();
  await log(page).getByText("messages:read").waitFor();
  await expect.poll(() => page.getByRole("alert").count()).toBe(0);
});

test("who may not read messages can send one", async () => {
  const { chat, page, row } = await openUnreadable("Roy Unread");
  await row.click();
  await messageBox(page).fill("Hello");
  await messageBox(page).press("Control+Enter");
  await expect.poll(() => messageBox(page).inputValue()).toBe("");
  expect(await messagesOf(desk, chat.id)).toMatchObject([{ text: "A secret" }, { text: "Hello" }]);
});
