import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { openAsMember, openConsole, openDesk, screenOf } from "./console.ts";
import { openChat, openChatAsMember } from "./console-conversation.ts";
import { noteChanges, stopTimers } from "./disturb.ts";
import { browser } from "./file-browser.ts";

const row = (page: Page, name: string) => page.getByRole("link", { name: new RegExp(name) });
const dialog = (page: Page) => page.getByRole("dialog", { name: "Labels" });
const READER = ["chats:read", "messages:read", "messages:send", "events:read"];

/** A desk of its own, with the labels Urgent and Refund and two chats. */
async function labeledDesk() {
  const desk = await openDesk("Labels");
  const [ann, bob] = [await desk.chat("Ann Angry"), await desk.chat("Bob Buyer")];
  const make = async (name: string, color: string | null) =>
    (await desk.api("POST", "/labels", { name, color })).label.id;
  const urgent: string = await make("Urgent", "#c62828");
  const refund: string = await make("Refund", null);
  const labelsOf = async (id: string): Promise<string[]> =>
    (await desk.api("GET", `/chats/${id}`)).chat.labels.map(({ name }: { name: string }) => name);
  return { desk, ann, bob, urgent, refund, labelsOf };
}

test("l labels a chat by the keyboard: one that exists, and a new one", async () => {
  const { desk, ann, labelsOf } = await labeledDesk();
  const page = await openChat(desk, ann.id);
  await page.keyboard.press("l");
  await dialog(page).getByRole("checkbox", { name: "Urgent" }).waitFor();
  await page.keyboard.type("refu");
  await dialog(page).getByRole("checkbox", { name: "Urgent" }).waitFor({ state: "detached" });
  await page.keyboard.press("Enter");
  await dialog(page).getByRole("checkbox", { name: "Refund", checked: true }).waitFor();
  await dialog(page).getByLabel("Find a label").fill("Spring sale");
  await page.keyboard.press("Enter");
  await expect.poll(() => labelsOf(ann.id)).toEqual(["Refund", "Spring sale"]);
  await page.keyboard.press("Escape");
  await row(page, "Ann Angry").getByText("Spring sale").waitFor();
  await page
    .getByRole("complementary", { name: "Details" })
    .or(page.locator(".chat-row"))
    .getByText("Refund")
    .first()
    .waitFor();
});

test("Enter takes the label with just these words, however they are written, before one that has more", async () => {
  const { desk, ann, labelsOf } = await labeledDesk();
  await desk.api("POST", "/labels", { name: "José in Urgent Care" });
  await desk.api("POST", "/labels", { name: "José" });
  const page = await openChat(desk, ann.id);
  await page.keyboard.press("l");
  await dialog(page).getByLabel("Find a label").fill("jose");
  await dialog(page).getByRole("checkbox", { name: "José in Urgent Care" }).waitFor();
  await expect.poll(() => dialog(page).getByText("Create").count()).toBe(0);
  await page.keyboard.press("Enter");
  await dialog(page).getByRole("checkbox", { name: "José", exact: true, checked: true }).waitFor();
  // The box shows it before the service has it.
  await expect.poll(() => labelsOf(ann.id)).toEqual(["José"]);
});

test("a name that is too long is refused in words, and is not cut", async () => {
  const { desk, ann, labelsOf } = await labeledDesk();
  const page = await openChat(desk, ann.id);
  await page.keyboard.press("l");
  await dialog(page).getByRole("checkbox", { name: "Urgent" }).waitFor();
  await dialog(page).getByLabel("Find a label").fill("x".repeat(41));
  await page.keyboard.press("Enter");
  await dialog(page).getByRole("alert").getByText("40").waitFor();
  expect(await labelsOf(ann.id)).toEqual([]);
});

