import { expect, test } from "vitest";
import { browser } from "./file-browser.ts";
import { openPlace } from "./fixtures.ts";
import { eventually, newUser, shown, visit, write } from "./visitor.ts";

const place = await openPlace();

const QUESTION = {
  interactive: {
    header: "Order 4711",
    choices: [
      { type: "reply", id: "refund", title: "Refund", description: "Within three days" },
      { type: "reply", id: "exchange", title: "Exchange", section: "Other" },
    ],
  },
};

test("choices are buttons, and once one is tapped it is marked and none can be tapped, also after a reload", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  await place.say(user, "What is it about?", QUESTION);
  const choices = page.getByRole("group", { name: "Choices" });
  await choices.getByRole("button", { name: "Exchange" }).click();
  await eventually(() => place.heard(user), ["Exchange"]);
  for (const _ of ["before", "after the reload"]) {
    await choices.getByText("Exchange Chosen").waitFor();
    await expect.poll(() => choices.getByText("Within three days").count()).toBe(1);
    await expect.poll(() => choices.getByRole("button").count()).toBe(0);
    expect(await shown(page)).toEqual(["What is it about?", "Exchange"]);
    for (const text of ["Order 4711", "Other"]) await expect.poll(() => page.getByText(text).count()).toBe(1);
    await page.reload();
  }
});

test("two taps in a row send one choice, and the choices of a deleted message go", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  await place.say(user, "What is it about?", QUESTION);
  await page.getByRole("button", { name: "Refund" }).evaluate((button: HTMLButtonElement) => {
    button.click();
    button.click();
  });
  await page.getByText("Sent", { exact: true }).waitFor();
  await write(page, "Thanks");
  await eventually(() => place.heard(user), ["Refund", "Thanks"]);
  await place.redact(user, "What is it about?");
  await eventually(() => page.getByRole("group", { name: "Choices" }).count(), 0);
  await expect.poll(() => page.getByText("Within three days").count()).toBe(0);
});

test("choices that are links open their page, and an address that isn't one of the web is no link", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  const choices = [{ type: "link", title: "Track", url: "https://example.com/track" }];
  await place.say(user, "On its way", { interactive: { choices } });
  const link = page.getByRole("link", { name: "Track" });
  expect([await link.getAttribute("href"), await link.getAttribute("rel")]).toEqual([
    "https://example.com/track",
    "noopener noreferrer nofollow",
  ]);
});

test("a place is shown as text with a link to a map, and a contact card as text", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  await place.say(user, "Our shop", { location: { latitude: 52.5, longitude: 13.4, name: "Acme" } });
  await place.say(user, "Our courier", { contacts: [{ name: "Ada", phones: ["+49 30 1"] }] });
  await page.getByText("Ada · +49 30 1").waitFor();
  const map = page.getByRole("link", { name: "52.5, 13.4" });
  await expect.poll(() => map.getAttribute("href")).toContain("mlat=52.5&mlon=13.4");
});
