import type { BrowserContext, Page } from "playwright-core";
import { beforeAll, expect, inject, test } from "vitest";
import { webhookReceiver } from "../support/webhook-receiver.ts";
import { type Desk, openAsMember, openConsole, openDesk, screenOf } from "./console.ts";
import { browser } from "./file-browser.ts";
import { violations } from "./violations.ts";

const { base } = inject("server");

let desk: Desk;

beforeAll(async () => {
  desk = await openDesk();
});

const AGENT = [
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
const CANARY = "canary-of-a-note";

/** What the pages of a browser have shown, played and asked. */
interface Told {
  notifications: { page: Page; title: string; body: string; tag: string; silent: boolean }[];
  sounds: number;
  asked: number;
}

/**
 * Records what the browser is told to show. A Chromium without a screen shows no notification, but knows the permission.
 * @param answer the person's answer if the page asks
 */
async function record(context: BrowserContext, answer: "granted" | "denied" = "granted"): Promise<Told> {
  const told: Told = { notifications: [], sounds: 0, asked: 0 };
  await context.exposeBinding("tellTest", ({ page }, what: Omit<Told["notifications"][0], "page">) => {
    told.notifications.push({ page, ...what });
  });
  await context.exposeBinding("soundTest", () => void told.sounds++);
  await context.exposeBinding("askTest", async () => {
    told.asked++;
    await context.grantPermissions(answer === "granted" ? ["notifications"] : [], { origin: base });
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
const openOn = (page: Page) =>
  page.evaluate(() => [...(window as unknown as { openNotifications: Map<string, unknown> }).openNotifications.keys()]);

/** The person clicks a notification. */
const click = (page: Page, tag: string) =>
  page.evaluate((id) => {
    const { openNotifications: open } = window as unknown as { openNotifications: Map<string, { onclick(): void }> };
    open.get(id)?.onclick();
  }, tag);

interface Member {
  page: Page;
  context: BrowserContext;
  told: Told;
  id: string;
}

/** A member's page. `permission` is what the person has answered the browser before. */
async function openMember({
  permission = "granted",
  permissions = AGENT,
  path = "inbox",
  answer,
}: {
  permission?: "granted" | "denied" | "prompt";
  permissions?: string[];
  path?: string;
  answer?: "granted" | "denied";
} = {}): Promise<Member> {
  const page = await openAsMember(browser, desk, permissions, screenOf(desk, "settings"));
  const context = page.context();
  const told = await record(context, answer);
  if (permission !== "prompt") {
    await context.grantPermissions(permission === "granted" ? ["notifications"] : [], { origin: base });
  }
  await page.goto(`${base}${screenOf(desk, path)}`);
  const { session } = await page.evaluate(async () => {
    const response = await fetch("/console/api/session", { headers: { "Parley-Console": "1" } });
    return await response.json();
  });
  await hears(page);
  return { page, context, told, id: session.member.id };
}

/** The page has the stream, or a share in it, and the code that tells. */
async function hears(page: Page): Promise<void> {
  await page.waitForFunction(() => performance.getEntriesByType("resource").some(({ name }) => /screens-/.test(name)));
}

async function choose(page: Page, of: string): Promise<void> {
  await page.getByTitle("Your account").click();
  await page.getByRole("menuitem", { name: "Notifications" }).click();
  await page.getByLabel("Tell me about").selectOption({ label: of });
  await page.getByRole("button", { name: "Close" }).click();
}

const row = (page: Page, name: string) => page.getByRole("link", { name: new RegExp(name) });
const icon = async (page: Page) =>
  decodeURIComponent((await page.locator("link[rel=icon]").getAttribute("href")) ?? "");
const assign = (chatId: string, assigneeId: string | null) => desk.api("PATCH", `/chats/${chatId}`, { assigneeId });
const note = (chatId: string, mentions: string[]) =>
  desk.api("POST", `/chats/${chatId}/notes`, { content: CANARY, mentions });

/** A contact writes, and the page has heard it. */
async function writes(page: Page, name: string, chat: { address: string }, text: string): Promise<void> {
  await desk.writes(chat.address, text);
  await row(page, name).getByText(text).waitFor();
}

const shown = ({ notifications }: Told) => notifications.map(({ title, body }) => `${title}: ${body}`);

test("of three tabs one tells of a message, by who and where; when it closes, another one does", async () => {
  const chat = await desk.chat("Una Once");
  const { page, context, told } = await openMember();
  const tabs = [page, await context.newPage(), await context.newPage()];
  for (const tab of tabs.slice(1)) {
    await tab.goto(`${base}${screenOf(desk, "inbox")}`);
    await hears(tab);
    await row(tab, "Una Once").waitFor();
  }
  for (const tab of tabs) expect(await icon(tab)).toContain(">P</text>");
  await desk.writes(chat.address, "A secret of Una");
  for (const tab of tabs) await expect.poll(() => tab.title()).toBe("(1) Inbox · Parley");
  for (const tab of tabs) expect(await icon(tab)).toContain(">1</text>");
  await expect.poll(() => shown(told)).toEqual(["Una Once: New message · Site"]);
  const leader = told.notifications[0]?.page as Page;
  expect(await openOn(leader)).toEqual([chat.id]);
  // The tab that tells closes.
  const [second, third] = tabs.filter((tab) => tab !== leader) as [Page, Page];
  await leader.close();
  const other = await desk.chat("Otto Other");
  await desk.writes(other.address, "Hello");
  await expect.poll(() => shown(told)).toEqual(["Una Once: New message · Site", "Otto Other: New message · Site"]);
  const next = told.notifications[1]?.page as Page;
  expect([second, third]).toContain(next);
  for (const tab of [second, third]) await expect.poll(() => tab.title()).toBe("(2) Inbox · Parley");
  // A click leads to the chat, which is read then, on every tab.
  await click(next, other.id);
  await next.getByRole("heading", { name: "Otto Other" }).waitFor();
  for (const tab of [second, third]) await expect.poll(() => tab.title()).toBe("(1) Inbox · Parley");
  expect(await openOn(next)).toEqual([]);
  await row(third === next ? second : third, "Una Once").click();
  for (const tab of [second, third]) await expect.poll(() => tab.title()).toBe("Inbox · Parley");
  for (const tab of [second, third]) expect(await icon(tab)).toContain(">P</text>");
  expect(told.notifications).toHaveLength(2);
  expect(JSON.stringify(shown(told))).not.toContain("secret");
  await context.close();
});

test("what a tab has not told when it closes, another one tells, and nothing twice", async () => {
  const [first, second, third] = [
    await desk.chat("Flo First"),
    await desk.chat("Sam Second"),
    await desk.chat("Thea Third"),
  ];
  const { page, context, told } = await openMember();
  const tabs = [page, await context.newPage()];
  await tabs[1]?.goto(`${base}${screenOf(desk, "inbox")}`);
  await hears(tabs[1] as Page);
  await row(tabs[1] as Page, "Flo First").waitFor();
  await desk.writes(first.address, "Hello");
  await expect.poll(() => shown(told)).toEqual(["Flo First: New message · Site"]);
  const leader = told.notifications[0]?.page as Page;
  const other = tabs.find((tab) => tab !== leader) as Page;
  // It waits, because a person is told every few seconds only.
  await writes(other, "Sam Second", second, "Hello");
  await leader.close();
  await expect.poll(() => shown(told)).toEqual(["Flo First: New message · Site", "Sam Second: New message · Site"]);
  await expect.poll(() => other.title()).toBe("(2) Inbox · Parley");
  await desk.writes(third.address, "Hello");
  await expect.poll(() => shown(told).slice(2)).toEqual(["Thea Third: New message · Site"]);
  await context.close();
});

test("what came while the service could not be reached is told once it can", async () => {
  const chat = await desk.chat("Ava Away");
  const { page, context, told } = await openMember();
  await row(page, "Ava Away").waitFor();
  await context.setOffline(true);
  await page.getByText("No connection.").waitFor();
  await desk.writes(chat.address, "Hello");
  await context.setOffline(false);
  await expect.poll(() => shown(told)).toEqual(["Ava Away: New message · Site"]);
  await expect.poll(() => page.title()).toBe("(1) Inbox · Parley");
  await context.close();
});

test("each person is told of what they chose: all, theirs and nobody's, what colleagues send them, or nothing", async () => {
  const [other, nobodys, mine] = [
    await desk.chat("Ola Other"),
    await desk.chat("Nora Nobody"),
    await desk.chat("Mia Mine"),
  ];
  const { page, context, told, id } = await openMember();
  await assign(other.id, desk.organization.memberId);
  await assign(mine.id, id);
  await expect.poll(() => shown(told).length).toBe(1);
  expect(told.notifications[0]?.body).toMatch(/gave you this chat · Site$/);
  let count = 0;
  /** What is told after all three write, and a note mentions the person. */
  const round = async () => {
    told.notifications.length = 0;
    count++;
    await writes(page, "Ola Other", other, `Other ${count}`);
    await writes(page, "Nora Nobody", nobodys, `Nobody ${count}`);
    await writes(page, "Mia Mine", mine, `Mine ${count}`);
  };
  const names = () => told.notifications.map(({ title }) => title).toSorted();
  // Before a choice, it is their own and nobody's.
  await round();
  await expect.poll(names).toEqual(["Mia Mine", "Nora Nobody"]);
  await choose(page, "All chats");
  await round();
  await expect.poll(names).toEqual(["Mia Mine", "Nora Nobody", "Ola Other"]);
  await choose(page, "Mentions, and chats I’m given");
  await round();
  await note(other.id, [desk.organization.memberId]);
  await note(nobodys.id, [id]);
  await expect.poll(() => shown(told)).toHaveLength(1);
  expect(shown(told)[0]).toMatch(/^Nora Nobody: .* mentioned you · Site$/);
  expect(shown(told).join()).not.toContain(CANARY);
  await expect.poll(() => page.title()).toMatch(/^\(\d+\) Inbox/);
  const decided = page.waitForResponse((response) => response.url().endsWith(`/chats/${mine.id}`));
  await choose(page, "Nothing");
  await round();
  await decided;
  await choose(page, "My chats and nobody’s");
  await writes(page, "Nora Nobody", nobodys, "The last");
  await expect.poll(names).toEqual(["Nora Nobody"]);
  await context.close();
});

test("who looks at a chat is not told of it, and who answers or loses it has it no longer unread", async () => {
  const [looked, left, given] = [
    await desk.chat("Lou Looked"),
    await desk.chat("Lea Left"),
    await desk.chat("Gil Given"),
  ];
  const { page, context, told, id } = await openMember({ path: `inbox/${looked.id}` });
  await page.getByRole("heading", { name: "Lou Looked" }).waitFor();
  await desk.writes(looked.address, "I am seen");
  await page.getByRole("log", { name: "Messages" }).getByText("I am seen").waitFor();
  await note(looked.id, [id]);
  await page.getByRole("log", { name: "Messages" }).getByText(CANARY).waitFor();
  await writes(page, "Lea Left", left, "First");
  await writes(page, "Gil Given", given, "Second");
  await expect.poll(() => page.title()).toBe("(2) Inbox · Parley");
  await expect.poll(() => shown(told)).toEqual(["Lea Left: New message · Site", "Gil Given: New message · Site"]);
  await row(page, "Lea Left").getByText("New", { exact: true }).waitFor();
  // The event alone says that somebody answered.
  await page.route(new RegExp(`/chats/${left.id}$`), (route) => route.abort());
  await desk.api("POST", `/chats/${left.id}/messages`, { content: "An answer" });
  await expect.poll(() => page.title()).toBe("(1) Inbox · Parley");
  await assign(given.id, desk.organization.memberId);
  await expect.poll(() => page.title()).toBe("Inbox · Parley");
  expect(await openOn(page)).toEqual([]);
  await context.close();
});

test("many chats at once are one notification, and one sound, and nothing sounds that nobody chose", async () => {
  const { page, context, told } = await openMember();
  const quiet = await desk.chat("Quin Quiet");
  await desk.writes(quiet.address, "Softly");
  await expect.poll(() => shown(told)).toEqual(["Quin Quiet: New message · Site"]);
  expect([told.sounds, told.notifications[0]?.silent]).toEqual([0, true]);
  await page.keyboard.press("b");
  const dialog = page.getByRole("dialog", { name: "Notifications" });
  await dialog.getByLabel("Play a sound").check();
  expect(told.sounds).toBe(1);
  await dialog.getByText("Notifications are on in this browser.").waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Close" }).click();
  const first = await desk.chat("Fia First");
  await desk.writes(first.address, "I begin");
  await expect.poll(() => shown(told).at(-1)).toBe("Fia First: New message · Site");
  expect([told.sounds, told.notifications[1]?.silent]).toEqual([2, true]);
  const chats = await Promise.all(["a", "b", "c", "d"].map((name) => desk.chat(`Many ${name}`)));
  await Promise.all(chats.map(({ address }) => desk.writes(address, "All at once")));
  await expect.poll(() => shown(told).at(-1)).toBe(`4 chats are new to you: Acme`);
  expect([told.sounds, told.notifications.length]).toEqual([3, 3]);
  await click(page, "many");
  await context.close();
});

test("nobody is asked for permission before a click, and an offer that was refused stays away", async () => {
  const chat = await desk.chat("Pia Prompt");
  const { page, context, told } = await openMember({ permission: "prompt" });
  const offer = page.getByText("Parley can tell you of new messages.");
  await offer.waitFor();
  expect(await violations(page)).toEqual([]);
  await writes(page, "Pia Prompt", chat, "Hello");
  await expect.poll(() => page.title()).toBe("(1) Inbox · Parley");
  expect([told.asked, told.notifications]).toEqual([0, []]);
  await page.getByRole("button", { name: "Not now" }).click();
  await offer.waitFor({ state: "detached" });
  await page.reload();
  await hears(page);
  await row(page, "Pia Prompt").waitFor();
  // The count is still there, and so is the way to turn them on.
  await expect.poll(() => page.title()).toBe("(1) Inbox · Parley");
  await page.keyboard.press("Control+k");
  await page.getByLabel("Find a screen, a contact or an action").fill("notif");
  await page.getByRole("option", { name: "Choose notifications" }).click();
  expect(await offer.count()).toBe(0);
  await page.getByRole("button", { name: "Turn on notifications" }).click();
  await page.getByText("Notifications are on in this browser.").waitFor();
  expect(told.asked).toBe(1);
  await page.getByRole("button", { name: "Close" }).click();
  await desk.writes(chat.address, "Hello again");
  await expect.poll(() => shown(told)).toEqual(["Pia Prompt: New message · Site"]);
  await context.close();
});

test("who said no to the browser is told how to change that, and the title still counts", async () => {
  const chat = await desk.chat("Dee Denied");
  const { page, context, told } = await openMember({ permission: "denied" });
  await writes(page, "Dee Denied", chat, "Hello");
  await expect.poll(() => page.title()).toBe("(1) Inbox · Parley");
  expect(await page.getByText("Parley can tell you of new messages.").count()).toBe(0);
  await page.getByTitle("Your account").click();
  await page.getByRole("menuitem", { name: "Notifications" }).click();
  await page.getByText("Your browser blocks notifications from Parley.").waitFor();
  expect(await page.getByRole("button", { name: "Turn on notifications" }).count()).toBe(0);
  expect(told.notifications).toEqual([]);
  // The person allows them in the browser.
  await context.grantPermissions(["notifications"], { origin: base });
  await page.getByText("Notifications are on in this browser.").waitFor();
  expect(told.asked).toBe(0);
  await context.close();
});

test("a permission that the person takes back while the page is open ends the notifications, but not the count", async () => {
  const [before, between, after] = [
    await desk.chat("Bo Before"),
    await desk.chat("Bea Between"),
    await desk.chat("Al After"),
  ];
  const { page, context, told } = await openMember();
  const permitted = () =>
    page.evaluate(async () => (await navigator.permissions.query({ name: "notifications" })).state === "granted");
  await context.clearPermissions();
  await expect.poll(permitted).toBe(false);
  await desk.writes(before.address, "Hello");
  await expect.poll(() => page.title()).toBe("(1) Inbox · Parley");
  // What is told of one chat is over when the next one counts.
  await desk.writes(between.address, "Hello");
  await expect.poll(() => page.title()).toBe("(2) Inbox · Parley");
  await context.grantPermissions(["notifications"], { origin: base });
  await expect.poll(permitted).toBe(true);
  await desk.writes(after.address, "Hello");
  await expect.poll(() => shown(told)).toContain("Al After: New message · Site");
  expect(shown(told)).not.toContain("Bo Before: New message · Site");
  await expect.poll(() => page.title()).toBe("(3) Inbox · Parley");
  await context.close();
});

test("no tone is played in a page in which the person has done nothing yet, because the browser allows none", async () => {
  const [early, late] = [await desk.chat("Eve Early"), await desk.chat("Lu Late")];
  const { page, context, told, id } = await openMember();
  await page.evaluate((key) => {
    localStorage.setItem(key, JSON.stringify({ of: "all", hasSound: true }));
    // What a test evaluates in a page counts as an act of the person.
    Object.defineProperty(navigator, "userActivation", { value: { hasBeenActive: false }, configurable: true });
  }, `parley.notifications ${id}`);
  await desk.writes(early.address, "Hello");
  await expect.poll(() => shown(told)).toEqual(["Eve Early: New message · Site"]);
  expect(told.sounds).toBe(0);
  await page.evaluate(() => Reflect.deleteProperty(navigator, "userActivation"));
  await desk.writes(late.address, "Hello");
  await expect.poll(() => told.sounds).toBe(1);
  await context.close();
});

test("a channel that breaks and a webhook that is disabled tell who manages them, and nobody else", async () => {
  const receiver = await webhookReceiver();
  const endpoint = receiver.endpoint();
  endpoint.answer = () => 410;
  const manager = await openMember({ permissions: [...AGENT, "channels:write", "webhooks:read", "webhooks:write"] });
  const agent = await openMember();
  const credentials = { botToken: "123456:revoked-by-its-owner" };
  const { channel } = await desk.api("POST", "/channels", { kind: "telegram", name: "Our bot", credentials });
  const { webhook } = await desk.api("POST", "/webhooks", { url: endpoint.url, types: ["message.*"] });
  const { chat } = await desk.api("POST", "/chats", { channelId: channel.id, contact: { address: "4711" } });
  await desk.api("POST", `/chats/${chat.id}/messages`, { content: "Will it break?" });
  const banner = manager.page.locator(".banner.tone-bad");
  await banner.getByRole("link", { name: "Our bot" }).waitFor();
  await banner.getByText("is broken.").waitFor();
  await banner.getByText("is disabled.").waitFor();
  expect(await violations(manager.page)).toEqual([]);
  const address = endpoint.url.replace("http://", "");
  await expect
    .poll(() => shown(manager.told).toSorted())
    .toEqual(["Our bot is broken: Acme", `Webhook ${address} is disabled: Acme`]);
  await click(manager.page, webhook.id);
  await manager.page.getByRole("heading", { name: address }).waitFor();
  await row(agent.page, "4711").waitFor();
  expect([await agent.page.locator(".banner.tone-bad").count(), agent.told.notifications]).toEqual([0, []]);
  await desk.api("DELETE", `/webhooks/${webhook.id}`);
  await desk.api("DELETE", `/channels/${channel.id}`);
  await manager.page.getByRole("link", { name: "Inbox" }).click();
  await banner.waitFor({ state: "detached" });
  await Promise.all([manager.context.close(), agent.context.close(), receiver.close()]);
});

test("the operator is told of nobody's chats", async () => {
  const chat = await desk.chat("Opa Operator");
  const page = await openConsole(browser, screenOf(desk, "settings"));
  const told = await record(page.context());
  await page.context().grantPermissions(["notifications"], { origin: base });
  await page.goto(`${base}${screenOf(desk, "inbox")}`);
  await hears(page);
  await writes(page, "Opa Operator", chat, "Hello");
  await expect.poll(() => shown(told)).toEqual(["Opa Operator: New message · Site"]);
  await page.context().close();
});
