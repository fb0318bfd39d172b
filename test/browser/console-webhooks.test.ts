import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Endpoint, type WebhookReceiver, webhookReceiver } from "../support/webhook-receiver.ts";
import { type Desk, openConsole, openDesk, screenOf } from "./console.ts";
import { browser } from "./file-browser.ts";
import { base } from "./running-server.ts";
import { violations } from "./violations.ts";

let desk: Desk;
let receiver: WebhookReceiver;

beforeAll(async () => {
  [desk, receiver] = await Promise.all([openDesk(), webhookReceiver()]);
});
afterAll(() => receiver.close());

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

/** Creates a webhook with the console, and opens its screen. */
async function createInConsole(page: Page, endpoint: Endpoint): Promise<string> {
  await page.getByRole("button", { name: "New webhook" }).first().click();
  await page.getByLabel("URL").fill(endpoint.url);
  await page.getByLabel("Description").fill("Order bot");
  await page.getByLabel("message.received").check();
  await button(page, "Create").click();
  await page.getByRole("dialog", { name: "Save the signing secret now" }).waitFor();
  endpoint.secret = await page.locator(".secret").textContent();
  await button(page, "I saved it").click();
  await page.getByRole("heading", { name: "State" }).waitFor();
  return /whk_\w+/.exec(page.url())?.[0] ?? "";
}

async function removeAll(): Promise<void> {
  const { webhooks } = await desk.api("GET", "/webhooks");
  for (const { id } of webhooks) await desk.api("DELETE", `/webhooks/${id}`);
}

test("a webhook is created, pinged, and its failing chat is looked at, skipped and replayed", async () => {
  await removeAll();
  const endpoint = receiver.endpoint();
  const chat = await desk.chat("Gus Late");
  const page = await openConsole(browser, screenOf(desk, "webhooks"));
  await page.getByText("No webhook yet").waitFor();
  const id = await createInConsole(page, endpoint);
  expect(await page.content()).not.toContain(endpoint.secret);
  await button(page, "Ping").click();
  await page.getByText(/The ping took/).waitFor();
  expect(endpoint.calls.map(({ event }) => event.type)).toEqual(["ping"]);
  expect(endpoint.forged).toEqual([]);

  endpoint.answer = () => 422;
  await desk.writes(chat.address, "Do you hear me?");
  const failed = async () => (await desk.api("GET", `/webhooks/${id}/chats/${chat.id}`)).attempts.length;
  await expect.poll(failed).toBeGreaterThan(0);
  await expect.poll(async () => (await desk.api("GET", `/webhooks/${id}`)).webhook.waitingChats).toBe(1);
  await button(page, "Reload").click();
  await page
    .locator("dt", { hasText: "Chats waiting for it" })
    .locator("+ dd")
    .getByText("1", { exact: true })
    .waitFor();
  const retried = page.waitForResponse((response) => response.url().endsWith(`/webhooks/${id}/retry`));
  await button(page, "Retry now").click();
  expect((await retried).status()).toBe(200);
  await page
    .getByRole("link", { name: /^Event \d/ })
    .first()
    .click();
  await page.getByText("message.received").first().waitFor();
  await button(page, "Skip the event").click();
  await page.getByRole("dialog").getByRole("button", { name: "Skip", exact: true }).click();
  await page.getByText("Skipped", { exact: true }).waitFor();
  expect((await desk.api("GET", `/webhooks/${id}/chats/${chat.id}`)).head).toBeNull();

  endpoint.answer = () => 200;
  await page.getByRole("link", { name: "Webhook", exact: true }).click();
  await button(page, "Send again").click();
  await page.getByRole("dialog").getByRole("button", { name: "Send again", exact: true }).click();
  await page.getByText("Done: 1 of 1 events were accepted.").waitFor();
  expect(endpoint.calls.at(-1)?.event).toMatchObject({ type: "message.received", chatId: chat.id });
  await button(page, "Close").last().click();
  await page.context().close();
});

test("a webhook is changed, rotated, disabled, enabled and deleted", async () => {
  await removeAll();
  const endpoint = receiver.endpoint();
  const page = await openConsole(browser, screenOf(desk, "webhooks"));
  const id = await createInConsole(page, endpoint);
  const read = async () => (await desk.api("GET", `/webhooks/${id}`)).webhook;
  expect(await read()).toMatchObject({ types: ["message.received"], channels: null, description: "Order bot" });
  await button(page, "Change").click();
  await page.getByLabel("message.received").uncheck();
  await page.getByLabel("Site", { exact: true }).check();
  await page.getByLabel("Content").selectOption("thin");
  await page.getByLabel("Calls per second").fill("9");
  await button(page, "Save").click();
  await page.getByText("At most 9 per second").waitFor();
  expect(await read()).toMatchObject({ types: null, channels: [desk.channel.id], payload: "thin", perSecond: 9 });
  await button(page, "More actions").click();
  await page.getByRole("menuitem", { name: "Rotate the secret" }).click();
  await button(page, "Rotate").click();
  await expect.poll(() => page.locator(".secret").textContent()).not.toBe(endpoint.secret);
  await button(page, "I saved it").click();
  await page.getByText("The old secret ends").waitFor();
  await button(page, "Disable").click();
  await page.getByRole("dialog").getByRole("button", { name: "Disable" }).click();
  await page.getByText("The operator disabled it.").waitFor();
  await button(page, "Enable").click();
  await page.getByRole("dialog").getByRole("button", { name: "Enable" }).click();
  await page.getByText("Enabled", { exact: true }).waitFor();
  expect((await read()).state).not.toBe("disabled");
  await button(page, "More actions").click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("textbox").fill(endpoint.url.replace("http://", ""));
  await button(page, "Delete the webhook").click();
  await page.getByText("No webhook yet").waitFor();
  await page.context().close();
});

test("an address that may not be called is refused at the form, and what was entered stays", async () => {
  const page = await openConsole(browser, screenOf(desk, "webhooks"));
  await page.getByRole("button", { name: "New webhook" }).first().click();
  await page.getByLabel("URL").fill("https://user:secret@shop.example/parley");
  await button(page, "Create").click();
  await page.getByText(/^Must/).first().waitFor();
  await expect.poll(() => page.getByLabel("URL").inputValue()).toBe("https://user:secret@shop.example/parley");
  await page.context().close();
});

test.for((["light", "dark"] as const).flatMap((colorScheme) => [320, 1280].map((width) => ({ colorScheme, width }))))(
  "the screens of webhooks have no accessibility violations: $colorScheme, $width px",
  async ({ colorScheme, width }) => {
    await removeAll();
    const endpoint = receiver.endpoint();
    endpoint.answer = () => 503;
    const { webhook } = await desk.api("POST", "/webhooks", { url: endpoint.url });
    await desk.api("POST", `/webhooks/${webhook.id}/ping`, {});
    const chat = await desk.chat("Hal Seen");
    const page = await openConsole(browser, screenOf(desk, "webhooks"), {
      colorScheme,
      viewport: { width, height: 700 },
    });
    await page.getByText("Not verified yet").waitFor();
    expect(await violations(page)).toEqual([]);
    await page.goto(`${base}${screenOf(desk, `webhooks/${webhook.id}`)}`);
    await page.getByRole("table").waitFor();
    expect(await violations(page)).toEqual([]);
    await button(page, "Change").click();
    await page.getByRole("dialog").getByLabel("Site", { exact: true }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.goto(`${base}${screenOf(desk, `webhooks/${webhook.id}/${chat.id}`)}`);
    await page.getByText("Pending events").waitFor();
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  },
);
