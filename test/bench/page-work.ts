import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "playwright-core";
import { createChat } from "../support/world/factories.ts";
import { hashOf } from "../support/world/identity.ts";
import { createOffice } from "./fixtures.ts";
import { heapOfPage, openPages } from "./pages.ts";
import type { WorkCase } from "./work-cases.ts";
import type { WorkGround } from "./work-ground.ts";

const SWITCHES = 60;
const WARM_UP = 5;
/** A gesture is a strong swipe, in pixels and pixels a second. */
const GESTURE_PX = 12_000;
const SPEED = 8_000;
const LOOK_EVERY_MS = 20;
const DRAWN_WITHIN_MS = 10_000;
const USER = "ada";

/** Switches between chats of the console's inbox by the keyboard. */
export const consoleWork: WorkCase = {
  name: "console",
  amount: 100_000,
  unit: "chats in an inbox",
  perSecond: 1,
  async make(place, amount) {
    const { channel, secret } = await createOffice(place);
    await place.chats(channel, "contact", amount);
    // Those at the top of the list are opened, so they have objects. The last one stays at the top, by the sends.
    let top = "";
    for (let n = 0; n < SWITCHES + 2 * WARM_UP; n++) top = (await createChat(channel)).id;
    let page: Page;
    return {
      chatIds: [top],
      secret,
      async open(ground) {
        page = await (await openPages(ground)).signIn();
        const begun = performance.now();
        await page.goto(new URL(`/console/o/${channel.organization.id}/inbox`, ground.url).href);
        await page.locator(".chat-row").first().waitFor();
        ground.remarks.push(`The inbox has its first rows after ${Math.round(performance.now() - begun)} ms`);
      },
      async run(ground) {
        for (let n = 0; n < SWITCHES + WARM_UP && !ground.isOver(); n++) {
          const name = (await page.locator(".chat-row-name").nth(n).textContent()) ?? "";
          const begun = performance.now();
          await page.keyboard.press("j");
          await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
          await page.getByRole("log", { name: "Messages" }).waitFor();
          if (n >= WARM_UP) ground.note("switches", performance.now() - begun);
        }
        return null;
      },
    };
  },
};

/** Scrolls through all messages of a chat on the visitors' page and in the console, up while they load, and down. */
export const conversationWork: WorkCase = {
  name: "conversation",
  amount: 10_000,
  unit: "messages of a chat",
  perSecond: 1,
  async make(place, amount) {
    const { channel, secret } = await createOffice(place);
    const chatId = await place.chat(channel, amount, undefined, { contact: { address: USER } });
    const fragment = new URLSearchParams({ user: USER, hash: hashOf(channel, USER) });
    const paths = {
      visitor: `/web/${channel.id}#${fragment}`,
      console: `/console/o/${channel.organization.id}/inbox/${chatId}`,
    };
    let visitor: Page;
    let person: Page;
    return {
      chatIds: [chatId],
      secret,
      async open(ground) {
        const pages = await openPages(ground);
        [visitor, person] = [await pages.open({ width: 390, height: 844 }), await pages.signIn()];
        await visitor.goto(new URL(paths.visitor, ground.url).href);
        await person.goto(new URL(paths.console, ground.url).href);
        for (const page of [visitor, person]) await page.locator(".message").last().waitFor();
      },
      async run(ground) {
        await scrollThrough(ground, "the visitors' page", visitor, ".scroller");
        await scrollThrough(ground, "the console", person, ".messages");
        return null;
      },
    };
  },
};

/** Notes the times between the frames of a page that scrolls through its messages, and what it holds then. */
async function scrollThrough(ground: WorkGround, name: string, page: Page, scroller: string): Promise<void> {
  await page.bringToFront();
  await page.evaluate(() => {
    const frames: number[] = [];
    Object.assign(window, { frames });
    const onFrame = (at: number) => {
      frames.push(at);
      requestAnimationFrame(onFrame);
    };
    requestAnimationFrame(onFrame);
  });
  const noteFrames = async (row: string) => {
    const frames = await page.evaluate(() => (window as unknown as { frames: number[] }).frames.splice(0));
    for (const [n, at] of frames.entries()) if (n > 0) ground.note(row, at - (frames[n - 1] ?? at), at);
  };
  const older = page.locator(scroller).getByRole("button", { name: /^(Show (earlier|older) messages|Loading)/ });
  do {
    await scroll(page, scroller, GESTURE_PX);
    // Not Playwright's click, which scrolls. It does nothing while messages load.
    await older.evaluate((button: HTMLElement) => button.click(), null, { timeout: 1_000 }).catch(() => undefined);
    await delay(LOOK_EVERY_MS);
  } while ((await older.count()) > 0 && !ground.isOver());
  // To the messages that came last.
  await scroll(page, scroller, GESTURE_PX);
  await noteFrames(`frames of ${name}, up`);
  const first = page.locator(scroller).getByText("(1)").first().waitFor({ timeout: DRAWN_WITHIN_MS });
  await first.catch(() => ground.faults.push(`${name} did not come to the first message`));
  await scroll(page, scroller, -GESTURE_PX);
  await noteFrames(`frames of ${name}, down`);
  const messages = await page.locator(`${scroller} .message`).count();
  const heap = (await heapOfPage(page)).toFixed(1);
  ground.remarks.push(`After that, ${name} draws ${messages} messages and holds ${heap} MB of JavaScript`);
}

/** Scrolls by the browser's own gestures up to the end. @param distance of a gesture; below 0 toward the last message */
async function scroll(page: Page, scroller: string, distance: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const box = page.locator(scroller);
  const left = () =>
    box.evaluate(
      ({ scrollTop, scrollHeight, clientHeight }, isUp) => (isUp ? scrollTop : scrollHeight - scrollTop - clientHeight),
      distance > 0,
    );
  while ((await left()) > 1) {
    const { x, y, width, height } = (await box.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    await session.send("Input.synthesizeScrollGesture", {
      x: Math.round(x + width / 2),
      y: Math.round(y + height / 2),
      yDistance: distance,
      speed: SPEED,
      gestureSourceType: "mouse",
      preventFling: true,
    });
  }
  await session.detach();
}
