import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { openDesk, screenOf } from "./console.ts";
import { openHearing, openMember, permit, row, shown, writes } from "./console-notifications.ts";
import { holdUp } from "./disturb.ts";
import { base } from "./running-server.ts";
import { violations } from "./violations.ts";

const desk = await openDesk();

const offer = (page: Page) => page.getByText("Parley can notify you about new messages.");
const areOn = (page: Page) => page.getByText("Notifications are on in this browser.");
const counts = (page: Page, count: number) => expect.poll(() => page.title()).toBe(`(${count}) Inbox · Parley`);

/** A page whose person has not said yet whether the browser may show notifications. */
async function openUnasked() {
  const member = await openMember(desk, { permission: "prompt" });
  await offer(member.page).waitFor();
  return member;
}

test("the offer of notifications has no accessibility violations", async () => {
  const { page } = await openUnasked();
  expect(await violations(page)).toEqual([]);
});

test("the offer comes with the screen, not with the code that is fetched later: it moves nothing under a pointer", async () => {
  const { page } = await openMember(desk, { permission: "prompt", path: "settings" });
  await holdUp(page, /\/screens-\w+\.js/);
  await page.goto(`${base}${screenOf(desk, "inbox")}`);
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  await offer(page).waitFor();
});

test("nobody is asked for permission before a click, and nothing is shown", async () => {
  const chat = await desk.chat("Pia Prompt");
  const { page, told } = await openUnasked();
  await writes(page, desk, "Pia Prompt", chat, "Hello");
  await counts(page, 1);
  expect([told.asked, told.notifications]).toEqual([0, []]);
});

/** A page whose person refused the offer, after a contact wrote. */
async function refuse(name: string) {
  const chat = await desk.chat(name);
  const { page, told } = await openUnasked();
  await writes(page, desk, name, chat, "Hello");
  await counts(page, 1);
  await page.getByRole("button", { name: "Not now" }).click();
  await offer(page).waitFor({ state: "detached" });
  return { chat, page, told };
}

test("an offer that was refused stays away when the page is loaded again, and the count is still there", async () => {
  const { page } = await refuse("Rolf Refuses");
  await openHearing(page, desk, "inbox");
  await row(page, "Rolf Refuses").waitFor();
  await counts(page, 1);
  await expect.poll(() => offer(page).count()).toBe(0);
});

/** The same, after the person turned the notifications on. */
async function turnOn(name: string) {
  const { chat, page, told } = await refuse(name);
  await page.keyboard.press("Control+k");
  await page.getByLabel("Find a screen, a contact or an action").fill("notif");
  await page.getByRole("option", { name: "Choose notifications" }).click();
  await page.getByRole("button", { name: "Turn on notifications" }).click();
  await areOn(page).waitFor();
  return { chat, page, told };
}

test("who turns notifications on is asked once", async () => {
  const { told } = await turnOn("Otis Once");
  expect(told.asked).toBe(1);
});

test("who refused the offer can turn notifications on later, and is told then", async () => {
  const { chat, page, told } = await turnOn("Lea Later");
  await page.getByRole("button", { name: "Close" }).click();
  await desk.writes(chat.address, "Hello again");
  await expect.poll(() => shown(told)).toEqual(["Lea Later: New message · Site"]);
});

/** A page whose person has said no to the browser, after a contact wrote. */
async function deny(name: string) {
  const chat = await desk.chat(name);
  const { page, context, told } = await openMember(desk, { permission: "denied" });
  await writes(page, desk, name, chat, "Hello");
  await counts(page, 1);
  return { page, context, told };
}

test("the title counts also for who said no to the browser, and nothing is shown", async () => {
  const { told } = await deny("Dee Denied");
  expect(told.notifications).toEqual([]);
});

test("who said no to the browser gets no offer", async () => {
  const { page } = await deny("Dan Denied");
  await expect.poll(() => offer(page).count()).toBe(0);
});

/** The same, with the dialog of the notifications open. */
async function openDenied(name: string) {
  const denied = await deny(name);
  await denied.page.getByTitle("Your account").click();
  await denied.page.getByRole("menuitem", { name: "Notifications" }).click();
  await denied.page.getByText("Your browser blocks notifications from Parley.").waitFor();
  return denied;
}

test("who said no to the browser is told how to change that, and is not asked", async () => {
  const { page } = await openDenied("Don Denied");
  await expect.poll(() => page.getByRole("button", { name: "Turn on notifications" }).count()).toBe(0);
});

test("a permission that the person gives in the browser counts at once, without a question", async () => {
  const { page, context, told } = await openDenied("Dag Denied");
  await permit(context, true);
  await areOn(page).waitFor();
  expect(told.asked).toBe(0);
});

const isPermitted = (page: Page) =>
  page.evaluate(async () => (await navigator.permissions.query({ name: "notifications" })).state === "granted");

/** A page whose permission the person took back. Two contacts wrote since. */
async function takeBack(names: [string, string]) {
  const [before, between] = [await desk.chat(names[0]), await desk.chat(names[1])];
  const { page, context, told } = await openMember(desk);
  await context.clearPermissions();
  await expect.poll(() => isPermitted(page)).toBe(false);
  await desk.writes(before.address, "Hello");
  await counts(page, 1);
  // What is told of one chat is over when the next one counts.
  await desk.writes(between.address, "Hello");
  await counts(page, 2);
  return { page, context, told };
}

test("a permission that the person takes back ends the notifications, but not the count", async () => {
  const { told } = await takeBack(["Bo Before", "Bea Between"]);
  expect(shown(told)).not.toContain("Bo Before: New message · Site");
});

test("who gives the permission again is told of what comes then", async () => {
  const after = await desk.chat("Al After");
  const { page, context, told } = await takeBack(["Ben Before", "Bob Between"]);
  await permit(context, true);
  await expect.poll(() => isPermitted(page)).toBe(true);
  await desk.writes(after.address, "Hello");
  await expect.poll(() => shown(told)).toContain("Al After: New message · Site");
  expect(shown(told)).not.toContain("Ben Before: New message · Site");
  await counts(page, 3);
});
