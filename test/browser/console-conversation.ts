import { createHmac } from "node:crypto";
import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { CREDENTIALS, createChannel, createChat } from "../support/world/factories.ts";
import { type Desk, openAsMember, openConsole, screenOf } from "./console.ts";
import { intercept } from "./disturb.ts";
import { browser } from "./file-browser.ts";
import { base } from "./running-server.ts";

interface PageOptions extends BrowserContextOptions {
  /** The page never hears what others do, as on a bad connection. It can still send. */
  isDeaf?: boolean;
}

/** The operator's page of a chat, in a browser of its own. It closes after the test. */
export async function openChat(
  desk: Desk,
  chatId: string,
  { isDeaf = false, ...options }: PageOptions = {},
): Promise<Page> {
  const path = screenOf(desk, `inbox/${chatId}`);
  // A page that hears nothing, until the stream is cut off.
  const page = await openConsole(browser, isDeaf ? "/healthz" : path, options);
  onTestFinished(() => page.context().close());
  if (isDeaf) {
    // Without an answer, the stream is tried again and again, and nothing is asked for in its place.
    await intercept(page.context(), /\/events\/stream/, (route) => route.abort());
    await page.goto(`${base}${path}`);
  }
  await messageBox(page).waitFor();
  return page;
}

/** The page of a chat of a new member, who has these permissions. It closes after the test. */
export async function openChatAsMember(desk: Desk, chatId: string, permissions: string[], name: string): Promise<Page> {
  const page = await openAsMember(browser, desk, permissions, screenOf(desk, `inbox/${chatId}`), name);
  onTestFinished(() => page.context().close());
  await messageBox(page).waitFor();
  return page;
}

export const messageBox = (page: Page) => page.getByLabel("Message", { exact: true });
export const log = (page: Page) => page.getByRole("log", { name: "Messages" });

/** A send takes its place after the five seconds in which it can be undone. */
export const SOON = { timeout: 60_000 };

/** Resolves once the keys of the page go to this field. */
export const hasFocus = (page: Page, field: Locator) => field.and(page.locator(":focus")).waitFor();

/** Chooses from the menu beside the button that sends. */
export async function chooseSending(page: Page, item: string): Promise<void> {
  await page.getByRole("button", { name: "Send later" }).click();
  await page.getByRole("menuitem", { name: item }).click();
}

/** Begins an answer to the message with this text. */
export async function beginReply(page: Page, text: string): Promise<void> {
  await log(page).getByText(text).hover();
  await log(page).getByRole("button", { name: "React or reply" }).click();
  await log(page).getByRole("button", { name: "Reply", exact: true }).click();
  await page.locator(".answered").getByText(text).waitFor();
}

/** The text of the message to which the page led. */
export const textOfTarget = (page: Page) => page.locator("article:target").textContent();

/** Somebody sends with a key of the organization. */
export const send = (desk: Desk, chatId: string, body: object) => desk.api("POST", `/chats/${chatId}/messages`, body);

/** Sends “Line 1”, “Line 2” and so on. */
export async function sendLines(desk: Desk, chatId: string, count: number): Promise<void> {
  for (let n = 1; n <= count; n++) await send(desk, chatId, { content: `Line ${n}` });
}

/** The stored messages of a chat, oldest first. */
export async function messagesOf(desk: Desk, chatId: string) {
  return (await desk.api("GET", `/chats/${chatId}/messages`)).messages.toReversed();
}

/** The newest texts of a chat, oldest first. */
export async function textsOf(desk: Desk, chatId: string): Promise<string[]> {
  const { messages } = await desk.api("GET", `/chats/${chatId}/messages?limit=100`);
  return messages.map(({ text }: { text: string }) => text).reverse();
}

/** The messages of a chat that wait for their time. */
export const scheduledOf = async (desk: Desk, chatId: string) =>
  (await desk.api("GET", `/chats/${chatId}/scheduled`)).messages;

/** A chat on a WhatsApp channel of its own. The network can't be reached, but what the contact does is heard. */
export async function whatsAppChat(desk: Desk, address: string, name: string) {
  const channel = await createChannel(desk.organization, { kind: "whatsapp" });
  const { phoneNumberId, appSecret } = CREDENTIALS.whatsapp;
  const { id } = await createChat(channel, { contact: { address, name } });
  /** What the contact does, as the network tells it. */
  const hears = async (does: object) => {
    const from = { from: address, timestamp: String(Math.floor(Date.now() / 1_000)), ...does };
    const value = { messaging_product: "whatsapp", metadata: { phone_number_id: phoneNumberId }, messages: [from] };
    const body = JSON.stringify({
      object: "whatsapp_business_account",
      entry: [{ id: "1", changes: [{ field: "messages", value }] }],
    });
    const signature = `sha256=${createHmac("sha256", appSecret).update(body).digest("hex")}`;
    const headers = { "X-Hub-Signature-256": signature };
    const answer = await fetch(new URL(new URL(channel.webhook.url).pathname, base), { method: "POST", headers, body });
    expect(answer.status).toBe(200);
  };
  return { id, hears };
}
