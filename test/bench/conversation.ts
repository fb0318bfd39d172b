import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { buildWeb } from "../../src/web/build.ts";
import { launchBrowser } from "../browser/browser.ts";
import { type Channel, createChannel, createKey, createOrganization } from "../support/world/factories.ts";
import { hashOf } from "../support/world/identity.ts";
import { type RunSettings, withSetup } from "./bench.ts";
import { serveFiles, signIn } from "./console.ts";
import type { Talk } from "./filling.ts";
import { Place } from "./fixtures.ts";
import { authorized } from "./request.ts";
import { type Held, ScrolledPage, type Scrolling } from "./scrolling.ts";
import { withServer } from "./server.ts";
import { shown } from "./sizes.ts";

/** A long conversation on one page. */
interface PageMeasurement {
  page: "the visitors’ page" | "the console";
  /** Before anything is scrolled. */
  opened: Held;
  /** Up through all messages, with the loading of older ones; then down, with all of them loaded. */
  up: Scrolling;
  down: Scrolling;
  /** When all was loaded and scrolled through. */
  after: Held;
  /** What the main thread worked for a message that came then, on average, in ms. */
  arrival: number;
}

export interface ConversationMeasurement {
  messages: number;
  pictures: number;
  pages: PageMeasurement[];
}

/** One in this many messages is a picture. */
const EVERY = 20;
const SIDES = [
  [1_200, 900],
  [900, 1_200],
  [1_600, 600],
  [640, 640],
] as const;
const ARRIVALS = 10;

