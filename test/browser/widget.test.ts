import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { AxeBuilder } from "@axe-core/playwright";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { browser } from "./file-browser.ts";
import { openPlace, type Place, socketUrl } from "./fixtures.ts";
import { closeChat, eventually, newUser, open } from "./visitor.ts";

let place: Place;
let site = "";
const DESK = { width: 1000, height: 760 };

// The hardest site to live on: every element of it is restyled with importance, and its own policy forbids inline style.
const HOSTILE =
  "* { display: none !important; font: 40px fantasy !important } html, body, main, main * { display: block !important }";
const sites = createServer((request, response) => {
  const { searchParams } = new URL(request.url ?? "", "http://site");
  const attributes = [...searchParams].map(([name, value]) => `data-${name}="${value}"`).join(" ");
  response.writeHead(200, {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": `default-src 'none'; style-src 'sha256-${styleHash}'; script-src ${place.base}; frame-src ${place.base}; connect-src *`,
  });
  response.end(`<!doctype html><html lang="en"><head><title>Shop</title>
<meta name="viewport" content="width=device-width"><style>${HOSTILE}</style>
<script src="${place.base}/widget.js" ${attributes} async></script></head>
<body><main><h1>A shop</h1><p>Things to buy.</p></main></body></html>`);
});
const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(HOSTILE));
const styleHash = Buffer.from(digest).toString("base64");

beforeAll(async () => {
  place = await openPlace();
  await new Promise<void>((resolve) => sites.listen(0, "127.0.0.1", resolve));
  // Another name for the same machine is another site to the browser.
  site = `http://localhost:${(sites.address() as AddressInfo).port}`;
});
afterAll(() => {
  sites.closeAllConnections();
  sites.close();
});

async function visitSite(user: string, attributes: Record<string, string> = {}, of = place, viewport = DESK) {
  const page = await open(browser, { viewport });
  await of.meet(user);
  await page.goto(siteUrl(user, attributes, of));
  return page;
}

function siteUrl(user: string, attributes: Record<string, string> = {}, of = place): string {
  const named = { channel: of.channelId, user, "user-hash": of.hashOf(user), ...attributes };
  return `${site}/?${String(new URLSearchParams(named))}`;
}

const chat = (page: Page) => page.frameLocator("iframe");
const box = (page: Page) => chat(page).getByRole("textbox", { name: "Message" });

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
  await page.route("**/web-assets/chat.js", () => undefined);
  await page.goto(siteUrl(user));
  await page.getByRole("button", { name: "Open chat" }).click();
  await page.getByRole("button", { name: "Close chat" }).click();
  await eventually(() => page.locator("iframe").isVisible(), false);
});

test("for a new visitor, the only request before opening is whether the chat is available", async () => {
  const page = await open(browser);
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await page.goto(`${site}/?channel=${place.channelId}`);
  await page.getByRole("button", { name: "Open chat" }).waitFor();
  expect(asked.filter((path) => path.startsWith("/web"))).toEqual([`/web/${place.channelId}/availability`]);
});

