import { expect, onTestFinished, test } from "vitest";
import { PRESETS } from "../../src/model/permission.ts";
import { openAsMember, openConsole, openDesk, screenOf } from "./console.ts";
import { log, openChat, send, whatsAppChat } from "./console-conversation.ts";
import { browser } from "./file-browser.ts";

const desk = await openDesk("Words");

test("where nobody ever wrote, nothing is said of a last message", async () => {
  const chat = await whatsAppChat(desk, "15551230001", "Nia Never");
  const page = await openChat(desk, chat.id);
  await page.getByText("The contact has not written yet. Only templates are delivered.").waitFor();
  await chat.hears({ id: "wamid.first", type: "text", text: { body: "Hello" } });
  await log(page).getByText("Hello").waitFor();
  await expect.poll(() => page.getByText("Only templates are delivered.").count()).toBe(0);
});

test("a time that has passed is not in less than a minute", async () => {
  const chat = await desk.chat("Sue Soon");
  const scheduledAt = new Date(Date.now() + 600_000).toISOString();
  await send(desk, chat.id, { content: "Soon", scheduledAt });
  const page = await openChat(desk, chat.id);
  await page.clock.install();
  await page.reload();
  await page.getByText(/Scheduled in \d+ min/).waitFor();
  // The clock stands, so that no other tick comes: they are 30 seconds apart.
  await page.clock.pauseAt(Date.parse(scheduledAt) - 15_000);
  await page.getByText("Scheduled in less than a minute").waitFor();
  await page.clock.runFor(16_000);
  await page.getByText("Scheduled now").waitFor();
  await expect.poll(() => page.getByText("in less than a minute").count()).toBe(0);
});

test("commands for a terminal are for those who make keys for programs, and not for agents", async () => {
  const empty = await openDesk("Empty");
  const agent = await openAsMember(browser, empty, [...PRESETS.agent], screenOf(empty, "scheduled"), "Al");
  onTestFinished(() => agent.context().close());
  await agent.getByRole("heading", { name: "Nothing is scheduled" }).waitFor();
  await expect.poll(() => agent.getByText("Or in a terminal:").count()).toBe(0);
  const operator = await openConsole(browser, screenOf(empty, "scheduled"));
  onTestFinished(() => operator.context().close());
  await operator.getByText("Or in a terminal:").waitFor();
});

test("what is wrong with a field is a sentence below it, which does not repeat the label", async () => {
  const page = await openConsole(browser, screenOf(desk, "channels/new/whatsapp"));
  onTestFinished(() => page.context().close());
  await page.getByLabel("Name").fill("Shop");
  await page.getByLabel("Phone number ID").fill("+1 555");
  await page.getByLabel("Access token").fill("token");
  await page.getByLabel("App secret").fill("secret");
  await page.getByRole("button", { name: "Create the channel" }).click();
  const fault = page.locator(".field", { hasText: "Phone number ID" }).locator(".failed");
  await expect.poll(() => fault.allTextContents()).toEqual([expect.stringMatching(/^Must be .*\.$/)]);
});

test("a webhook has no two parts of one name, and says what it is before a call succeeded", async () => {
  const { webhook } = await desk.api("POST", "/webhooks", { url: "https://shop.example/parley" });
  const page = await openConsole(browser, screenOf(desk, `webhooks/${webhook.id}`));
  onTestFinished(() => page.context().close());
  await page.getByText("Not verified yet").first().waitFor();
  const names = await page.getByRole("heading").allTextContents();
  expect(new Set(names).size).toBe(names.length);
});
