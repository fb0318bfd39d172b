import { expect, test } from "vitest";
import { browser } from "./file-browser.ts";
import { openPlace } from "./fixtures.ts";
import { violations } from "./violations.ts";
import { eventually, newUser, open, shown, visit, write } from "./visitor.ts";

const place = await openPlace();
const DAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

test("the page has the company's title, color, words and suggestions, and says when it is away", async () => {
  const inThreeDays = DAYS[(new Date().getUTCDay() + 3) % 7] ?? "";
  const company = await openPlace({
    title: "Moin & Co",
    greeting: "Hello!\nWhat are you looking for?",
    accentColor: "#ffe000",
    logoUrl: "https://parley.invalid/logo.png",
    starters: ["Prices", "Where is my order?"],
    texts: { en: { emptyTitle: "Welcome" }, "en-GB": { placeholder: "Tell us…" } },
    hours: { timeZone: "UTC", week: { [inThreeDays]: [{ opens: "09:00", closes: "09:01" }] } },
  });
  const user = newUser();
  const page = await visit(browser, company, { user });
  await page.getByRole("heading", { name: "Moin & Co" }).waitFor();
  await page.getByText("Welcome").waitFor();
  await page.getByText("What are you looking for?").waitFor();
  await page.getByPlaceholder("Tell us…").waitFor();
  await page.getByText(new RegExp(`We’re away until ${inThreeDays}.*09:00`, "i")).waitFor();
  const send = page.getByRole("button", { name: "Send" });
  expect(await send.evaluate((button) => getComputedStyle(button).backgroundColor)).toBe("rgb(166, 148, 9)");
  // A logo that can't be loaded leaves the first letter.
  await eventually(() => page.locator(".avatar img").count(), 0);
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Where is my order?" }).click();
  await eventually(() => company.heard(user), ["Where is my order?"]);
  await eventually(() => page.getByRole("button", { name: "Prices" }).count(), 0);
  expect(page.faults).toEqual([]);
});

test("the title has the number of messages that came while the page was hidden, until they are seen", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  const title = await page.title();
  const turn = (state: string) =>
    page.evaluate((next) => {
      Object.defineProperty(document, "visibilityState", { configurable: true, value: next });
      document.dispatchEvent(new Event("visibilitychange"));
    }, state);
  await place.say(user, "Seen at once");
  await page.getByText("Seen at once").waitFor();
  await turn("hidden");
  await place.say(user, "One");
  await place.say(user, "Two");
  await eventually(() => page.title(), `(2) ${title}`);
  await turn("visible");
  await eventually(() => page.title(), title);
});

test("the person who writes is named once above a run, and on each message for a screen reader", async () => {
  const user = newUser();
  for (const text of ["One", "Two"]) await place.say(user, text, { type: "TEXT", senderId: place.memberId });
  await place.say(user, "From a bot");
  const page = await visit(browser, place, { user });
  await eventually(() => shown(page), ["One", "Two", "From a bot"]);
  const name = (await page.locator(".writer bdi").allTextContents())[0] ?? "";
  expect(name).not.toBe("");
  await expect.poll(() => page.locator(".writer").count()).toBe(1);
  await expect
    .poll(() => page.locator(".bubble > .hidden").allTextContents())
    .toEqual([`${name}: `, `${name}: `, "Reply: "]);
  expect(await violations(page)).toEqual([]);
});

test("an anonymous visitor is asked once how to be reached, and can decline", async () => {
  const company = await openPlace({ askContact: "afterFirst" });
  const url = `${company.base}/web/${company.channelId}`;
  const page = await open(browser);
  await page.goto(url);
  const form = page.getByRole("form", { name: "How can we reach you?" });
  await write(page, "Hello");
  await form.getByLabel("Name").fill("Ada");
  await form.getByLabel("Email").fill("ada@example.com");
  expect(await violations(page)).toEqual([]);
  await form.getByRole("button", { name: "Send" }).click();
  await page.getByText("Thank you.").waitFor();
  await eventually(() => company.people(), [["Ada", "ada@example.com"]]);
  await page.reload();
  await eventually(() => shown(page), ["Hello"]);
  await expect.poll(() => form.count()).toBe(0);
  const other = await open(browser);
  await other.goto(url);
  await write(other, "Hello");
  await other.getByRole("button", { name: "Not now" }).click();
  await eventually(() => other.getByRole("form", { name: "How can we reach you?" }).count(), 0);
  const known = await visit(browser, company);
  await write(known, "Hello");
  await known.getByText("Sent", { exact: true }).waitFor();
  await expect.poll(() => known.getByRole("form", { name: "How can we reach you?" }).count()).toBe(0);
  expect([page.faults, other.faults]).toEqual([[], []]);
});