test("a visitor with a chat sees the unread count on the next page without opening it", async () => {
  const page = await open(browser, { viewport: DESK });
  await page.goto(`${site}/?channel=${place.channelId}`);
  await page.getByRole("button", { name: "Open chat" }).click();
  await box(page).fill("hello");
  await page.keyboard.press("Enter");
  await chat(page).getByText("Sent", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Close chat" }).click();
  await page.goto(`${site}/?channel=${place.channelId}`);
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
  await page.goto(`${site}/?channel=chn_gNoSuchChannel00`);
  expect((await warned).text()).toContain("Is chn_gNoSuchChannel00 a web channel");
  await expect.poll(() => page.locator("parley-chat").count()).toBe(0);
});

test("if the availability is unknown, the frame finds out, and the button says so", async () => {
  const elsewhere = await openPlace({ allowedOrigins: ["https://shop.example"] });
  const page = await open(browser, { viewport: DESK });
  await page.route("**/availability", (route) => route.abort());
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

test("the widget has no accessibility violation, closed or open", async () => {
  const user = newUser();
  await place.say(user, "one");
  const page = await visitSite(user);
  await page.getByRole("button", { name: "Open chat, 1 unread" }).waitFor();
  const closed = await new AxeBuilder({ page }).include("parley-chat").analyze();
  expect(closed.violations.map(({ id }) => id)).toEqual([]);
  await page.getByRole("button", { name: "Open chat" }).click();
  await chat(page).getByText("one").waitFor();
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

/** The site's own calls. */
const call = (page: Page, ...given: unknown[]) =>
  page.evaluate((args) => (window as unknown as { Parley: { push(call: unknown): void } }).Parley.push(args), given);

/** What the widget tells the site, from before it is there. */
async function listening(page: Page): Promise<() => Promise<unknown[]>> {
  await page.addInitScript(() => {
    const heard: unknown[] = [];
    const listen = (event: string) => ["on", event, (detail: unknown) => heard.push([event, detail])];
    Object.assign(window, {
      heard,
      Parley: ["ready", "open", "close", "unread", "message"].map(listen),
    });
  });
  return () => page.evaluate(() => (window as unknown as { heard: unknown[] }).heard.map((one) => one));
}

const anonymous = (of = place) => `${site}/?${String(new URLSearchParams({ channel: of.channelId }))}`;
const unidentified = async (attributes: Record<string, string> = {}) => {
  const page = await open(browser, { viewport: DESK });
  const heard = await listening(page);
  await page.goto(`${anonymous()}&${String(new URLSearchParams(attributes))}`);
  return { page, heard };
};

test("calls that wait for the script are made, and the site hears what happens, but never a text", async () => {
  const user = newUser();
  const page = await open(browser, { viewport: DESK });
  const heard = await listening(page);
  await page.addInitScript(() => (window as unknown as { Parley: unknown[] }).Parley.push(["open"]));
  await place.meet(user);
  await page.goto(siteUrl(user));
  await box(page).fill("A secret");
  await page.keyboard.press("Enter");
  await eventually(heard, [
    ["ready", undefined],
    ["open", undefined],
    ["message", { seq: 1, direction: "INBOUND" }],
  ]);
  await closeChat(page, () => call(page, "close"));
  await place.say(user, "Another secret");
  await eventually(
    async () => (await heard()).slice(3),
    [
      ["close", undefined],
      ["unread", 1],
      ["message", { seq: 2, direction: "OUTBOUND" }],
    ],
  );
  await call(page, "toggle");
  await eventually(
    async () => (await heard()).slice(6),
    [
      ["open", undefined],
      ["unread", 0],
    ],
  );
});

test("a wrong call and a listener that fails are said in the browser's console, and break nothing", async () => {
  const { page, heard } = await unidentified();
  const said: string[] = [];
  page.on("console", (line) => said.push(line.text()));
  await eventually(heard, [["ready", undefined]]);
  for (const wrong of [["opn"], ["identify"], ["identify", { user: 5, hash: "x" }], ["on", "unread"], ["on", "x", 1]]) {
    await call(page, ...wrong);
  }
  await page.addScriptTag({ url: `${place.base}/widget.js` });
  await page.evaluate(() => {
    const { Parley } = window as unknown as { Parley: Record<string, (...given: unknown[]) => void> };
    Parley.push?.(5, null, "close");
    Parley.identify?.();
    Parley.on?.("open", () => {
      throw new Error("the site's own fault");
    });
  });
  await call(page, "open");
  await box(page).waitFor();
  expect(said).toContain("Parley: the script needs a data-channel");
  expect(said.flatMap((text) => /^Parley: wrong call: (.*)/.exec(text)?.[1] ?? [])).toEqual([
    "opn()",
    "identify()",
    "identify(object)",
    "on(string)",
    "on(string, number)",
    "5()",
    "null()",
    "identify()",
  ]);
  expect(page.faults).toEqual(["the site's own fault"]);
  page.faults.length = 0;
});

test("nothing is kept in the browser before the chat is opened, and the token only with the first message", async () => {
  const { page } = await unidentified();
  await page.getByRole("button", { name: "Open chat" }).waitFor();
  const kept = async () => {
    const frame = page.frames().find((one) => one.url().includes("/web/"));
    const keysIn = () => [...Object.keys(localStorage), ...Object.keys(sessionStorage)];
    return [await page.evaluate(keysIn), frame ? await frame.evaluate(keysIn) : []];
  };
  const { channelId } = place;
  expect(await kept()).toEqual([[], []]);
  await page.getByRole("button", { name: "Open chat" }).click();
  await box(page).waitFor();
  await eventually(kept, [[`parley.open.${channelId}`], []]);
  await box(page).fill("Hello");
  await page.keyboard.press("Enter");
  await chat(page).getByText("Sent").waitFor();
  await eventually(
    async () => (await kept()).map((keys) => keys.toSorted()),
    [[`parley.known.${channelId}`, `parley.open.${channelId}`], [`parley.token.${channelId}`]],
  );
  expect(await page.context().cookies()).toEqual([]);
});

test("a visitor who signs in has a chat of their own, which names the one before, and signing out leaves nothing", async () => {
  const { page } = await unidentified();
  await page.getByRole("button", { name: "Open chat" }).click();
  await box(page).fill("I am nobody");
  await page.keyboard.press("Enter");
  await chat(page).getByText("Sent").waitFor();
  const [former] = (await place.chats()).filter(({ contact }) => contact.address.startsWith("web_"));
  const user = newUser();
  await place.say(user, "Hello, user");
  await call(page, "identify", { user, hash: place.hashOf(user), name: "Ada" });
  await chat(page).getByText("Hello, user").waitFor();
  await expect.poll(() => chat(page).getByText("I am nobody").count()).toBe(0);
  await expect.poll(() => chat(page).getByText("Ada").count()).toBe(1);
  await eventually(async () => (await place.chats()).find(({ contact }) => contact.address === user)?.metadata, {
    anonymousChatId: former?.id,
  });
  await call(page, "logout");
  await eventually(() => page.getByRole("button", { name: "Open chat" }).getAttribute("aria-expanded"), "false");
  await call(page, "open");
  await box(page).waitFor();
  await expect.poll(() => chat(page).locator(".text").count()).toBe(0);
  const frame = page.frames().find((one) => one.url().includes("/web/"));
  await eventually(async () => frame?.evaluate(() => Object.keys(localStorage)), []);
});

test("a site that removes the frame or the whole widget gets it back with the next opening", async () => {
  const user = newUser();
  const page = await visitSite(user);
  await call(page, "open");
  await box(page).waitFor();
  await closeChat(page, () => call(page, "close"));
  await place.say(user, "Are you there?");
  const count = page.getByRole("button", { name: "Open chat, 1 unread" });
  await count.waitFor();
  await page.evaluate(() => document.querySelector("parley-chat")?.shadowRoot?.querySelector("iframe")?.remove());
  await expect.poll(() => count.count()).toBe(1);
  await call(page, "open");
  await chat(page).getByText("Are you there?").waitFor();
  await call(page, "close");
  await page.evaluate(() => document.querySelector("parley-chat")?.remove());
  await call(page, "open");
  await chat(page).getByText("Are you there?").waitFor();
});

/** How sites put another page into the body. */
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

test("a site can leave the button out, and choose the color", async () => {
  const { page, heard } = await unidentified({ launcher: "off", accent: "#7a1fa2" });
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
  await page.goto(anonymous());
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
