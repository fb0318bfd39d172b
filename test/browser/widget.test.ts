import { AxeBuilder } from "@axe-core/playwright";
import type { Locator } from "playwright-core";
import { expect, test } from "vitest";
import { intercept } from "./disturb.ts";
import { browser } from "./file-browser.ts";
import { openPlace, socketUrl } from "./fixtures.ts";
import { closeChat, eventually, newUser, open } from "./visitor.ts";
import {
  anonymousUrl,
  box,
  call,
  chat,
  DESK,
  place,
  site,
  siteUrl,
  visitSite,
  visitUnidentified,
} from "./widget-site.ts";

const isFocused = (element: Element) => element === element.ownerDocument.activeElement;

test("the button opens the chat with the focus in the box, and Escape returns the focus", async () => {
  const user = newUser();
  const page = await visitSite(user);
  const button = page.getByRole("button", { name: "Open chat" });
  await button.focus();
  await page.keyboard.press("Enter");
  await box(page).waitFor();
  await eventually(() => box(page).evaluate(isFocused), true);
  await page.keyboard.type("from the shop");
  await page.keyboard.press("Enter");
  await eventually(() => place.heard(user), ["from the shop"]);
  await page.keyboard.press("Escape");
  await eventually(() => button.getAttribute("aria-expanded"), "false");
  expect(await button.evaluate((element) => (element.getRootNode() as ShadowRoot).activeElement === element)).toBe(
    true,
  );
  await eventually(() => page.locator("iframe").isVisible(), false);
  expect(page.faults).toEqual([]);
});

test("the button counts unread messages, which are read only when the chat is open", async () => {
  const user = newUser();
  await place.say(user, "one");
  const page = await visitSite(user);
  await page.getByRole("button", { name: "Open chat, 1 unread" }).waitFor();
  await place.say(user, "two");
  await page.getByRole("button", { name: "Open chat, 2 unread" }).click();
  await eventually(() => place.statuses(user), ["READ", "READ"]);
  await closeChat(page, () => page.getByRole("button", { name: "Close chat" }).click());
  await place.say(user, "three");
  await page.getByRole("button", { name: "Open chat, 1 unread" }).waitFor();
  await eventually(() => place.statuses(user), ["READ", "READ", "DELIVERED"]);
});

test("the site's style and policy don't affect the widget", async () => {
  const page = await visitSite(newUser());
  const button = page.getByRole("button", { name: "Open chat" });
  const { x, y, width, height } = (await button.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  expect([1000 - x - width, 760 - y - height, width, height]).toEqual([20, 20, 56, 56]);
  expect(page.faults).toEqual([]);
});

test("the site chooses the language, side and colors", async () => {
  const page = await visitSite(newUser(), { locale: "de", position: "left", "color-scheme": "dark" });
  const button = page.getByRole("button", { name: "Chat öffnen" });
  expect((await button.boundingBox())?.x).toBe(20);
  await button.click();
  await chat(page).getByRole("textbox", { name: "Nachricht" }).waitFor();
  await expect.poll(() => chat(page).locator("html").getAttribute("data-scheme")).toBe("dark");
});

test("the widget and the chat fetch the texts of one language only, with its plural", async () => {
  const user = newUser();
  await place.say(user, "Dzień dobry");
  const page = await open(browser, { viewport: DESK });
  const fetched: string[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.endsWith(".json")) fetched.push(pathname);
  });
  await page.goto(siteUrl(user, { locale: "pl-PL" }));
  await page.getByRole("button", { name: "Otwórz czat, nieprzeczytane: 1" }).click();
  await chat(page).getByRole("textbox", { name: "Wiadomość" }).waitFor();
  expect(fetched).toEqual(["/widget/pl.json", "/web-assets/pl.json"]);
});

test("on a phone, the chat fills the screen and has a close button", async () => {
  const page = await visitSite(newUser(), {}, place, { width: 360, height: 640 });
  await page.getByRole("button", { name: "Open chat" }).click();
  await box(page).waitFor();
  await eventually(() => page.locator("iframe").boundingBox(), { x: 0, y: 0, width: 360, height: 640 });
  await expect.poll(() => page.getByRole("button", { name: "Close chat" }).count()).toBe(0);
  await chat(page).getByRole("button", { name: "Close chat" }).click();
  await eventually(() => page.locator("iframe").isVisible(), false);
});

test("on a phone, the launcher closes a chat that is still loading", async () => {
  const user = newUser();
  await place.meet(user);
  const page = await open(browser, { viewport: { width: 360, height: 640 } });
  await intercept(page, "**/web-assets/chat.js", () => undefined);
  await page.goto(siteUrl(user));
  await page.getByRole("button", { name: "Open chat" }).click();
  await page.getByRole("button", { name: "Close chat" }).click();
  await eventually(() => page.locator("iframe").isVisible(), false);
});

