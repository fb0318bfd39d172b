import type { BrowserContext, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { codeIsThere, type Desk, openAsMember, screenOf } from "./console.ts";
import { stopTimers } from "./disturb.ts";
import { browser } from "./file-browser.ts";
import { base } from "./running-server.ts";

export const AGENT = [
  "chats:read",
  "chats:write",
  "messages:read",
  "messages:send",
  "notes:read",
  "events:read",
  "members:read",
  "channels:read",
];

/** What a note says. No notification has it. */
export const CANARY = "canary-of-a-note";

/** What a colleague does, of which a person is told. */
export const actsOf = (desk: Desk) => ({
  assign: (chatId: string, assigneeId: string | null) => desk.api("PATCH", `/chats/${chatId}`, { assigneeId }),
  note: (chatId: string, mentions: string[]) =>
    desk.api("POST", `/chats/${chatId}/notes`, { content: CANARY, mentions }),
});

export const hasTitle = (page: Page, title: string) => expect.poll(() => page.title()).toBe(title);

/** What the pages of a browser have shown, played and asked. */
export interface Told {
  notifications: { page: Page; title: string; body: string; tag: string; silent: boolean }[];
  sounds: number;
  asked: number;
}

/**
 * Records what the browser is told to show. A Chromium without a screen shows no notification, but knows the permission.
 * @param answer the person's answer if the page asks
 */
export async function record(context: BrowserContext, answer: "granted" | "denied" = "granted"): Promise<Told> {
  const told: Told = { notifications: [], sounds: 0, asked: 0 };
  await context.exposeBinding("tellTest", ({ page }, what: Omit<Told["notifications"][0], "page">) => {
    told.notifications.push({ page, ...what });
  });
  await context.exposeBinding("soundTest", () => void told.sounds++);
  await context.exposeBinding("askTest", async () => {
    told.asked++;
    await permit(context, answer === "granted");
    return answer;
  });
  await context.addInitScript(() => {
    const { tellTest, soundTest, askTest } = window as unknown as Record<string, (what?: object) => Promise<unknown>>;
    const open = new Map<string, { onclick?: () => void }>();
    const fake = class {
      readonly #tag: string;
      onclick?: () => void;
      static requestPermission = () => askTest?.();
      constructor(title: string, { body, tag, silent }: { body: string; tag: string; silent: boolean }) {
        this.#tag = tag;
        open.set(tag, this);
        void tellTest?.({ title, body, tag, silent });
      }
      close() {
        open.delete(this.#tag);
      }
    };
    const Audio = class extends AudioContext {
      override createOscillator() {
        void soundTest?.();
        return super.createOscillator();
      }
    };
    Object.assign(window, { Notification: fake, AudioContext: Audio, openNotifications: open });
  });
  return told;
}

/** The tags of the notifications that a page still shows. */
export const openOn = (page: Page) =>
  page.evaluate(() => [...(window as unknown as { openNotifications: Map<string, unknown> }).openNotifications.keys()]);

/** The person clicks a notification. */
export const click = (page: Page, tag: string) =>
  page.evaluate((id) => {
    const { openNotifications: open } = window as unknown as { openNotifications: Map<string, { onclick(): void }> };
    open.get(id)?.onclick();
  }, tag);

/** The person answers the browser, or changes the answer. */
export const permit = (context: BrowserContext, isGranted: boolean) =>
  context.grantPermissions(isGranted ? ["notifications"] : [], { origin: base });

/** A member's page, which closes after the test. `permission` is what the person has answered the browser before. */
export async function openMember(
  desk: Desk,
  {
    permission = "granted",
    permissions = AGENT,
    path = "inbox",
    answer,
  }: {
    permission?: "granted" | "denied" | "prompt";
    permissions?: string[];
    path?: string;
    answer?: "granted" | "denied";
  } = {},
) {
  const page = await openAsMember(browser, desk, permissions, screenOf(desk, "settings"));
  const context = page.context();
  onTestFinished(() => context.close());
  const told = await record(context, answer);
  if (permission !== "prompt") await permit(context, permission === "granted");
  // What is unread is looked at again twelve seconds after the stream has begun.
  await stopTimers(page, 12_000);
  await openHearing(page, desk, path);
  const { session } = await page.evaluate(async () => {
    const response = await fetch("/console/api/session", { headers: { "Parley-Console": "1" } });
    return await response.json();
  });
  return { page, context, told, id: session.member.id as string };
}

/** Opens a screen as the only tab of its browser. It has the stream then, and tells what that brings. */
export async function openHearing(page: Page, desk: Desk, path: string): Promise<void> {
  // Its screen before may still be opening a stream of its own.
  await page.goto("about:blank");
  const stream = page.waitForResponse(/\/events\/stream/);
  await page.goto(`${base}${screenOf(desk, path)}`);
  await stream;
  await codeIsThere(page);
}

/** Another tab of the same browser, which has a share in the stream. */
export async function anotherTab(context: BrowserContext, desk: Desk): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${base}${screenOf(desk, "inbox")}`);
  await codeIsThere(page);
  return page;
}

export const row = (page: Page, name: string) => page.getByRole("link", { name: new RegExp(name) });
export const icon = async (page: Page) =>
  decodeURIComponent((await page.locator("link[rel=icon]").getAttribute("href")) ?? "");

/** What was told, in its order. */
export const shown = ({ notifications }: Told) => notifications.map(({ title, body }) => `${title}: ${body}`);

/** A contact writes, and the page has heard it. */
export async function writes(
  page: Page,
  desk: Desk,
  name: string,
  chat: { address: string },
  text: string,
): Promise<void> {
  await desk.writes(chat.address, text);
  await row(page, name).getByText(text).waitFor();
}
