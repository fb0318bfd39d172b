import { beforeAll, expect, test } from "vitest";
import { type Desk, openConsole, openDesk, screenOf } from "./console.ts";
import { browser } from "./file-browser.ts";

/** More than a list answers at once. */
const MANY = 101;
/** This many requests are under way at once. */
const AT_ONCE = 8;

let desk: Desk;

/** Makes rows of an organization, one after the other name. */
async function make(path: string, bodyOf: (n: number) => object): Promise<void> {
  for (let n = 1; n <= MANY; n += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, MANY - n + 1) }, (_, k) => bodyOf(n + k));
    await Promise.all(some.map((body) => desk.operator("POST", `/organizations/${desk.organization.id}${path}`, body)));
  }
}

beforeAll(async () => {
  desk = await openDesk("Large");
  await make("/channels", (n) => ({ kind: "web", name: `Shop ${n}` }));
  await make("/members", (n) => ({ name: `Member ${n}` }));
});

test("the statistics have all channels and members of a large organization, a hundred at a time", async () => {
  const page = await openConsole(browser, screenOf(desk, "statistics"));
  const table = page.getByRole("region", { name: "Conversations by channel and member" });
  const names = async () => (await table.getByRole("rowheader").allTextContents()).filter((text) => / \d+$/.test(text));
  await table.waitFor();
  const first = await names();
  await expect.poll(() => table.getByRole("row").count()).toBe(1 + 2 + 2 * 100);
  await page.getByRole("button", { name: "101–200" }).click();
  await page.getByRole("button", { name: "101–200", pressed: true }).waitFor();
  await table.waitFor();
  const all = new Set([...first, ...(await names())]);
  expect(all.size).toBe(2 * MANY);
  await page.context().close();
});

test("a channel and a member after the first hundred have their names, numbers and troubles on every screen", async () => {
  const { members } = await desk.api("GET", "/members?limit=100&page=2");
  const last = members.at(-1);
  const credentials = { botToken: "123456:revoked-by-its-owner" };
  const { channel } = await desk.api("POST", "/channels", { kind: "telegram", name: "Our bot", credentials });
  const { chat } = await desk.api("POST", "/chats", { channelId: channel.id, contact: { address: "4711" } });
  await desk.api("PATCH", `/chats/${chat.id}`, { assigneeId: last.id });
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  await page
    .locator(".conversation-head")
    .getByRole("button", { name: `Assigned to ${last.name}.` })
    .waitFor();
  await desk.api("POST", `/chats/${chat.id}/messages`, { content: "Will it break?" });
  await page.locator(".banner.tone-bad").getByRole("link", { name: "Our bot" }).click();
  await page.getByText("Failed so far").waitFor();
  await page.context().close();
});
