import type { Page, Route } from "playwright-core";
import { expect, test } from "vitest";
import { openDesk } from "./console.ts";
import {
  chooseSending,
  log,
  messageBox,
  messagesOf,
  openChat,
  send,
  textOfTarget,
  whatsAppChat,
} from "./console-conversation.ts";
import { takeOver } from "./disturb.ts";

const desk = await openDesk();

/** A page of a chat in which the contact is offered three choices. */
async function openOffer(name: string) {
  const chat = await desk.chat(name);
  const choices = ["Today", "Tomorrow", "<b>Never</b>"].map((title, n) => ({ type: "reply", id: `slot-${n}`, title }));
  const interactive = { choices, header: "Your order", footer: "Free of charge" };
  const { message } = await send(desk, chat.id, { content: "When may we deliver?", interactive });
  const page = await openChat(desk, chat.id);
  const offer = log(page).getByRole("group", { name: "Choices" }).first();
  await offer.waitFor();
  return { chat, page, offer, message };
}

/** The same, after the contact tapped the second one. */
async function openTapped(name: string) {
  const { chat, page, offer, message } = await openOffer(name);
  await desk.does(chat.address, { type: "message", content: "?", choice: `${message.id}:1` });
  const tap = log(page).getByRole("article").nth(1);
  await tap.waitFor();
  return { page, offer, tap };
}

test("a conversation shows the choices of a message as they were written", async () => {
  const { offer } = await openOffer("Cho Chooses");
  await expect.poll(() => offer.locator(".option").allTextContents()).toEqual(["Today", "Tomorrow", "<b>Never</b>"]);
});

test("a tap marks the choice in an open conversation", async () => {
  const { offer } = await openTapped("Tia Taps");
  await offer.getByText("Tomorrow Chosen").waitFor();
});

test("a tap reads as the title of the choice", async () => {
  const { tap } = await openTapped("Tom Taps");
  await expect.poll(() => tap.locator(".text").textContent()).toBe("Tomorrow");
});

test("a tap leads to the message that offered the choice", async () => {
  const { page, tap } = await openTapped("Tess Taps");
  await tap.getByRole("button", { name: "In reply to: Your organization When may we deliver?" }).click();
  await expect.poll(() => textOfTarget(page)).toContain("Your order");
});

test("a choice that leads to a page is a link", async () => {
  const chat = await desk.chat("Lin Link");
  const page = await openChat(desk, chat.id);
  const link = { type: "link", title: "Track it", url: "https://shop.example/4711" };
  await send(desk, chat.id, { content: "Here it is", interactive: { choices: [link] } });
  await log(page).getByRole("link", { name: "Track it" }).waitFor();
});

/** The dialog that sends a text with choices. */
async function openDialog(page: Page, text: string) {
  await messageBox(page).fill(text);
  await chooseSending(page, "Send with choices…");
  const dialog = page.getByRole("dialog", { name: "Send with choices" });
  await dialog.waitFor();
  return { dialog, preview: dialog.getByRole("region", { name: "Preview" }) };
}

async function openNewDialog(name: string) {
  const chat = await desk.chat(name);
  const page = await openChat(desk, chat.id);
  return { chat, page, ...(await openDialog(page, "When may we call?")) };
}

const TOO_LONG = `Today\n\n ${"x".repeat(25)} `;

test("choices are shown before they go out, each line one", async () => {
  const { dialog, preview } = await openNewDialog("Pia Preview");
  await dialog.getByLabel("Choices").fill(TOO_LONG);
  await expect.poll(() => preview.locator(".option").count()).toBe(2);
});

test("a choice that is too long is said at its field", async () => {
  const { dialog } = await openNewDialog("Lou Long");
  await dialog.getByLabel("Choices").fill(TOO_LONG);
  await dialog.getByRole("button", { name: "Send" }).click();
  await dialog.getByText(/^Must have at most 24 characters/).waitFor();
});

