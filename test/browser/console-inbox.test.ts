import type { Route } from "playwright-core";
import { expect, test } from "vitest";
import { openAsMember, openConsole, openDesk, screenOf, withUndo } from "./console.ts";
import { messageBox as box, log, SOON, textsOf } from "./console-conversation.ts";
import { intercept, requestsAreKnown, stopTimers } from "./disturb.ts";
import { browser } from "./file-browser.ts";
import { adminToken, base } from "./running-server.ts";
import { violations } from "./violations.ts";

const desk = await openDesk();

const texts = (chatId: string) => textsOf(desk, chatId);

test("what a visitor writes appears at once, is answered, and leaves the unanswered chats", async () => {
  const ann = await desk.chat("Ann Live");
  const page = await openConsole(browser, screenOf(desk, "inbox"), withUndo(10));
  await page.getByRole("button", { name: "Unanswered" }).click();
  await page.getByRole("link", { name: /Ann Live/ }).waitFor({ state: "detached" });
  await desk.writes(ann.address, "Where is my order?");
  const row = page.getByRole("link", { name: /Ann Live/ });
  await row.getByText("Where is my order?").waitFor();
  await row.click();
  await log(page).getByText("Where is my order?").waitFor();
  await box(page).fill("It left today.");
  const stored = page.waitForResponse((one) => one.request().method() === "POST" && one.url().endsWith("/messages"));
  // Begun before it is sent: it is shown for ten seconds.
  const isShown = log(page).getByText("Sending…").waitFor();
  await page.keyboard.press("Control+Enter");
  await isShown;
  expect((await (await stored).json()).message).toMatchObject({ status: "SCHEDULED", seq: null });
  // Ten seconds later it takes its place, and the page hears of it.
  await log(page).getByText("Sending…").waitFor({ state: "detached" });
  await expect.poll(() => texts(ann.id), SOON).toEqual(["Where is my order?", "It left today."]);
  await page.getByRole("button", { name: "Mark as answered" }).waitFor({ state: "detached" });
  await page.context().close();
});

test("the links of a message are found once: typing and new messages find only those of the new message", async () => {
  const chat = await desk.chat("Liv Links");
  const write = (n: number) =>
    desk.api("POST", `/chats/${chat.id}/messages`, {
      content: `Message ${n} https://shop.test/${")".repeat(1_000)}`,
      senderId: desk.organization.memberId,
    });
  for (const n of [1, 2, 3]) await write(n);
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  await log(page).getByText("Message 3").waitFor();
  await page.evaluate(() => {
    const find = RegExp.prototype[Symbol.matchAll];
    const found: string[] = [];
    Object.assign(globalThis, { found });
    RegExp.prototype[Symbol.matchAll] = function (text) {
      if (text.startsWith("Message")) found.push(text.slice(0, 9));
      return find.call(this, text);
    };
  });
  const found = () => page.evaluate(() => (globalThis as unknown as { found: string[] }).found);
  await box(page).pressSequentially("abc");
  expect(await found()).toEqual([]);
  await write(4);
  await log(page).getByText("Message 4").waitFor();
  expect(new Set(await found())).toEqual(new Set(["Message 4"]));
  await page.context().close();
});

test("a name of markup and bidi controls is text, and turns nothing around it", async () => {
  const chat = await desk.chat("<img src=x onerror=alert(1)> \u202Eevil");
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  const name = page.getByRole("heading", { level: 1 });
  await name.waitFor();
  await expect.poll(() => name.textContent()).toContain("<img src=x");
  await expect.poll(() => page.locator("main img").count()).toBe(0);
  await page.context().close();
});

test("a page that was offline says so, keeps what was written, and catches up without being loaded again", async () => {
  const chat = await desk.chat("Gus Offline");
  await desk.writes(chat.address, "Hello?");
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  await log(page).getByText("Hello?").waitFor();
  await box(page).fill("Half a sentence");
  await page.context().setOffline(true);
  await page.getByText(/No connection/).waitFor();
  await desk.api("POST", `/chats/${chat.id}/messages`, { content: "Sent by the shop's own software" });
  await page.context().setOffline(false);
  await log(page).getByText("Sent by the shop's own software").waitFor();
  await page.getByText(/No connection/).waitFor({ state: "detached" });
  await expect.poll(() => box(page).inputValue()).toBe("Half a sentence");
  await page.context().close();
});

