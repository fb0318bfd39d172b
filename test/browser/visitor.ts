import type { Browser, BrowserContextOptions, Page, WebSocketRoute } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import type { IncomingFrame } from "../../src/web/visitor/frames.ts";
import { type Place, pageUrl } from "./fixtures.ts";

/** Shorter than a test's timeout, so that a failed run names the step. A busy machine needs long for some. */
const PATIENCE_MS = 60_000;

let users = 0;

/** A new user. Every test has its own. */
export function newUser(): string {
  return `user ${process.pid} ${++users}`;
}

/** Errors of a page, and violations of its policy. */
export interface Faults {
  faults: string[];
}

interface Wishes extends BrowserContextOptions {
  user?: string;
  /** Doesn't create the company's chat with this user first. */
  unmet?: boolean;
  fragment?: Record<string, string>;
  /** Runs before the page is opened. */
  before?: (page: Page) => Promise<unknown>;
}

/** A visitor on the chat's page, with a new browser context. */
export async function visit(browser: Browser, place: Place, wishes: Wishes = {}): Promise<Page & Faults> {
  const { user = newUser(), unmet = false, fragment = {}, before, ...options } = wishes;
  const page = await open(browser, options);
  await Promise.all([before?.(page), unmet || place.meet(user)]);
  await page.goto(pageUrl(place, user, fragment));
  await page.getByRole("log").waitFor({ state: "attached" });
  return page;
}

/** An empty page in a new browser context that records its errors. It closes after the test. */
export async function open(browser: Browser, options: BrowserContextOptions = {}): Promise<Page & Faults> {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, locale: "en-GB", ...options });
  // A page whose texts take five seconds is English: on a busy machine they may.
  await context.addInitScript(() => Object.assign(AbortSignal, { timeout: () => new AbortController().signal }));
  // A user can have only a few sockets.
  onTestFinished(() => context.close());
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (line) => {
    if (line.type() === "error" && /policy|trusted/i.test(line.text())) faults.push(line.text());
  });
  return Object.assign(page, { faults });
}

/** Sums up the layout shifts of a page as `window.shift`, with those after an input. */
export function watchShifts(page: Page): Promise<unknown> {
  return page.addInitScript(() => {
    Object.assign(window, { shift: 0 });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as unknown as { value: number }[]) {
        Object.assign(window, { shift: (window as unknown as { shift: number }).shift + entry.value });
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
}

/** Types into the box and sends with the keyboard. */
export async function write(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.keyboard.press("Enter");
}

/** Closes a site's chat, and waits until its frame knows. A message that comes before that counts as read. */
export async function closeChat(page: Page, close: () => Promise<unknown>): Promise<void> {
  // Before the frame has said so, the site tells it nothing.
  await page.locator("parley-chat .here").waitFor({ state: "attached" });
  const heard = await page
    .frameLocator("iframe")
    .locator("html")
    .evaluateHandle(() => {
      const { promise: closed, resolve } = Promise.withResolvers<void>();
      addEventListener("message", ({ data }) => data?.parley === "closed" && resolve());
      return { closed };
    });
  await close();
  await heard.evaluate(({ closed }) => closed);
}

/** The texts of the list, in order. */
export async function shown(page: Page): Promise<string[]> {
  return page.getByRole("log").locator(".text").allTextContents();
}

/** The texts of the whole conversation, in order: a long one draws only what is near the view, so the page is scrolled. */
export async function readThrough(page: Page): Promise<string[]> {
  const texts = await page.locator(".scroller").evaluate(async (box) => {
    const found = new Map<number, string>();
    const drawn = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    box.scrollTop = 0;
    for (let isAtEnd = false; !isAtEnd; box.scrollTop += box.clientHeight / 2) {
      await drawn();
      isAtEnd = box.scrollTop + box.clientHeight > box.scrollHeight - 2;
      for (const message of box.querySelectorAll(".message[id]")) {
        found.set(Number(/\d+$/.exec(message.id)?.[0]), message.querySelector(".text")?.textContent ?? "");
      }
    }
    return [...found];
  });
  return texts.toSorted(([one], [other]) => one - other).map(([, text]) => text);
}

/** Waits until `look` returns the expected value. */
export async function eventually<T>(look: () => Promise<T>, wanted: T): Promise<void> {
  await expect.poll(look, { timeout: PATIENCE_MS, interval: 25 }).toEqual(wanted);
}

/** A proxy between page and server that the test controls. The server needs no switch for it. */
export interface Weather {
  /** How many sockets the page has opened. */
  opened: number;
  /** Closes all current and new sockets with this code, until `clear`. */
  storm(code: number): Promise<void>;
  clear(): void;
  /** Closes the socket once. */
  cut(): Promise<void>;
  /** Responds to the page's next messages and reactions itself, instead of passing them on. */
  refuse: ((id: string) => IncomingFrame) | null;
  /** Passes on the next frames, and closes the socket before the server's response arrives. */
  deaf: boolean;
  /** Sends a frame to the page, as if the server did. */
  tell(frame: object): void;
}

/** A visitor whose sockets go through a proxy that the test controls. */
export async function visitInWeather(
  browser: Browser,
  place: Place,
  wishes: Omit<Wishes, "before">,
): Promise<{ page: Page & Faults; weather: Weather }> {
  let weather: Weather | undefined;
  const page = await visit(browser, place, {
    ...wishes,
    before: async (early) => void (weather = await weatherOf(early)),
  });
  if (!weather) throw new Error("the page was opened without weather");
  return { page, weather };
}

async function weatherOf(page: Page): Promise<Weather> {
  let code: number | null = null;
  const routes = new Set<WebSocketRoute>();
  const hangUp = async (with_: number) => {
    const open = [...routes];
    routes.clear();
    await Promise.all(open.map((route) => route.close({ code: with_ })));
  };
  const weather: Weather = {
    opened: 0,
    storm: async (next) => {
      code = next;
      await hangUp(next);
    },
    clear: () => {
      code = null;
    },
    cut: () => hangUp(1012),
    refuse: null,
    deaf: false,
    tell: (frame) => {
      for (const route of routes) route.send(JSON.stringify(frame));
    },
  };
  await page.routeWebSocket(/\/socket\?/, (route) => {
    weather.opened++;
    if (code !== null) return void route.close({ code });
    routes.add(route);
    const server = route.connectToServer();
    route.onMessage((data) => {
      const frame: { type: string; id: string } = JSON.parse(String(data));
      if ((frame.type === "message" || frame.type === "reaction") && weather.refuse)
        route.send(JSON.stringify(weather.refuse(frame.id)));
      else server.send(data);
    });
    server.onMessage((data) => {
      if (!weather.deaf || JSON.parse(String(data)).type !== "stored") return route.send(data);
      weather.deaf = false;
      void hangUp(1012);
    });
  });
  return weather;
}
