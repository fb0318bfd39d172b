import { expect, test } from "vitest";
import { closeChat, newUser } from "./visitor.ts";
import { box, call, chat, place, visitSite } from "./widget-site.ts";

/** How sites put another page into the document. */
const SWAPS = {
  "the body, as Turbo does":
    "const next = document.createElement('body'); next.innerHTML = '<main><h1>Next</h1></main>'; document.documentElement.replaceChild(next, document.body)",
  "all in the body at once": "document.body.innerHTML = '<main><h1>Next</h1></main>'",
  "all in the body, one by one, as htmx does":
    "{ const { body } = document; const old = [...body.childNodes]; body.insertAdjacentHTML('afterbegin', '<main><h1>Next</h1></main>'); for (const each of old) each.remove() }",
};

test.each(Object.entries(SWAPS))(
  "a site that replaces %s keeps the button, the open chat and what was written",
  async (_, swap) => {
    const user = newUser();
    const page = await visitSite(user);
    await page.getByRole("button", { name: "Open chat" }).click();
    await box(page).fill("Before");
    await page.keyboard.press("Enter");
    await chat(page).getByText("Sent").waitFor();
    for (let turn = 0; turn < 2; turn++) {
      await page.evaluate(swap);
      await page.getByRole("heading", { name: "Next" }).waitFor();
      await chat(page).getByText("Before").waitFor();
      // The person is on the site now.
      expect(await page.evaluate(() => document.activeElement === document.body)).toBe(true);
    }
    await page.getByRole("button", { name: "Close chat" }).click();
    await page.evaluate(swap);
    await place.say(user, "Behind");
    await page.getByRole("button", { name: "Open chat, 1 unread" }).waitFor();
    await expect.poll(() => page.locator("parley-chat").count()).toBe(1);
  },
);

test("a visitor who signed out and then wrote keeps the chat when the site replaces its body", async () => {
  const page = await visitSite(newUser());
  await call(page, "open");
  await box(page).waitFor();
  await call(page, "logout");
  await call(page, "open");
  await box(page).fill("As a stranger");
  await page.keyboard.press("Enter");
  await chat(page).getByText("Sent").waitFor();
  await page.evaluate(SWAPS["the body, as Turbo does"]);
  await page.getByRole("heading", { name: "Next" }).waitFor();
  await chat(page).getByText("As a stranger").waitFor();
});

test("a visitor who opened the chat and wrote nothing gets it loaded again only when they open it", async () => {
  const page = await visitSite(newUser());
  await call(page, "open");
  await box(page).waitFor();
  await call(page, "logout");
  await call(page, "open");
  await box(page).waitFor();
  await closeChat(page, () => call(page, "close"));
  await page.evaluate(SWAPS["the body, as Turbo does"]);
  await page.getByRole("button", { name: "Open chat" }).waitFor();
  await expect.poll(() => page.locator("iframe").count()).toBe(0);
  await call(page, "open");
  await box(page).waitFor();
});

test("a site that removes the widget and leaves the rest does not get it back with its next page", async () => {
  const page = await visitSite(newUser());
  await page.getByRole("button", { name: "Open chat" }).waitFor();
  await page.evaluate(() => document.querySelector("parley-chat")?.remove());
  await page.evaluate(SWAPS["all in the body at once"]);
  await page.getByRole("heading", { name: "Next" }).waitFor();
  await expect.poll(() => page.locator("parley-chat").count()).toBe(0);
  await call(page, "open");
  await box(page).waitFor();
});