test("a stream that is answered after the network went connects nothing, and the page goes on saying so", async () => {
  const chat = await desk.chat("Gil Late");
  // The list of organizations has no stream.
  const page = await openConsole(browser, "/console");
  const asked: Route[] = [];
  await intercept(page, /\/events\/stream/, (route) => void asked.push(route));
  await page.goto(`${base}${screenOf(desk, `inbox/${chat.id}`)}`);
  await expect.poll(() => asked.length).toBe(1);
  await page.context().setOffline(true);
  const notice = page.getByText(/No connection/);
  await notice.waitFor();
  await notice.evaluate((shown) => {
    const observer = new MutationObserver(() => {
      if (!shown.isConnected) document.title = "The notice was gone";
    });
    observer.observe(document.body, { childList: true, subtree: true });
  });
  await asked[0]?.fulfill({ contentType: "text/event-stream", body: ": hello\n\n" });
  // The stream has ended, so the next one is asked for.
  await expect.poll(() => asked.length).toBe(2);
  expect(await page.title()).not.toBe("The notice was gone");
  await page.context().close();
});

test("a stream that is lost and replaced in less than two seconds says nothing, so that nothing moves", async () => {
  const chat = await desk.chat("Gwen Gap");
  const page = await openConsole(browser, "/console");
  // The machine may need longer.
  await stopTimers(page, 2_000);
  const asked: Route[] = [];
  await intercept(page, /\/events\/stream/, (route) => void asked.push(route));
  await page.goto(`${base}${screenOf(desk, `inbox/${chat.id}`)}`);
  await expect.poll(() => asked.length).toBe(1);
  await page.evaluate(() => {
    const observer = new MutationObserver(() => {
      if (document.body.textContent?.includes("No connection")) document.title = "It said so";
    });
    observer.observe(document.body, { childList: true, subtree: true, characterData: true });
  });
  await asked[0]?.abort();
  await expect.poll(() => asked.length).toBe(2);
  await asked[1]?.continue();
  await desk.writes(chat.address, "Still there?");
  await log(page).getByText("Still there?").waitFor();
  expect(await page.title()).not.toBe("It said so");
  await page.context().close();
});

test("a member signs in by a link, sees only what it may, and hears of new messages though it may not read events", async () => {
  const chat = await desk.chat("Hal Member");
  const four = ["chats:read", "chats:write", "messages:read", "messages:send"];
  const page = await openAsMember(browser, desk, four, screenOf(desk, "inbox"));
  await page.getByRole("link", { name: /Hal Member/ }).click();
  await page.getByText("Write the first one.").waitFor();
  await expect.poll(() => page.getByRole("link", { name: "Keys" }).count()).toBe(0);
  await page.getByRole("button", { name: "Details", exact: true }).click();
  await page.getByText("Metadata", { exact: true }).waitFor();
  await expect.poll(() => page.getByRole("button", { name: "Delete this chat" }).count()).toBe(0);
  await desk.writes(chat.address, "Is anybody there?");
  await log(page).getByText("Is anybody there?").waitFor();
  await box(page).fill("Yes");
  await page.keyboard.press("Control+Enter");
  await expect.poll(() => texts(chat.id), SOON).toEqual(["Is anybody there?", "Yes"]);
  const { messages } = await desk.api("GET", `/chats/${chat.id}/messages`);
  const { members } = await desk.operator("GET", `/organizations/${desk.organization.id}/members`);
  const mel = members.find(({ name }: { name: string }) => name === "Mel");
  expect(messages[0].senderId).toBe(mel.id);
  await page.context().close();
});