/** Opens a chat of this many messages on both pages, scrolls through all of it, and reads the browser's trace. */
export async function measureConversation(messages: number, settings: RunSettings): Promise<ConversationMeasurement> {
  const { log } = settings;
  const folder = await mkdtemp(join(tmpdir(), "parley-conversation-"));
  await buildWeb(folder);
  const browser = await launchBrowser();
  try {
    return await withSetup(settings, { minify: true }, async (setup) => {
      log(`Making ${shown(messages)} messages`);
      const talk = await pictures(browser);
      const chat = await withServer(setup, { counted: true, showErrors: true }, (server) =>
        makeChat(new Place(server, setup.secrets.ADMIN_TOKEN), messages, talk),
      );
      // An object that starts anew sees what was written into its storage.
      return withServer(setup, { counted: false, showErrors: true }, async (server) => {
        const base = server.url("parley");
        const send = () => sendTo(chat, base);
        log("Scrolling the visitors’ page");
        const visitor = await openVisitor(browser, base, chat, folder);
        const ofVisitor = await measurePage("the visitors’ page", visitor, ".scroller", send);
        await visitor.context().close();
        log("Scrolling the console");
        const person = await openPerson(browser, base, chat, folder, setup.secrets.ADMIN_TOKEN);
        const ofConsole = await measurePage("the console", person, ".messages", send);
        return { messages, pictures: Math.floor(messages / EVERY), pages: [ofVisitor, ofConsole] };
      });
    });
  } finally {
    await browser.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Pictures with a gradient and some noise, as a browser compresses them. */
async function pictures(browser: Browser): Promise<Talk> {
  const page = await browser.newPage();
  const drawn = await page.evaluate(
    (all) =>
      all.map(([width, height], index) => {
        const canvas = Object.assign(document.createElement("canvas"), { width, height });
        const context = canvas.getContext("2d");
        if (!context) throw new Error("there is no canvas");
        const gradient = context.createLinearGradient(0, 0, width, height);
        gradient.addColorStop(0, `hsl(${index * 90} 70% 40%)`);
        gradient.addColorStop(1, `hsl(${index * 90 + 60} 70% 70%)`);
        context.fillStyle = gradient;
        context.fillRect(0, 0, width, height);
        for (let n = 0; n < 3_000; n++) {
          context.fillStyle = `hsl(${n} 60% 50% / 40%)`;
          context.fillRect((n * 7_919) % width, (n * 104_729) % height, 12, 12);
        }
        return { width, height, base64: canvas.toDataURL("image/jpeg", 0.8).split(",")[1] ?? "" };
      }),
    SIDES.map(([width, height]) => [width, height] as const),
  );
  await page.close();
  return { every: EVERY, pictures: drawn };
}

interface LongChat {
  id: string;
  channel: Channel;
  /** Of the visitor. */
  address: string;
  /** Of a key that may send. */
  secret: string;
}

async function makeChat(place: Place, messages: number, talk: Talk): Promise<LongChat> {
  await place.migrate();
  const organization = await createOrganization(place);
  const channel = await createChannel(organization);
  const { secret } = await createKey(organization, { permissions: ["messages:send"] });
  return { ...(await place.talk(channel, messages, talk)), channel, secret };
}

async function sendTo({ id, secret }: LongChat, base: URL): Promise<void> {
  const headers = { ...authorized(secret), "Content-Type": "application/json" };
  const url = new URL(`/api/v1/chats/${id}/messages`, base);
  const response = await fetch(url, { method: "POST", headers, body: '{"content":"One more"}' });
  if (!response.ok) throw new Error(`a send was answered ${response.status}: ${await response.text()}`);
}

async function openVisitor(browser: Browser, base: URL, chat: LongChat, folder: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  await serveFiles(page, folder);
  const fragment = new URLSearchParams({ user: chat.address, hash: hashOf(chat.channel, chat.address) });
  await page.goto(new URL(`/web/${chat.channel.id}#${fragment}`, base).href);
  await page.locator(".log .message").last().waitFor();
  return page;
}

async function openPerson(browser: Browser, base: URL, chat: LongChat, folder: string, token: string): Promise<Page> {
  const page = await signIn(browser, base, folder, token);
  await page.goto(new URL(`/console/o/${chat.channel.organization.id}/inbox/${chat.id}`, base).href);
  await page.locator(".messages .message").last().waitFor();
  return page;
}

async function measurePage(
  name: PageMeasurement["page"],
  page: Page,
  scroller: string,
  send: () => Promise<void>,
): Promise<PageMeasurement> {
  const scrolled = await ScrolledPage.of(page, scroller);
  const box = page.locator(scroller);
  const opened = await scrolled.held();
  const older = async () => {
    const button = box.getByRole("button", { name: /^Show (earlier|older) messages/ });
    if ((await button.count()) === 0) return false;
    const height = await box.evaluate((element) => element.scrollHeight);
    // Not Playwright's click, which scrolls.
    await button.evaluate((element: HTMLElement) => element.click()).catch(() => undefined);
    await page.waitForFunction(
      ([selector, before]) => (document.querySelector(selector)?.scrollHeight ?? 0) > before + 100,
      [scroller, height] as const,
    );
    return true;
  };
  const up = await scrolled.measure(() => scrolled.toStart(older));
  const down = await scrolled.measure(() => scrolled.toEnd());
  const after = await scrolled.held();
  const before = await scrolled.metric("TaskDuration");
  const last = box.locator(".message").last();
  for (let n = 0; n < ARRIVALS; n++) {
    const id = await last.getAttribute("id");
    await send();
    await page.waitForFunction(
      ([selector, former]) => [...document.querySelectorAll(`${selector} .message`)].at(-1)?.id !== former,
      [scroller, id] as const,
    );
  }
  const arrival = (1_000 * ((await scrolled.metric("TaskDuration")) - before)) / ARRIVALS;
  return { page: name, opened, up, down, after, arrival };
}

export function conversationText({ messages, pictures, pages }: ConversationMeasurement): string {
  const held = ({ heap, elements, nodes }: Held) =>
    `${(heap / 1e6).toFixed(1)} MB of JavaScript, ${shown(elements)} elements, ${shown(nodes)} nodes`;
  const line = (way: string, one: Scrolling) =>
    `  ${way}: ${shown(Math.round(one.pixels))} pixels in ${one.seconds.toFixed(0)} s, ${one.rate.toFixed(1)} frames a second, ` +
    `${one.slowest} in the slowest; ${one.longestGap.toFixed(0)} ms at most between two, ${one.longTasks} long tasks, ` +
    `the longest ${one.longestTask.toFixed(0)} ms; layout shift ${one.layoutShift.toFixed(4)}\n`;
  return [
    `A chat of ${shown(messages)} messages with ${shown(pictures)} pictures in Chromium\n`,
    ...pages.flatMap(({ page, opened, up, down, after, arrival }) => [
      `${page}\n`,
      `  opened: ${held(opened)}\n`,
      line("up, loading", up),
      line("down", down),
      `  after all: ${held(after)}\n`,
      `  a message that comes then: ${arrival.toFixed(1)} ms of the main thread\n`,
    ]),
  ].join("");
}