test("for a new visitor, the only request before opening is whether the chat is available", async () => {
  const page = await open(browser);
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await page.goto(anonymousUrl());
  await page.getByRole("button", { name: "Open chat" }).waitFor();
  expect(asked.filter((path) => path.startsWith("/web"))).toEqual([`/web/${place.channelId}/availability`]);
});

test("a visitor with a chat sees the unread count on the next page without opening it", async () => {
  const page = await open(browser, { viewport: DESK });
  await page.goto(anonymousUrl());
  await page.getByRole("button", { name: "Open chat" }).click();
  await box(page).fill("hello");
  await page.keyboard.press("Enter");
  await chat(page).getByText("Sent", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Close chat" }).click();
  await page.goto(anonymousUrl());
  await chat(page).getByText("hello").waitFor({ state: "attached" });
  await expect.poll(() => page.getByRole("button", { name: "Open chat" }).getAttribute("aria-expanded")).toBe("false");
});

test("an open chat reopens on the site's next page without taking the focus", async () => {
  const user = newUser();
  const page = await visitSite(user);
  await page.getByRole("button", { name: "Open chat" }).click();
  await box(page).fill("half a thought");
  await page.goto(siteUrl(user));
  await eventually(() => box(page).inputValue(), "half a thought");
  expect(await page.evaluate(() => document.activeElement === document.body)).toBe(true);
});

test("a user with an expiring hash is accepted", async () => {
  const user = newUser();
  const expires = String(Math.floor(Date.now() / 1_000) + 3_600);
  const page = await visitSite(user, { "user-hash": place.hashUntil(user, expires), "user-expires": expires });
  await page.getByRole("button", { name: "Open chat" }).click();
  await chat(page).getByText(`Writing as ${user}`).waitFor();
  await box(page).fill("dated");
  await page.keyboard.press("Enter");
  await eventually(() => place.heard(user), ["dated"]);
});

test("messages from other windows are ignored", async () => {
  const page = await visitSite(newUser());
  await page.getByRole("button", { name: "Open chat" }).click();
  await box(page).waitFor();
  await page.evaluate(() => {
    postMessage({ parley: "close" }, "*");
    postMessage({ parley: "unread", count: 9 }, "*");
    return new Promise<void>((resolve) => {
      addEventListener("message", ({ data }) => data === "after the others" && resolve());
      postMessage("after the others", "*");
    });
  });
  await expect.poll(() => page.getByRole("button", { name: "Close chat" }).getAttribute("aria-expanded")).toBe("true");
});

test("the widget works on an allowed site", async () => {
  const welcome = await openPlace({ allowedOrigins: [site] });
  const user = newUser();
  const page = await visitSite(user, {}, welcome);
  await page.getByRole("button", { name: "Open chat" }).click();
  await box(page).fill("from a friend's site");
  await page.keyboard.press("Enter");
  await eventually(() => welcome.heard(user), ["from a friend's site"]);
  expect(page.faults).toEqual([]);
});

test("on a site that isn't allowed, no button appears, the console says why, and no socket opens", async () => {
  const elsewhere = await openPlace({ allowedOrigins: ["https://shop.example"] });
  const page = await open(browser, { viewport: DESK });
  const warned = page.waitForEvent("console", (message) => message.type() === "warning");
  await page.goto(siteUrl(newUser(), {}, elsewhere));
  expect((await warned).text()).toBe(
    `Parley: no chat at ${place.base}. Is ${elsewhere.channelId} a web channel whose allowedOrigins name ${site}?`,
  );
  await expect.poll(() => page.locator("parley-chat").count()).toBe(0);
  expect(page.faults).toEqual([]);

  const code = await page.evaluate(
    (url) =>
      new Promise<number>((resolve) => {
        const socket = new WebSocket(url, ["parley.v1", "token.0123456789012345678901"]);
        socket.addEventListener("close", ({ code }) => resolve(code));
      }),
    socketUrl(elsewhere),
  );
  expect(code).toBe(4403);
});

test("for a missing channel, no button appears, and the console says why", async () => {
  const page = await open(browser, { viewport: DESK });
  const warned = page.waitForEvent("console", (message) => message.type() === "warning");
  await page.goto(anonymousUrl({ channel: "chn_gNoSuchChannel00" }));
  expect((await warned).text()).toContain("Is chn_gNoSuchChannel00 a web channel");
  await expect.poll(() => page.locator("parley-chat").count()).toBe(0);
});

test("if the availability is unknown, the frame finds out, and the button says so", async () => {
  const elsewhere = await openPlace({ allowedOrigins: ["https://shop.example"] });
  const page = await open(browser, { viewport: DESK });
  await intercept(page, "**/availability", (route) => route.abort());
  await page.goto(siteUrl(newUser(), {}, elsewhere));
  await page.getByRole("button", { name: "Open chat" }).click();
  await page.getByRole("status").getByText("The chat can’t be shown on this page.").waitFor();
  await expect.poll(() => page.locator("iframe").isVisible()).toBe(false);
  const { violations } = await new AxeBuilder({ page }).include("parley-chat").analyze();
  expect(violations.map(({ id }) => id)).toEqual([]);
  await page.getByRole("button", { name: "Close chat" }).click();
  await eventually(() => page.getByText("can’t be shown").count(), 0);
});

test("two script tags of one channel show one button", async () => {
  const page = await visitSite(newUser());
  await page.getByRole("button", { name: "Open chat" }).waitFor();
  await page.evaluate(
    ({ src, channel }) =>
      new Promise((resolve) => {
        const script = document.createElement("script");
        script.src = src;
        script.dataset.channel = channel;
        script.addEventListener("load", resolve);
        document.head.append(script);
      }),
    { src: `${place.base}/widget.js`, channel: place.channelId },
  );
  await expect.poll(() => page.locator("parley-chat").count()).toBe(1);
});

test("the widget has no accessibility violation, closed or open", async () => {
  const user = newUser();
  await place.say(user, "one");
  const page = await visitSite(user);
  await page.getByRole("button", { name: "Open chat, 1 unread" }).waitFor();
  const closed = await new AxeBuilder({ page }).include("parley-chat").analyze();
  expect(closed.violations.map(({ id }) => id)).toEqual([]);
  await page.getByRole("button", { name: "Open chat" }).click();
  await chat(page).getByText("one").waitFor();
  // The message fades in.
  await chat(page)
    .locator("html")
    .evaluate(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)));
  const opened = await new AxeBuilder({ page }).include("parley-chat").analyze();
  expect(opened.violations.map(({ id }) => id)).toEqual([]);
});