test("a session that ended asks to sign in over the page, and what was written stays", async () => {
  const chat = await desk.chat("Ida Ended");
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  await box(page).fill("Do not lose me");
  await page.context().clearCookies();
  await page.keyboard.press("Control+Enter");
  const dialog = page.getByRole("dialog", { name: "Sign in again" });
  await dialog.waitFor();
  await dialog.getByLabel("Operator’s token").fill(adminToken);
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await dialog.waitFor({ state: "detached" });
  await expect.poll(() => box(page).inputValue()).toBe("Do not lose me");
  await page.context().close();
});

test("switching to a chat of the list takes at most two requests", async () => {
  const [one, two] = [await desk.chat("Eva One"), await desk.chat("Eva Two")];
  await desk.writes(one.address, "First");
  // This screen has no stream, and asks for no chat.
  const page = await openConsole(browser, "/console");
  const paths: string[] = [];
  page.on("request", (request) => paths.push(new URL(request.url()).pathname));
  // All that is open is loaded once more, twelve seconds after the stream has begun.
  await stopTimers(page, 12_000);
  await page.goto(`${base}${screenOf(desk, `inbox/${one.id}`)}`);
  await log(page).getByText("First").waitFor();
  // What is shown is loaded again once the stream has begun.
  await expect.poll(() => paths.filter((path) => path.endsWith(`${one.id}/messages`)).length).toBe(2);
  await page.getByRole("link", { name: /Eva Two/ }).click();
  await page.getByRole("heading", { level: 1, name: "Eva Two" }).waitFor();
  await page.getByText("Write the first one.").waitFor();
  await requestsAreKnown(page);
  const own = paths.filter((path) => path.includes(two.id));
  expect(own.length).toBeGreaterThan(0);
  expect(own.length).toBeLessThanOrEqual(2);
  await page.context().close();
});

test.for((["light", "dark"] as const).flatMap((colorScheme) => [320, 1280].map((width) => ({ colorScheme, width }))))(
  "the inbox has no accessibility violations: $colorScheme, $width px",
  async ({ colorScheme, width }) => {
    const chat = await desk.chat("Fay Seen");
    await desk.writes(chat.address, "See https://example.com");
    await desk.api("POST", `/chats/${chat.id}/messages`, { content: "Seen" });
    const page = await openConsole(browser, screenOf(desk, "inbox"), { colorScheme, viewport: { width, height: 700 } });
    await page
      .getByRole("link", { name: /Fay Seen/ })
      .first()
      .waitFor();
    expect(await violations(page)).toEqual([]);
    await page.goto(`${page.url()}/${chat.id}`);
    await log(page).getByText("Seen", { exact: true }).waitFor();
    expect(await violations(page)).toEqual([]);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(wide).toBeLessThanOrEqual(width);
    await page.context().close();
  },
);

test("a page whose session has ended asks the service for nothing", async () => {
  const permissions = ["chats:read", "messages:read", "members:read", "channels:read"];
  const chat = await desk.chat("Lou Left");
  const page = await openAsMember(browser, desk, permissions, screenOf(desk, `inbox/${chat.id}`), "Lev");
  await page.clock.install();
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Lou Left" }).waitFor();
  const { members } = await desk.api("GET", "/members?limit=100");
  const { id } = members.find(({ name }: { name: string }) => name === "Lev");
  await desk.api("DELETE", `/members/${id}`);
  await page.clock.fastForward(4_000);
  await page.getByRole("dialog", { name: "Sign in again" }).waitFor();
  // The count of chats comes a moment after what a poll loads.
  await page.clock.runFor(2_000);
  // A request can leave long after the page made it, so each is counted when it is made.
  await page.evaluate(() => {
    const { fetch } = globalThis;
    const asked: string[] = [];
    const counting: typeof fetch = (input, init) => {
      asked.push(input instanceof Request ? input.url : new URL(input, location.href).href);
      return fetch(input, init);
    };
    Object.assign(globalThis, { asked, fetch: counting });
  });
  await page.clock.runFor(10_000);
  await page.evaluate(() => fetch("/console/"));
  const asked = await page.evaluate(() => (globalThis as unknown as { asked: string[] }).asked);
  expect(asked.map((url) => new URL(url).pathname)).toEqual(["/console/"]);
  await page.context().close();
});
