import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { type Desk, openAsMember, openConsole, openDesk, screenOf } from "./console.ts";
import { browser } from "./file-browser.ts";
import { violations } from "./violations.ts";

let desk: Desk;

beforeAll(async () => {
  desk = await openDesk();
});

const AGENT = [
  "chats:read",
  "chats:write",
  "messages:read",
  "messages:send",
  "events:read",
  "members:read",
  "channels:read",
];

const row = (page: Page, name: string) => page.getByRole("link", { name: new RegExp(name) });
const whose = (page: Page) => page.getByLabel("Whose chats");
const assigneeOf = async (id: string) => (await desk.api("GET", `/chats/${id}`)).chat.assigneeId;

test("a person takes a chat by a key, finds it among theirs, frees it, and every open page follows", async () => {
  const [one, two] = [await desk.chat("Tia Taken"), await desk.chat("Noa Nobody")];
  const mel = await openAsMember(browser, desk, AGENT, screenOf(desk, `inbox/${one.id}`));
  const operator = await openConsole(browser, screenOf(desk, "inbox"));
  await mel.getByRole("button", { name: "Nobody’s. Assign this chat (a)" }).waitFor();
  await mel.keyboard.press("a");
  await mel.getByRole("button", { name: "Assigned to Mel. Change that" }).waitFor();
  expect(await assigneeOf(one.id)).toMatch(/^mbr_/);
  await mel.keyboard.press("m");
  await row(mel, "Tia Taken").waitFor();
  expect(await row(mel, "Noa Nobody").count()).toBe(0);
  await whose(operator).selectOption({ label: "Nobody’s" });
  await row(operator, "Noa Nobody").waitFor();
  expect(await row(operator, "Tia Taken").count()).toBe(0);
  await mel.keyboard.press("a");
  await expect.poll(() => assigneeOf(one.id)).toBeNull();
  await row(operator, "Tia Taken").waitFor();
  await whose(operator).selectOption({ label: "Mel" });
  await operator.getByText("No chats here").waitFor();
  await desk.api("PATCH", `/chats/${two.id}`, { assigneeId: desk.organization.memberId });
  await whose(operator).selectOption({ label: "Ann" });
  await row(operator, "Noa Nobody").waitFor();
  expect(await violations(operator)).toEqual([]);
  for (const page of [mel, operator]) await page.context().close();
});

test("of two who assign a chat at once the later one is told, and sees whose it is", async () => {
  const chat = await desk.chat("Rae Race");
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  await page.context().route(/\/events/, (route) => route.abort());
  await page.reload();
  await page.getByRole("button", { name: "Nobody’s. Assign this chat (a)" }).click();
  await desk.api("PATCH", `/chats/${chat.id}`, { assigneeId: desk.organization.memberId });
  await page.getByRole("menuitem", { name: "Mel" }).first().click();
  await page.getByText("Somebody else has assigned the chat").waitFor();
  await page.getByRole("button", { name: "Assigned to Ann. Change that" }).waitFor();
  expect(await assigneeOf(chat.id)).toBe(desk.organization.memberId);
  await page.context().close();
});

test("who may not change chats sees whose a chat is, and can't assign it", async () => {
  const chat = await desk.chat("Vic Viewer");
  await desk.api("PATCH", `/chats/${chat.id}`, { assigneeId: desk.organization.memberId });
  const viewer = AGENT.filter((permission) => permission !== "chats:write");
  const page = await openAsMember(browser, desk, viewer, screenOf(desk, `inbox/${chat.id}`));
  await page.locator(".conversation-head").getByText("Ann").waitFor();
  await page.keyboard.press("a");
  expect(await page.getByRole("button", { name: /Assign/ }).count()).toBe(0);
  expect(await assigneeOf(chat.id)).toBe(desk.organization.memberId);
  await page.context().close();
});