test("the button has the company's color, and is not there outside of its hours if the company wants so", async () => {
  const colored = await openPlace({ accentColor: "#aa0000" });
  const page = await visitSite(newUser(), {}, colored);
  const button = page.getByRole("button", { name: "Open chat" });
  expect(await button.evaluate((each) => getComputedStyle(each).backgroundColor)).toBe("rgb(170, 0, 0)");
  const hours = { timeZone: "UTC", week: {} };
  const hidden = await openPlace({ hours, hideWhenClosed: true });
  const closed = await open(browser);
  const asked = closed.waitForResponse(/availability/);
  await closed.goto(siteUrl(newUser(), {}, hidden));
  expect(await (await asked).json()).toMatchObject({ isOpen: false, changesAt: null });
  await closed.locator("parley-chat .bare").waitFor({ state: "attached" });
  await expect.poll(() => closed.locator("parley-chat .launcher").isVisible()).toBe(false);
  const shown = await visitSite(newUser(), {}, await openPlace({ hours }));
  await shown.getByRole("button", { name: "Open chat" }).waitFor();
});

test("a site can leave the button out, and choose the color", async () => {
  const { page, heard } = await visitUnidentified({ launcher: "off", accent: "#7a1fa2" });
  await eventually(heard, [["ready", undefined]]);
  await expect.poll(() => page.locator("parley-chat .launcher").isVisible()).toBe(false);
  await call(page, "open");
  await box(page).waitFor();
  const send = chat(page).getByRole("button", { name: "Send" });
  await eventually(() => send.evaluate((element) => getComputedStyle(element).backgroundColor), "rgb(122, 31, 162)");
});

test("a site whose storage is blocked still has a chat", async () => {
  const page = await open(browser, { viewport: DESK });
  await page.addInitScript(() => {
    for (const name of ["localStorage", "sessionStorage"]) {
      Object.defineProperty(window, name, {
        get: () => {
          throw new DOMException("blocked", "SecurityError");
        },
      });
    }
  });
  await page.goto(anonymousUrl());
  await page.getByRole("button", { name: "Open chat" }).click();
  await box(page).fill("Hello");
  await page.keyboard.press("Enter");
  await chat(page).getByText("Sent").waitFor();
  expect(page.faults).toEqual([]);
});

test("the button keeps the distance from the bottom that the site asks for, and the chat stands above it", async () => {
  const page = await visitSite(newUser(), { offset: "90" });
  const button = page.getByRole("button", { name: "Open chat" });
  const bottomOf = async (part: Locator) => {
    const { y = 0, height = 0 } = (await part.boundingBox()) ?? {};
    return Math.round(y + height);
  };
  // A bar of 80 px at the bottom of the site is not covered.
  await expect.poll(() => bottomOf(button)).toBe(DESK.height - 90);
  await button.click();
  await box(page).waitFor();
  const frame = page.locator("parley-chat iframe");
  await expect.poll(() => bottomOf(frame)).toBe(DESK.height - 90 - 72);
  expect((await frame.boundingBox())?.y).toBeGreaterThanOrEqual(0);
  const standard = await visitSite(newUser(), { offset: "a lot" });
  await expect.poll(() => bottomOf(standard.getByRole("button", { name: "Open chat" }))).toBe(DESK.height - 20);
});
