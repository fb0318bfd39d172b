import { expect, test } from "vitest";
import { createChat } from "../support/world/factories.ts";
import { type Desk, openAsMember, openConsole, openDesk, screenOf } from "./console.ts";
import { intercept } from "./disturb.ts";
import { browser } from "./file-browser.ts";
import { base } from "./running-server.ts";

const desk = await openDesk();

/** An organization without a channel. */
async function openNew(): Promise<Desk> {
  const fresh = await openDesk("New");
  await fresh.operator("DELETE", `/channels/${fresh.channel.id}`);
  return fresh;
}

test("a message of the organization shows how far it is, and nobody's name", async () => {
  const chat = await desk.chat("Stu Status");
  await desk.api("POST", `/chats/${chat.id}/messages`, { content: "It left today." });
  const page = await openConsole(browser, screenOf(desk, "inbox"));
  const row = page.getByRole("link", { name: /Stu Status/ });
  await row.getByText("It left today.").waitFor();
  const text = await row.textContent();
  expect(text).not.toContain("You:");
  expect(text).toMatch(/Sent:|Delivered:/);
  await page.context().close();
});

test("a visitor without a name has a short one, and names begin where their script does", async () => {
  const socket = new WebSocket(`${base.replace("http", "ws")}/web/${desk.channel.id}/socket?after=0`, [
    "parley.v1",
    `token.${crypto.randomUUID().replaceAll("-", "").slice(0, 22)}`,
  ]);
  await new Promise((resolve, reject) => {
    socket.addEventListener("error", reject);
    socket.addEventListener("open", () =>
      socket.send(JSON.stringify({ type: "message", id: crypto.randomUUID(), content: "Hello" })),
    );
    socket.addEventListener("message", ({ data }) => String(data).includes("stored") && resolve(null));
  });
  socket.close();
  const arabic = "محمد بن عبد الله بن عبد العزيز آل سعود الطويل جدا جدا جدا";
  await createChat(desk.channel, { contact: { address: "rtl", name: arabic } });
  const page = await openConsole(browser, screenOf(desk, "inbox"));
  await page.getByRole("link", { name: /Visitor \w{4}/ }).waitFor();
  await expect.poll(() => page.getByText("web_").count()).toBe(0);
  const name = page.getByText(arabic);
  // Its first letter is inside the row, at its right edge.
  const first = await name.evaluate((element) => {
    const range = document.createRange();
    range.setStart(element.firstChild as Text, 0);
    range.setEnd(element.firstChild as Text, 1);
    return { letter: range.getBoundingClientRect().toJSON(), box: element.getBoundingClientRect().toJSON() };
  });
  expect(first.letter.right).toBeLessThanOrEqual(first.box.right + 1);
  expect(first.letter.left).toBeGreaterThanOrEqual(first.box.left);
  await page.context().close();
});

test("on a phone, each entry of the bar has a word, and “More” has the rest", async () => {
  const page = await openConsole(browser, screenOf(desk, "inbox"), { viewport: { width: 390, height: 800 } });
  const bar = page.getByRole("navigation", { name: "Console" });
  await bar.getByText("Inbox").waitFor();
  for (const word of ["Find", "Inbox", "Scheduled", "More"]) {
    const box = await bar.getByText(word, { exact: true }).boundingBox();
    expect(box?.width).toBeGreaterThan(10);
  }
  expect(await bar.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true);
  await bar.getByRole("button", { name: "More" }).click();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Channels" }).waitFor();
  await page.context().close();
});

test("“Find” stays where it is while one types, and searches once", async () => {
  await desk.chat("Zoe Zebra");
  const page = await openConsole(browser, screenOf(desk, "inbox"));
  // The machine may be too busy to type as fast as a person. In the page, no time goes by between the letters. The clock
  // is there before the field, whose first timer it must know.
  await page.clock.install();
  await page.getByRole("button", { name: "Find" }).click();
  const field = page.getByRole("dialog").getByRole("combobox");
  const before = await field.boundingBox();
  const searches: string[] = [];
  page.on("request", (request) => request.url().includes("search=") && searches.push(request.url()));
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 60_000));
  await field.pressSequentially("Zoe Zebra");
  expect(searches).toEqual([]);
  await page.clock.runFor(1_000);
  await page.getByRole("option", { name: /Zoe Zebra/ }).waitFor();
  expect((await field.boundingBox())?.y).toBe(before?.y);
  expect(searches).toHaveLength(1);
  await page.context().close();
});

test("the list of keys opens at its beginning, and the keys of other screens come last", async () => {
  await desk.chat("Kay Keys");
  const page = await openConsole(browser, screenOf(desk, "inbox"), { viewport: { width: 1280, height: 400 } });
  await page.getByRole("link", { name: /Kay Keys/ }).waitFor();
  await page.keyboard.press("j");
  await page.getByRole("heading", { level: 1, name: "Kay Keys" }).waitFor();
  await page.keyboard.press("?");
  const dialog = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await dialog.waitFor();
  expect(await dialog.evaluate((one) => [one.scrollTop, one.scrollHeight > one.clientHeight])).toEqual([0, true]);
  const labels = await dialog.locator("dt").allTextContents();
  const first = labels.findIndex((label) => label.startsWith("Go to "));
  expect(first).toBeGreaterThan(labels.indexOf("Close the chat"));
  expect(labels.slice(first).filter((label) => !label.startsWith("Go to "))).toEqual([]);
  await page.context().close();
});

test("the inbox of a new organization leads to its first channel", async () => {
  const fresh = await openNew();
  const page = await openConsole(browser, screenOf(fresh, "inbox"));
  await page.getByRole("link", { name: "Set up a channel" }).click();
  await page.getByRole("heading", { level: 1, name: "New channel" }).waitFor();
  await page.context().close();
});

test("who can't set up a channel reads who can", async () => {
  const fresh = await openNew();
  const { id } = fresh.organization;
  await fresh.operator("POST", `/organizations/${id}/members`, { name: "Max", permissions: ["channels:write"] });
  const may = ["chats:read", "channels:read", "members:read"];
  const page = await openAsMember(browser, fresh, may, screenOf(fresh, "inbox"));
  await page.getByText(/Max.* can set one up/).waitFor();
  await expect.poll(() => page.getByRole("link", { name: "Set up a channel" }).count()).toBe(0);
  await page.context().close();
});

test("the screen of scheduled messages follows at once, without the list", async () => {
  const chat = await desk.chat("Sky Scheduled");
  const page = await openConsole(browser, "/console");
  const stream = page.waitForResponse(/\/events\/stream/);
  await page.goto(`${base}${screenOf(desk, "scheduled")}`);
  await stream;
  await page.getByText("Nothing is scheduled").waitFor();
  // The list of chats learns of it a few seconds later.
  await intercept(page, /scheduled=true/, (route) => route.abort());
  const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
  const schedule = async (content: string, hours: number) =>
    (await desk.api("POST", `/chats/${chat.id}/messages`, { content, scheduledAt: at(hours) })).message.id;
  const first = await schedule("In two hours", 2);
  await page.getByText("In two hours").waitFor();
  await schedule("In three hours", 3);
  await page.getByText("In three hours").waitFor();
  await desk.api("POST", `/chats/${chat.id}/messages/${first}/cancel`);
  await page.getByText("In two hours").waitFor({ state: "detached" });
  await page.context().close();
});
