import { expect, test } from "vitest";
import { createChannel, createChat } from "../support/world/factories.ts";
import { openDesk } from "./console.ts";
import { messageBox, openChat, openChatAsMember } from "./console-conversation.ts";
import { violations } from "./violations.ts";

const desk = await openDesk("Persons");
// So wide that the panel stands beside the conversation.
const WIDE = { viewport: { width: 1_400, height: 900 } };

const personOf = async (id: string) => (await desk.api("GET", `/chats/${id}`)).chat.contact.personId;

test("the contact's panel says who the person is, and leads with one click to the person's other chats", async () => {
  const bot = await createChannel(desk.organization, { kind: "telegram", name: "Bot" });
  const here = await desk.chat("Ada Site");
  const there = await createChat(bot, { contact: { address: "4711", name: "Ada Bot", personId: "customer-7" } });
  await createChat(bot, { contact: { address: "4712", name: "Bo Bot", personId: "customer-8" } });
  const page = await openChat(desk, here.id, WIDE);
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).search));
  const panel = page.getByRole("complementary", { name: "Details" });
  await page.reload();
  await panel.getByRole("button", { name: "Change the person" }).click();
  const dialog = page.getByRole("dialog", { name: "Person" });
  await dialog.getByLabel("Your key of the person").fill("x".repeat(129));
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText("must have at most 128 characters").waitFor();
  // Nobody's other chats were asked for so far.
  expect(asked.filter((query) => query.includes("person="))).toEqual([]);
  await dialog.getByLabel("Your key of the person").fill(" customer-7 ");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  const link = panel.getByRole("link", { name: "Ada Bot on Bot" });
  await link.waitFor();
  await panel.getByText("customer-7").waitFor();
  expect(await personOf(here.id)).toBe("customer-7");
  await expect.poll(() => panel.getByRole("link", { name: /Bo Bot|Ada Site/ }).count()).toBe(0);
  expect(await violations(page)).toEqual([]);
  await link.click();
  await page.waitForURL(`**/inbox/${there.id}`);
  await panel.getByRole("link", { name: "Ada Site on Site" }).waitFor();
  // What others say shows at once.
  await desk.api("PATCH", `/chats/${there.id}`, { contact: { personId: null } });
  await panel.getByText("The person’s other chats").waitFor({ state: "detached" });
  await messageBox(page).waitFor();
});

test("who may not change chats sees the person and the links, and a person without other chats has none", async () => {
  const chat = await desk.chat("Cy Single");
  await desk.api("PATCH", `/chats/${chat.id}`, { contact: { personId: "<b>customer</b>" } });
  const page = await openChatAsMember(desk, chat.id, ["chats:read", "messages:read", "messages:send"], "Rea");
  await page.setViewportSize(WIDE.viewport);
  const panel = page.getByRole("complementary", { name: "Details" });
  if (!(await panel.isVisible())) await page.getByRole("button", { name: "Details" }).click();
  await panel.getByText("<b>customer</b>").waitFor();
  await panel.getByText("None", { exact: true }).waitFor();
  await expect.poll(() => panel.getByRole("button", { name: "Change the person" }).count()).toBe(0);
});
