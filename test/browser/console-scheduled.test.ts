import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { openConsole, openDesk, screenOf } from "./console.ts";
import { browser } from "./file-browser.ts";

const desk = await openDesk();

/** A chat's next scheduled message is reported later, and so is the place that a due one takes. */
const REPORTED = { timeout: 90_000, interval: 500 };

async function schedule(chatId: string, content: string, hours: number) {
  const scheduledAt = new Date(Date.now() + hours * 3_600_000).toISOString();
  return (await desk.api("POST", `/chats/${chatId}/messages`, { content, scheduledAt })).message;
}

/** The screen with a chat's scheduled messages, when the list has the chat. */
async function openScheduled(name: string): Promise<Page> {
  const waiting = async () => (await desk.api("GET", "/chats?scheduled=true")).chats;
  await expect
    .poll(async () => (await waiting()).map(({ contact }: { contact: { name: string } }) => contact.name), REPORTED)
    .toContain(name);
  return openConsole(browser, screenOf(desk, "scheduled"));
}

test("scheduled messages are listed by chat; one is moved, one canceled, one sent now", async () => {
  const chat = await desk.chat("Sam Scheduled");
  const [first, second, third] = [
    await schedule(chat.id, "To be moved", 1),
    await schedule(chat.id, "To be canceled", 2),
    await schedule(chat.id, "To be sent", 3),
  ];
  const page = await openScheduled("Sam Scheduled");
  const row = (text: string) => page.getByRole("listitem").filter({ hasText: text });
  const choose = async (text: string, action: string) => {
    await row(text).getByRole("button", { name: "More for this message" }).click();
    await page.getByRole("menuitem", { name: action }).click();
  };
  await choose("To be moved", "An hour later");
  await page.getByText("Moved", { exact: true }).waitFor();
  await choose("To be canceled", "Cancel it");
  await row("To be canceled").waitFor({ state: "detached" });
  await row("To be sent").getByRole("button", { name: "Send now" }).click();
  await row("To be sent").waitFor({ state: "detached" });
  const read = async ({ id }: { id: string }) => (await desk.api("GET", `/chats/${chat.id}/messages/${id}`)).message;
  expect(Date.parse((await read(first)).scheduledAt) - Date.parse(first.scheduledAt)).toBe(3_600_000);
  expect((await read(second)).status).toBe("CANCELED");
  await expect.poll(async () => (await read(third)).seq, REPORTED).toBe(1);
  await page.getByRole("link", { name: "Sam Scheduled" }).click();
  await page.getByRole("heading", { level: 1, name: "Sam Scheduled" }).waitFor();
  await page.context().close();
});

test("a menu stays open while the list of scheduled messages follows a change", async () => {
  const chat = await desk.chat("Mia Menu");
  const first = await schedule(chat.id, "The next one", 1);
  await schedule(chat.id, "The one after it", 2);
  const page = await openScheduled("Mia Menu");
  const row = (text: string) => page.getByRole("listitem").filter({ hasText: text });
  await row("The one after it").getByRole("button", { name: "More for this message" }).click();
  const scheduledAt = new Date(Date.now() + 5.5 * 3_600_000).toISOString();
  await desk.api("PATCH", `/chats/${chat.id}/messages/${first.id}`, { scheduledAt });
  await row("The next one").getByText("in 5 h").waitFor();
  await expect.poll(() => page.getByRole("menuitem", { name: "Cancel it" }).isVisible()).toBe(true);
  await page.keyboard.press("ArrowDown");
  expect(await page.getByRole("menuitem", { name: "At another time" }).evaluate((it) => it.matches(":focus"))).toBe(
    true,
  );
  await page.context().close();
});
