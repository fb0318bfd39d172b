import { expect, test } from "vitest";
import { AGENT, openDesk } from "./console.ts";
import { log, messageBox, messagesOf, openChat, openChatAsMember, send } from "./console-conversation.ts";
import { notice, putIn, selection, textOpener } from "./console-reply-fixtures.ts";

const desk = await openDesk();
await desk.api("POST", "/replies", {
  name: "Refund",
  content: "We refund {{metadata.amount}} to {{metadata.account}}.",
});
await desk.api("POST", "/replies", { name: "Bye", content: "Bye {{contact.name|and thank you}}. {{member.name}}" });
const openText = textOpener(desk);

test("the name of a member that contacts see is filled in, and the words of what has no value", async () => {
  const { chat } = await desk.api("POST", "/chats", {
    channelId: desk.channel.id,
    contact: { address: "visitor-nameless" },
  });
  const page = await openChatAsMember(desk, chat.id, AGENT, "Mel Member");
  await putIn(page, "Bye");
  await expect.poll(() => messageBox(page).inputValue()).toBe("Bye and thank you. Mel Member");
});

test("the first placeholder without a value is selected, and what is typed takes its place", async () => {
  const { page } = await openText("Rita Refund", "Hi. ");
  await putIn(page, "Refund");
  await expect.poll(() => selection(page)).toEqual(["Hi. We refund ", "{{metadata.amount}}"]);
  await page.keyboard.type("20 €");
  await expect.poll(() => messageBox(page).inputValue()).toBe("Hi. We refund 20 € to {{metadata.account}}.");
});

test("a send asks once about a placeholder that nobody filled, and selects it", async () => {
  const { chat, page } = await openText("Ona Once", "We refund 20 € to {{metadata.account}}.");
  await messageBox(page).press("Control+Enter");
  await notice(page).getByText("{{metadata.account}} is not filled in. Your message was not sent.").waitFor();
  await expect.poll(() => selection(page)).toEqual(["We refund 20 € to ", "{{metadata.account}}"]);
  expect(await messagesOf(desk, chat.id)).toEqual([]);
  await page.keyboard.press("Control+Enter");
  await log(page).getByText("We refund 20 € to {{metadata.account}}.").waitFor();
  await expect.poll(() => notice(page).count()).toBe(0);
});

test("a text that was filled in after the question goes out without another one", async () => {
  const { page } = await openText("Fay Filled", "To {{metadata.account}}.");
  await messageBox(page).press("Control+Enter");
  await notice(page).waitFor();
  await page.keyboard.type("Rome");
  await expect.poll(() => notice(page).count()).toBe(0);
  await page.keyboard.press("Control+Enter");
  await log(page).getByText("To Rome.").waitFor();
});

test("“Send anyway” sends the placeholder, but not across a colleague’s answer", async () => {
  const chat = await desk.chat("Ana Anyway");
  const page = await openChat(desk, chat.id, { isDeaf: true });
  await messageBox(page).fill("To {{metadata.account}}");
  await messageBox(page).press("Control+Enter");
  await notice(page).waitFor();
  await send(desk, chat.id, { content: "I answered" });
  await page.getByRole("button", { name: "Send anyway" }).click();
  await page.getByText("Ann answered meanwhile. Your message was not sent.").waitFor();
  await page.getByRole("button", { name: "Send anyway" }).click();
  await log(page).getByText("To {{metadata.account}}").waitFor();
});

test("a text with choices asks about a placeholder too, and keeps its choices", async () => {
  const { chat, page } = await openText("Cho Choices", "To {{metadata.account}}?");
  await page.getByRole("button", { name: "Send later" }).click();
  await page.getByRole("menuitem", { name: "Send with choices…" }).click();
  const dialog = page.getByRole("dialog", { name: "Send with choices" });
  await dialog.getByLabel("Choices").fill("Yes\nNo");
  await dialog.getByRole("button", { name: "Send" }).click();
  await notice(page).getByRole("button", { name: "Send anyway" }).click();
  await expect.poll(() => log(page).locator(".option").allTextContents()).toEqual(["Yes", "No"]);
  expect(await messagesOf(desk, chat.id)).toMatchObject([{ text: "To {{metadata.account}}?" }]);
});
