import { expect, onTestFinished, test } from "vitest";
import { type Desk, openAsMember, openConsole, openDesk, screenOf } from "./console.ts";
import { send } from "./console-conversation.ts";
import { intercept } from "./disturb.ts";
import { browser } from "./file-browser.ts";

async function open(desk: Desk, path: string) {
  const page = await openConsole(browser, screenOf(desk, path));
  onTestFinished(() => page.context().close());
  return page;
}

const BOX = { name: "Find messages of all chats" };

test("the inbox says that the search in messages is off, and leads to where it is turned on", async () => {
  const desk = await openDesk("Off");
  const { id } = await desk.chat("Ada");
  await send(desk, id, { content: "A yellow lamp" });
  const page = await open(desk, "inbox");
  await page.getByRole("searchbox").fill("yellow");
  await page.getByRole("link", { name: "Turn it on in the settings" }).click();
  await page.getByRole("checkbox", BOX).check();
  await page.getByText("Saved", { exact: true }).waitFor();
  const found = async () => (await desk.api("GET", "/messages?search=yellow")).messages.length;
  await expect.poll(found, { timeout: 60_000 }).toBe(1);
  await page.getByRole("link", { name: "Inbox" }).click();
  await page.locator("mark").getByText("yellow").waitFor();
});

test("who may not turn the search on sees who may", async () => {
  const desk = await openDesk("Off for Mel");
  const page = await openAsMember(browser, desk, ["chats:read", "messages:read"], screenOf(desk, "inbox"));
  onTestFinished(() => page.context().close());
  await page.getByRole("searchbox").fill("yellow");
  await page.getByText("A manager can turn it on in the settings.").waitFor();
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByText("you need the permissions channels:write and messages:read").waitFor();
  await page.getByRole("checkbox", { ...BOX, disabled: true }).waitFor();
});

test("turning the search off asks first, and says when it can't be turned on again", async () => {
  const desk = await openDesk("On");
  await desk.chat("Ada");
  await desk.api("PATCH", "/organization", { search: { on: true } });
  const page = await open(desk, "settings");
  const box = page.getByRole("checkbox", BOX);
  await expect.poll(() => box.isChecked()).toBe(true);
  await box.click();
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect.poll(() => box.isChecked()).toBe(true);
  await box.click();
  await page.getByRole("button", { name: "Turn off" }).click();
  await expect.poll(() => box.isChecked()).toBe(false);
  expect((await desk.api("GET", "/organization")).organization.search.state).toBe("off");
  await box.click();
  await page.getByText("was turned on in the last 24 hours already").waitFor();
  await expect.poll(() => box.isChecked()).toBe(false);
});

test("a search that somebody turns off meanwhile says that it is off, and not what the API answers", async () => {
  const desk = await openDesk("Off meanwhile");
  const { id } = await desk.chat("Ada");
  await send(desk, id, { content: "A yellow lamp" });
  await desk.api("PATCH", "/organization", { search: { on: true } });
  const found = async () => (await desk.api("GET", "/messages?search=yellow")).messages.length;
  await expect.poll(found, { timeout: 60_000 }).toBe(1);
  const page = await openAsMember(browser, desk, ["chats:read", "messages:read"], screenOf(desk, "inbox"));
  onTestFinished(() => page.context().close());
  await page.getByRole("searchbox").fill("yellow");
  await page.locator("mark").getByText("yellow").waitFor();
  await page.getByText("1 message found").waitFor({ state: "attached" });
  await desk.api("PATCH", "/organization", { search: { on: false } });
  await page.getByRole("searchbox").fill("lamp");
  await page.getByText("A manager can turn it on in the settings.").waitFor();
  await expect.poll(() => page.getByText("PATCH").count()).toBe(0);
});

test("while the index is filled, the settings and the inbox say how far it is", async () => {
  const desk = await openDesk("Filling", { search: { on: true } });
  const page = await open(desk, "inbox");
  const { organization } = await desk.api("GET", "/organization");
  const search = { state: "filling", done: 1_200, total: 4_000 };
  await intercept(page, /\/organization$/, (route) =>
    route.fulfill({ json: { organization: { ...organization, search } } }),
  );
  await page.getByRole("searchbox").fill("yellow");
  await page.getByText("1,200 of 4,000 chats so far").waitFor();
  await page.goto(page.url().replace(/inbox.*/, "settings"));
  await page.getByText("1,200 of 4,000 chats can be searched").waitFor();
});
