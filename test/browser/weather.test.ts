import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchBrowser } from "./browser.ts";
import { openPlace, type Place } from "./place.ts";
import { eventually, newUser, shown, visitInWeather, write } from "./visitor.ts";

let browser: Browser;
let place: Place;

beforeAll(async () => {
  [browser, place] = await Promise.all([launchBrowser(), openPlace()]);
});
afterAll(() => Promise.all([browser.close(), place.close()]));

test("what is written offline is shown, and sent once when the server is back", async () => {
  const user = newUser();
  const { page, weather } = await visitInWeather(browser, place, { user });
  await write(page, "before");
  await page.getByText("Sent", { exact: true }).waitFor();
  await weather.storm(1013);
  await page.getByRole("status").getByText("Offline, trying again").waitFor();
  await write(page, "meanwhile");
  await page.getByText("Sending", { exact: true }).waitFor();
  await place.say(user, "are you there?");
  weather.clear();
  await eventually(() => place.heard(user), ["before", "meanwhile"]);
  await eventually(() => shown(page), ["before", "are you there?", "meanwhile"]);
  await eventually(() => page.getByText("Offline, trying again").count(), 0);
});

test("an acknowledgement that never came makes no second message, on the screen or in the chat", async () => {
  const user = newUser();
  const { page, weather } = await visitInWeather(browser, place, { user });
  await write(page, "first");
  await eventually(() => place.heard(user), ["first"]);
  weather.deaf = true;
  await write(page, "only once");
  await eventually(() => place.heard(user), ["first", "only once"]);
  await eventually(async () => weather.opened, 2);
  await page.getByText("Sent", { exact: true }).last().waitFor();
  expect(await shown(page)).toEqual(["first", "only once"]);
  expect(await place.heard(user)).toEqual(["first", "only once"]);
});

test("a line that breaks every few messages loses none and keeps their order", async () => {
  const user = newUser();
  const { page, weather } = await visitInWeather(browser, place, { user });
  const texts = Array.from({ length: 12 }, (_, index) => `number ${index + 1}`);
  for (const [index, text] of texts.entries()) {
    await write(page, text);
    if (index % 4 === 3) await weather.cut();
  }
  await eventually(() => place.heard(user), texts);
  await eventually(() => shown(page), texts);
});

test("a refused message says why, keeps its text, and is sent again on request", async () => {
  const user = newUser();
  const { page, weather } = await visitInWeather(browser, place, { user });
  weather.refuse = (id) => ({ type: "refused", id, code: "rate_limited", message: "", retryAfter: 600 });
  await write(page, "too much");
  await page.getByRole("alert").getByText("Not sent. Too many messages. Try again in 10 minutes.").waitFor();
  expect(await shown(page)).toEqual(["too much"]);
  weather.refuse = null;
  await page.getByRole("button", { name: "Send again" }).click();
  await eventually(() => place.heard(user), ["too much"]);
  await page.getByText("Sent", { exact: true }).waitFor();
  expect(await page.getByRole("alert").textContent()).toBe("");
});

test("a refusal for a moment is waited out without being asked", async () => {
  const user = newUser();
  const { page, weather } = await visitInWeather(browser, place, { user });
  weather.refuse = (id) => {
    weather.refuse = null;
    return { type: "refused", id, code: "rate_limited", message: "", retryAfter: 1 };
  };
  await write(page, "one");
  await page.getByRole("alert").getByText("You write quickly").waitFor();
  await write(page, "two");
  await eventually(() => place.heard(user), ["one", "two"]);
});

test("a message that was not sent outlives a reload", async () => {
  const user = newUser();
  const { page, weather } = await visitInWeather(browser, place, { user });
  await page.getByText("How can we help?").waitFor();
  await weather.storm(1013);
  await write(page, "do not lose me");
  await page.getByText("Sending", { exact: true }).waitFor();
  weather.clear();
  await page.reload();
  await eventually(() => place.heard(user), ["do not lose me"]);
  await eventually(() => shown(page), ["do not lose me"]);
});

test("the past that can't be loaded is said so, and can be asked for again", async () => {
  const user = newUser();
  await place.fill(user, 350);
  const { page, weather } = await visitInWeather(browser, place, { user });
  await page.getByText("Message 350 of 350").waitFor();
  await weather.storm(1013);
  await page.getByRole("button", { name: "Show earlier messages" }).click();
  await page.getByText("They could not be loaded. Try again.").waitFor();
  weather.clear();
  await page.getByRole("button", { name: "Show earlier messages" }).click();
  await page.getByText("Message 200 of 350").waitFor({ state: "attached" });
});
