import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type WebhookReceiver, webhookReceiver } from "../support/webhook-receiver.ts";
import { createKey } from "../support/world/factories.ts";
import { type Desk, goByKeys, openDesk } from "./console.ts";
import { browser } from "./file-browser.ts";
import { adminToken, base } from "./running-server.ts";

let desk: Desk;
let receiver: WebhookReceiver;

beforeAll(async () => {
  [desk, receiver] = await Promise.all([openDesk(), webhookReceiver()]);
});
afterAll(() => receiver.close());

const MOST_TABS = 80;
const SOON = { timeout: 60_000 };

/** Presses Tab until a control with this name has the focus. */
async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  for (let tabs = 0; tabs < MOST_TABS; tabs++) {
    const focused = await page.evaluate(() => {
      const element = document.activeElement;
      const label = element?.id ? document.querySelector(`label[for="${CSS.escape(element.id)}"]`)?.textContent : null;
      return (element?.getAttribute("aria-label") ?? label ?? element?.textContent ?? "").trim();
    });
    if (typeof name === "string" ? focused === name : name.test(focused)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`No Tab leads to ${String(name)}`);
}

async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}

const log = (page: Page) => page.getByRole("log", { name: "Messages" });

test("a working day by the keyboard alone: sign in, answer the longest wait, schedule, cancel, rotate a key, send events again", async () => {
  const patient = await desk.chat("Pat Waits");
  const recent = await desk.chat("Ric Recent");
  await desk.writes(patient.address, "I wrote first");
  await desk.writes(recent.address, "I wrote second");
  const template = { name: "thanks", language: "en", body: "Thanks, {{name}}. We look into it." };
  await desk.operator("POST", `/organizations/${desk.organization.id}/templates`, template);
  const endpoint = receiver.endpoint();
  await desk.operator("POST", `/organizations/${desk.organization.id}/webhooks`, { url: endpoint.url });
  const { id: keyId } = await createKey(desk.organization, { name: "Rotated" });
  const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
  await page.goto(`${base}/console`);
  await page.getByText("Sign in as the operator").waitFor();

  await tabTo(page, "Sign in as the operator");
  await press(page, "Enter");
  await tabTo(page, "Operator’s token");
  await page.keyboard.type(adminToken);
  await press(page, "Enter");
  // The list of organizations can be long on the tests' service, so its address is used.
  await page.getByRole("heading", { name: "Organizations" }).waitFor();
  await page.goto(`${base}/console/o/${desk.organization.id}/inbox`);

  await page.locator(".chat-row").first().waitFor();
  await press(page, "u");
  await page.locator(".chat-row").nth(1).waitFor();
  await press(page, "j");
  await log(page).getByText("I wrote first").waitFor();
  await press(page, "t");
  await page.getByRole("textbox", { name: "Find a template" }).waitFor();
  await page.keyboard.type("thanks");
  await page.locator(".choice").first().waitFor();
  await press(page, "Enter");
  await page.getByText("Thanks, Pat. We look into it.").waitFor();
  await press(page, "Enter");
  const texts = async () => {
    const { messages } = await desk.api("GET", `/chats/${patient.id}/messages`);
    return messages.map(({ text }: { text: string }) => text);
  };
  await expect.poll(texts, SOON).toEqual(["Thanks, Pat. We look into it.", "I wrote first"]);
  // Until the dialog closes, it has the keys.
  await page.getByRole("dialog").waitFor({ state: "detached" });

  await press(page, "r");
  await page.keyboard.type("Until tomorrow");
  await tabTo(page, "Send later");
  await press(page, "Enter");
  await page.getByRole("menuitem").first().waitFor();
  await press(page, "Enter");
  await page.getByRole("dialog", { name: "Send later" }).waitFor();
  await tabTo(page, "Tomorrow at 9");
  await press(page, "Enter");
  await tabTo(page, "Schedule");
  await press(page, "Enter");
  await log(page)
    .getByText(/Scheduled in/)
    .waitFor();
  await tabTo(page, "Change this scheduled message");
  await press(page, "Enter");
  await page.getByRole("menuitem", { name: "Cancel it" }).waitFor();
  await press(page, "End", "Enter");
  await log(page)
    .getByText(/Scheduled in/)
    .waitFor({ state: "detached" });
  expect((await desk.api("GET", `/chats/${patient.id}/scheduled`)).messages).toEqual([]);

  await goByKeys(page, "k", "Keys");
  await page.getByRole("link", { name: "Rotated" }).waitFor();
  await tabTo(page, /^Rotated/);
  await press(page, "Enter");
  await page.getByRole("button", { name: "Rotate" }).waitFor();
  await tabTo(page, "Rotate");
  await press(page, "Enter");
  await page.getByRole("dialog").waitFor();
  await tabTo(page, "Rotate");
  await press(page, "Enter");
  await page.locator("code.secret").waitFor();
  await tabTo(page, "I saved it");
  await press(page, "Enter");
  await page.locator("code.secret").waitFor({ state: "detached" });
  const { key } = await desk.operator("GET", `/keys/${keyId}`);
  expect(key.revokedAt).toBeNull();

  await goByKeys(page, "w", "Webhooks");
  const path = new RegExp(`${new URL(endpoint.url).pathname}$`);
  await page.getByRole("link", { name: path }).waitFor();
  await tabTo(page, path);
  await press(page, "Enter");
  await page.getByRole("heading", { name: "State" }).waitFor();
  const known = new Set(endpoint.calls.map(({ event }) => event.id));
  const before = endpoint.calls.length;
  await tabTo(page, "Send again");
  await press(page, "Enter");
  await page.getByRole("dialog", { name: "Send again" }).waitFor();
  // All events of the last hour, as the form says by default if none was given up.
  await tabTo(page, "Send again");
  await press(page, "Enter");
  await page.getByText(/events were accepted/).waitFor();
  const again = () => endpoint.calls.slice(before).filter(({ event }) => known.has(event.id)).length;
  await expect.poll(again, SOON).toBeGreaterThan(0);
  await page.context().close();
});
