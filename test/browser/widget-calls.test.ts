import { expect, test } from "vitest";
import { browser } from "./file-browser.ts";
import { closeChat, eventually, newUser, open } from "./visitor.ts";
import { box, call, chat, DESK, listening, place, siteUrl, visitSite, visitUnidentified } from "./widget-site.ts";

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
  const { page, heard } = await visitUnidentified();
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
  const { page } = await visitUnidentified();
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
  const { page } = await visitUnidentified();
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
