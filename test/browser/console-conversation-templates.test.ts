import { describe, expect, test } from "vitest";
import { createChannel, createChat } from "../support/world/factories.ts";
import { openDesk } from "./console.ts";
import { openChat } from "./console-conversation.ts";
import { intercept } from "./disturb.ts";

const desk = await openDesk();

const BODY = "Hello {{name}}, it is on its way.";
const COMPONENTS = [
  { type: "HEADER", format: "TEXT", text: "Order {{number}}" },
  { type: "BODY", text: BODY },
  { type: "FOOTER", text: "Acme" },
  {
    type: "BUTTONS",
    buttons: [
      { type: "QUICK_REPLY", text: "Thank you" },
      { type: "URL", text: "Track it", url: "https://acme.example/track/{{1}}" },
    ],
  },
];

describe.each([
  { kind: "whatsapp", heading: ["Order 4711"], text: /^Hello Tom, it is on its way\.$/, choices: 2 },
  { kind: "web", heading: [], text: /^Order 4711\s+Hello Tom.*Acme\s+Track it: https:.*\/4711$/s, choices: 1 },
] as const)("a whole template in a chat of the kind $kind", ({ kind, heading, text, choices }) => {
  let templates = 0;

  /** The dialog with a template that the contact's name and a number fill. */
  async function openFilled() {
    const name = `order_${kind}_${++templates}`;
    const { template } = await desk.api("POST", "/templates", { name, language: "en", body: BODY });
    const channel = kind === "web" ? desk.channel : await createChannel(desk.organization, { kind });
    const address = kind === "web" ? `visitor-template-${templates}` : `491555000088${templates}`;
    const { id } = await createChat(channel, { contact: { address, name: "Tom Template" } });
    const page = await openChat(desk, id);
    // As one that was synced from the network.
    await intercept(page, /\/templates\?/, async (route) => {
      const network = { id: "1", status: "APPROVED", category: "UTILITY", quality: null, rejectedReason: null };
      const whole = { ...template, components: COMPONENTS, network, parameterFormat: "NAMED" };
      await route.fulfill({ json: { templates: [whole], pagination: { hasMore: false } } });
    });
    await page.getByRole("button", { name: "Templates", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name }).click();
    await dialog.getByLabel("number").fill("4711");
    await dialog.getByLabel("End of the address of “Track it”").fill("4711");
    return { page, template, dialog, preview: dialog.getByRole("region", { name: "Preview" }) };
  }

  test("is previewed with the heading that the network shows", async () => {
    const { preview } = await openFilled();
    await preview.locator(".text").waitFor();
    await expect.poll(() => preview.locator(".heading").allTextContents()).toEqual(heading);
  });

  test("is previewed with its text", async () => {
    const { preview } = await openFilled();
    await expect.poll(() => preview.locator(".text").textContent()).toMatch(text);
  });

  test("is previewed with its buttons", async () => {
    const { preview } = await openFilled();
    await expect.poll(() => preview.locator(".choices > *:not(legend)").count()).toBe(choices);
  });

  test("is sent with the values of its parts", async () => {
    const { page, template, dialog } = await openFilled();
    const sent = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/messages"));
    await dialog.getByRole("button", { name: "Send" }).click();
    expect((await sent).postDataJSON()).toMatchObject({
      type: "TEMPLATE",
      templateId: template.id,
      variables: { name: "Tom" },
      template: { header: { variables: { number: "4711" } }, buttons: [{ index: 1, urlSuffix: "4711" }] },
    });
  });
});
