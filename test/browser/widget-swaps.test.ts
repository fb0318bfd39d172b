import { expect, test } from "vitest";
import { browser } from "./file-browser.ts";
import { closeChat, newUser, open } from "./visitor.ts";
import { box, call, chat, DESK, place, siteUrl, visitSite } from "./widget-site.ts";

/** How sites put another page into the document. */
const SWAPS = {
  "the body, as Turbo does":
    "const next = document.createElement('body'); next.innerHTML = '<main><h1>Next</h1></main>'; document.documentElement.replaceChild(next, document.body)",
  "all in the body at once": "document.body.innerHTML = '<main><h1>Next</h1></main>'",
  "all in the body, one by one, as htmx does":
    "{ const { body } = document; const old = [...body.childNodes]; body.insertAdjacentHTML('afterbegin', '<main><h1>Next</h1></main>'); for (const each of old) each.remove() }",
  "all in the body but its scripts, as React 19 does if it can't hydrate":
    "{ const { body } = document; for (const each of [...body.childNodes]) if (each.nodeName !== 'SCRIPT') each.remove(); body.insertAdjacentHTML('afterbegin', '<main><h1>Next</h1></main>') }",
  "the document's element, as React 18 does if it can't hydrate":
    "{ const next = document.createElement('html'); next.innerHTML = '<body><main><h1>Next</h1></main>'; document.documentElement.remove(); document.append(next) }",
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

test("a morph of the page, as Turbo 8 does, leaves the chat as it is", async () => {
  const user = newUser();
  const page = await visitSite(user);
  await call(page, "open");
  await box(page).fill("half a thought");
  const frame = page.frames().find((one) => one.url().includes("/web/"));
  await frame?.evaluate(() => Object.assign(window, { isTheSame: true }));
  await page.evaluate(() => {
    (document.querySelector("h1") as HTMLElement).textContent = "Next";
    for (const each of document.querySelectorAll("body > :not(main)")) {
      if (!each.hasAttribute("data-turbo-permanent")) each.remove();
    }
  });
  await page.getByRole("heading", { name: "Next" }).waitFor();
  await expect.poll(() => page.locator("parley-chat").count()).toBe(1);
  expect([await frame?.evaluate(() => "isTheSame" in window), await box(page).inputValue()]).toEqual([
    true,
    "half a thought",
  ]);
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

test("a widget that the site has taken away does not come back with what was to be loaded later, nor with a user", async () => {
  const [user, other] = [newUser(), newUser()];
  await Promise.all([place.meet(user), place.meet(other)]);
  const page = await open(browser, { viewport: DESK });
  await page.addInitScript(() => {
    const later: (() => void)[] = [];
    Object.assign(window, { later, requestIdleCallback: (work: () => void) => later.push(work) });
  });
  const rest = () =>
    page.evaluate(() => {
      const { later } = window as unknown as { later: (() => void)[] };
      for (const work of later) work();
      return later.splice(0).length;
    });
  await page.goto(siteUrl(user));
  await page.getByRole("button", { name: "Open chat" }).waitFor();
  await page.evaluate(() => document.querySelector("parley-chat")?.remove());
  expect([await rest(), await page.locator("parley-chat").count()]).toEqual([1, 0]);
  await call(page, "identify", { user: other, hash: place.hashOf(other) });
  expect([await rest(), await page.locator("parley-chat").count()]).toEqual([1, 0]);
  await call(page, "logout");
  expect([await rest(), await page.locator("parley-chat").count()]).toEqual([0, 0]);
  await call(page, "open");
  await box(page).waitFor();
});

test("a widget that the site moves shows the present visitor's chat, and returns if its new place goes", async () => {
  const page = await visitSite(newUser());
  await call(page, "open");
  await box(page).waitFor();
  await call(page, "logout");
  await call(page, "open");
  await box(page).fill("As a stranger");
  await page.keyboard.press("Enter");
  await chat(page).getByText("Sent").waitFor();
  await page.evaluate(() => document.querySelector("p")?.append(document.querySelector("parley-chat") as Element));
  await chat(page).getByText("As a stranger").waitFor();
  expect(await page.evaluate(() => document.querySelector("p > parley-chat") !== null)).toBe(true);
  await page.evaluate(() => document.querySelector("p")?.remove());
  await chat(page).getByText("As a stranger").waitFor();
  await closeChat(page, () => page.getByRole("button", { name: "Close chat" }).click());
});

test("a cached copy of the page brings no second widget", async () => {
  const page = await visitSite(newUser());
  const button = page.getByRole("button", { name: "Open chat" });
  await button.waitFor();
  await page.evaluate("window.copy = document.body.cloneNode(true)");
  await page.evaluate(SWAPS["the body, as Turbo does"]);
  await page.getByRole("heading", { name: "Next" }).waitFor();
  await page.evaluate("document.documentElement.replaceChild(window.copy, document.body)");
  await page.getByRole("heading", { name: "A shop" }).waitFor();
  await expect.poll(() => page.locator("parley-chat").count()).toBe(1);
  await button.click();
  await box(page).waitFor();
});
