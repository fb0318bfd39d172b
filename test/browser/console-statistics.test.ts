import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { type Desk, openConsole, openDesk, screenOf } from "./console.ts";
import { browser } from "./file-browser.ts";

/** A chat reports what is counted of it within seconds. */
const REPORTED = { timeout: 90_000, interval: 500 };

const NAMES = ["Chats now", "Unanswered now", "Received", "Sent", "Answers", "Under 1 min"];

let desk: Desk;
let memberId: string;
/** All tests read the same screen, because it takes a while until all is reported. */
let page: Page;

beforeAll(async () => {
  desk = await openDesk("Team");
  const made = await desk.operator("POST", `/organizations/${desk.organization.id}/members`, { name: "=SUM(1,2)" });
  memberId = made.member.id;
  const { id, address } = await desk.chat("Fay");
  await desk.chat("Gus");
  await desk.api("PATCH", `/chats/${id}`, { assigneeId: memberId });
  await desk.writes(address, "Anybody there?");
  await desk.writes(address, "Hello?");
  await desk.api("POST", `/chats/${id}/messages`, { content: "Yes", senderId: memberId });
  await desk.writes(address, "Good");
  page = await openConsole(browser, screenOf(desk, "statistics"));
});

const table = () => page.getByRole("region", { name: "Conversations by channel and member" });

async function numbersOf(name: string) {
  const heads = await table().getByRole("columnheader").allTextContents();
  const cells = await table().getByRole("row", { name }).getByRole("cell").allTextContents();
  return Object.fromEntries(heads.slice(1).map((head, n) => [head, cells[n]]));
}

const counts = (name: string) => async () => {
  await page.getByRole("button", { name: "Refresh" }).click();
  return numbersOf(name);
};

const COUNTED = {
  Site: {
    ...{ "Chats now": "2", "Unanswered now": "1", "New chats": "2", Received: "3", Sent: "1", Answers: "1" },
    ...{ "Under 1 min": "1", "1–5 min": "0", "Over 24 h": "0" },
    ...{ "Half answered in": expect.stringMatching(/^\d+ s$/), "90 % answered in": expect.stringMatching(/^\d+ s$/) },
  },
  "=SUM(1,2)": {
    ...{ "Chats now": "1", "Unanswered now": "1", "New chats": "–" },
    ...{ Received: "3", Sent: "1", Answers: "1", "Under 1 min": "1" },
  },
};

/** Waits until all that happened is on the screen. */
async function reported(): Promise<void> {
  for (const [name, numbers] of Object.entries(COUNTED))
    await expect.poll(counts(name), REPORTED).toMatchObject(numbers);
}

test("the conversations are counted by channel and by member", async () => {
  await reported();
  const ann = await numbersOf("Ann");
  expect(ann).toMatchObject(Object.fromEntries(NAMES.map((name) => [name, "0"])));
  expect(ann).toMatchObject({ "Half answered in": "–", "90 % answered in": "–" });
});

test("the conversations are drawn, also for the last 48 hours", async () => {
  await reported();
  const chart = page.getByRole("figure").filter({ hasText: "Response times" });
  await chart.getByText("As a table").click();
  await expect.poll(() => chart.getByRole("row").nth(1).textContent()).toBe("Under 1 min1");
  const messages = page.getByRole("figure").filter({ has: page.getByRole("heading", { name: "Messages" }) });
  await messages.getByText("Received 3").waitFor();
  await page.getByRole("button", { name: "48 hours" }).first().click();
  await messages.getByText("Last 48 hours").waitFor();
  await messages.getByText("Received 3").waitFor();
});

test("the conversations are saved as CSV, and no name is a formula there", async () => {
  await reported();
  const downloads = page.waitForEvent("download");
  const save = table().locator("xpath=following-sibling::*").getByRole("button", { name: "Download as CSV" });
  await save.click();
  const download = await downloads;
  expect(download.suggestedFilename()).toBe("Conversations.csv");
  const lines = (await readFile(await download.path(), "utf8")).split("\r\n");
  expect(lines[0]).toMatch(/^\ufeffKind,Id,Name,Chats now,Unanswered now,New chats,Received,Sent,Answers,Under 1 min,/);
  expect(lines[0]).toMatch(/,Over 24 h,Half answered in \(s\),90 % answered in \(s\)$/);
  expect(lines[1]).toMatch(new RegExp(`^Channel,${desk.channel.id},Site,2,1,2,3,1,1,1,0,0,0,0,0,0,\\d+,\\d+$`));
  // A spreadsheet would run the name as a formula.
  const sum = lines.find((line) => line.includes("SUM"));
  expect(sum?.replace(/,\d+,\d+$/, "")).toBe(`Member,${memberId},"'=SUM(1,2)",1,1,,3,1,1,1,0,0,0,0,0,0`);
});

test("the chats of a chosen label are counted, and a refresh keeps the choice", async () => {
  const { label: refund } = await desk.api("POST", "/labels", { name: "Refund" });
  const { label: later } = await desk.api("POST", "/labels", { name: "Later" });
  const { id, address } = await desk.chat("Hal");
  await desk.writes(address, "My money?");
  await desk.api("POST", `/chats/${id}/messages`, { content: "Soon" });
  await desk.api("PUT", `/chats/${id}/labels/${refund.id}`);
  await desk.api("PATCH", `/chats/${id}`, { state: "closed" });
  const labeled = await openConsole(browser, screenOf(desk, "statistics"));
  const choice = labeled.getByLabel("Label", { exact: true });
  const region = labeled.getByRole("region", { name: "Chats with the label" });
  const shown = async () => {
    await labeled.getByRole("button", { name: "Refresh" }).click();
    const heads = await region.getByRole("columnheader").allTextContents();
    const cells = await region.getByRole("cell").allTextContents();
    return Object.fromEntries(heads.map((head, n) => [head, cells[n]]));
  };
  await expect.poll(shown, REPORTED).toMatchObject({
    ...{ Chats: "1", Open: "0", Snoozed: "0", Closed: "1", Unanswered: "0", Received: "1", Sent: "1", Answers: "1" },
    ...{ "Under 1 min": "1", "Half answered in": expect.stringMatching(/^\d+ s$/) },
  });
  await choice.selectOption({ label: "Later" });
  await expect.poll(shown, REPORTED).toMatchObject({ Chats: "0", "Half answered in": "–" });
  await expect.poll(() => choice.inputValue()).toBe(later.id);
  await labeled.context().close();
});