test("a label filters the list, which follows what others label", async () => {
  const { desk, ann, bob, urgent } = await labeledDesk();
  await desk.api("PUT", `/chats/${ann.id}/labels/${urgent}`);
  const page = await openConsole(browser, screenOf(desk, "inbox"));
  await row(page, "Bob Buyer").waitFor();
  await page.getByLabel("Label", { exact: true }).selectOption({ label: "Urgent" });
  await row(page, "Bob Buyer").waitFor({ state: "detached" });
  await row(page, "Ann Angry").getByText("Urgent").waitFor();
  expect(new URL(page.url()).searchParams.get("label")).toBe(urgent);
  await desk.api("PUT", `/chats/${bob.id}/labels/${urgent}`);
  await row(page, "Bob Buyer").waitFor();
  await desk.api("DELETE", `/chats/${ann.id}/labels/${urgent}`);
  await row(page, "Ann Angry").waitFor({ state: "detached" });
  await page.context().close();
});

test("several chats get a label, and z takes it off those that had it not", async () => {
  const { desk, ann, bob, urgent, labelsOf } = await labeledDesk();
  await desk.api("PUT", `/chats/${bob.id}/labels/${urgent}`);
  const page = await openChat(desk, ann.id);
  await stopTimers(page, 10_000);
  await row(page, "Bob Buyer").getByText("Urgent").waitFor();
  for (const name of ["Ann Angry", "Bob Buyer"]) await page.getByRole("checkbox", { name: `Select ${name}` }).check();
  await page.getByRole("button", { name: "Label the selected chats" }).click();
  await page.getByRole("menuitem", { name: "Urgent" }).click();
  await page.locator(".toasts").getByText("2 chats labeled “Urgent”").waitFor();
  expect(await labelsOf(ann.id)).toEqual(["Urgent"]);
  const changes = noteChanges(page, /\/labels\//);
  await page.keyboard.press("z");
  await expect.poll(() => labelsOf(ann.id)).toEqual([]);
  expect(await changes()).toEqual([expect.stringContaining(ann.id)]);
});

test("the settings rename, recolor and delete labels, and say what is wrong", async () => {
  const { desk, ann, refund, labelsOf } = await labeledDesk();
  await desk.api("PUT", `/chats/${ann.id}/labels/${refund}`);
  const page = await openConsole(browser, screenOf(desk, "settings"));
  const item = (name: string) => page.getByRole("listitem").filter({ hasText: name });
  await item("Refund").getByText("1 chat", { exact: true }).waitFor();
  await item("Refund").getByRole("button", { name: "Change" }).click();
  await page.getByLabel("Name").fill("urgent");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("dialog").getByRole("alert").waitFor();
  await page.getByLabel("Name").fill("Money back");
  await page.getByRole("checkbox", { name: "It has a color" }).check();
  await page.getByRole("button", { name: "Save" }).click();
  await item("Money back").waitFor();
  expect(await labelsOf(ann.id)).toEqual(["Money back"]);
  await item("Money back").getByRole("button", { name: "Delete" }).click();
  await page.getByText("1 chat will lose it.").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await item("Money back").waitFor({ state: "detached" });
  expect(await labelsOf(ann.id)).toEqual([]);
  await page.context().close();
});

test("who may not write labels gives those that are there, and who may not change chats sees them", async () => {
  const { desk, ann, urgent, labelsOf } = await labeledDesk();
  const giver = await openChatAsMember(desk, ann.id, [...READER, "chats:write"], "Gus");
  await giver.keyboard.press("l");
  await dialog(giver).getByRole("checkbox", { name: "Urgent" }).waitFor();
  await dialog(giver).getByLabel("Find a label").fill("Brand new");
  await giver.keyboard.press("Enter");
  await expect.poll(() => dialog(giver).getByText("Create").count()).toBe(0);
  await dialog(giver).getByLabel("Find a label").fill("");
  await dialog(giver).getByRole("checkbox", { name: "Urgent" }).check();
  await expect.poll(() => labelsOf(ann.id)).toEqual(["Urgent"]);
  const reader = await openAsMember(browser, desk, READER, screenOf(desk, "settings"), "Rea");
  await reader.getByRole("listitem").filter({ hasText: "Urgent" }).waitFor();
  await expect.poll(() => reader.getByRole("button", { name: "New label" }).count()).toBe(0);
  expect(urgent).toMatch(/^lbl_/);
  await reader.context().close();
});