test("choices that were corrected go out", async () => {
  const { page, dialog } = await openNewDialog("Cora Corrects");
  await dialog.getByLabel("Choices").fill(TOO_LONG);
  await dialog.getByRole("button", { name: "Send" }).click();
  await dialog.getByText(/^Must have/).waitFor();
  await dialog.getByLabel("Choices").fill("Today\nTomorrow");
  await dialog.getByRole("button", { name: "Send" }).click();
  await expect.poll(() => log(page).locator(".option").allTextContents()).toEqual(["Today", "Tomorrow"]);
});

test("a text that went out with choices leaves its box", async () => {
  const { page, dialog } = await openNewDialog("Leo Leaves");
  await dialog.getByLabel("Choices").fill("Today\nTomorrow");
  await dialog.getByRole("button", { name: "Send" }).click();
  await log(page).getByText("When may we call?").waitFor();
  await expect.poll(() => messageBox(page).inputValue()).toBe("");
});

/** The dialog in a chat on WhatsApp, which renders choices in other ways. */
async function openWhatsAppDialog(address: string, name: string) {
  const { id } = await whatsAppChat(desk, address, name);
  const page = await openChat(desk, id);
  return { page, ...(await openDialog(page, "Our shops")) };
}

test("choices that WhatsApp shows as a list are told so before", async () => {
  const { dialog } = await openWhatsAppDialog("4915550000077", "Wes Whats");
  await dialog.getByLabel("Choices").fill("One\nTwo\nThree\nFour");
  await dialog.getByText("WhatsApp shows these as a list, which one button opens.").waitFor();
});

const SHOPS = "Paris https://paris.example/a\nRome https://rome.example/";

test("choices that WhatsApp shows as lines of the text are told so before", async () => {
  const { dialog } = await openWhatsAppDialog("4915550000078", "Liv Lines");
  await dialog.getByLabel("Choices").fill(SHOPS);
  await dialog.getByText("WhatsApp shows these as lines of the text.").waitFor();
});

test("choices that WhatsApp shows as lines of the text are shown so before", async () => {
  const { dialog, preview } = await openWhatsAppDialog("4915550000079", "Lia Lines");
  await dialog.getByLabel("Text").fill("Two of our shops");
  await dialog.getByLabel("Choices").fill(SHOPS);
  const lines = "Two of our shops\nParis: https://paris.example/a\nRome: https://rome.example/";
  await expect.poll(() => preview.locator(".text").textContent()).toBe(lines);
});

test("a text that is changed beside its choices is changed in its box", async () => {
  const { page, dialog } = await openWhatsAppDialog("4915550000080", "Cleo Changes");
  await dialog.getByLabel("Text").fill("Two of our shops");
  await expect.poll(() => messageBox(page).inputValue()).toBe("Two of our shops");
});

test("a text that was changed beside its choices leaves its box when it went out", async () => {
  const { page, dialog } = await openWhatsAppDialog("4915550000081", "Otto Out");
  await dialog.getByLabel("Text").fill("Two of our shops");
  await dialog.getByLabel("Choices").fill(SHOPS);
  await dialog.getByRole("button", { name: "Send" }).click();
  await log(page).getByText("Two of our shops").waitFor();
  await expect.poll(() => messageBox(page).inputValue()).toBe("");
});

test("choices that others overtook go out whole, if the person wants so", async () => {
  const chat = await desk.chat("Ovo Overtaken");
  const page = await openChat(desk, chat.id, { isDeaf: true });
  const { dialog } = await openDialog(page, "When may we call?");
  await dialog.getByLabel("Choices").fill("Today\nTomorrow");
  const overtake = async (route: Route) => {
    await send(desk, chat.id, { content: "Somebody else" });
    await route.continue();
  };
  const letThrough = await takeOver(page, /\/messages$/, (route) => {
    letThrough();
    return overtake(route);
  });
  await dialog.getByRole("button", { name: "Send" }).click();
  await page.getByText("Ann answered meanwhile.").waitFor();
  await page.getByRole("button", { name: "Send anyway" }).click();
  await expect.poll(() => log(page).locator(".option").allTextContents()).toEqual(["Today", "Tomorrow"]);
  expect(await messagesOf(desk, chat.id)).toMatchObject([{ text: "Somebody else" }, { text: "When may we call?" }]);
});
