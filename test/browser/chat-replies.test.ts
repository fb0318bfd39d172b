import { expect, test } from "vitest";
import { takeOver } from "./disturb.ts";
import { browser } from "./file-browser.ts";
import { openPlace } from "./fixtures.ts";
import { eventually, newUser, visit, visitInWeather, watchShifts } from "./visitor.ts";

const place = await openPlace();

test("a reply shows what it answers, and leads there", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  const id = await place.say(user, "The first one");
  await place.fill(user, 12);
  await place.say(user, "About that", { replyTo: id });
  const quote = page.getByRole("button", { name: "In reply to: Acme support The first one" });
  await quote.click();
  const answered = page.locator(".message", { has: page.locator(".text", { hasText: "The first one" }) });
  // It is drawn with the next frame, and has the focus then.
  await eventually(() => answered.evaluate((element) => element === document.activeElement), true);
  await place.redact(user, "The first one");
  await page.getByRole("button", { name: "In reply to: Acme support This message was deleted." }).waitFor();
});

test("a quote leads over a hundred messages and pictures to the one that it shows", async () => {
  const user = newUser();
  const id = await place.say(user, "The first one");
  for (let n = 1; n <= 6; n++) {
    await place.fill(user, 20);
    await place.say(user, `Picture ${n}`, { type: "IMAGE", mediaUrl: `https://parley.invalid/${n}.png` });
  }
  await place.say(user, "About that", { replyTo: id });
  const page = await visit(browser, place, { user });
  await page.locator("button.quote").click();
  const target = page.locator(".text", { hasText: "The first one" });
  const view = await page.getByRole("region", { name: "Conversation" }).boundingBox();
  const isInView = async () => {
    const box = await target.boundingBox();
    return box !== null && view !== null && box.y >= view.y && box.y + box.height <= view.y + view.height;
  };
  await eventually(isInView, true);
  // It stays there until the ring around it is gone, long after the scrolling.
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)));
  expect(await isInView()).toBe(true);
});

test("a visitor answers a message by keyboard alone, and takes that back with Escape", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  const answered = await place.say(user, "Tea or coffee?");
  await page.getByText("Tea or coffee?").waitFor();
  const opener = page.getByRole("button", { name: "React or reply" });
  const chooseReply = async () => {
    await opener.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("group", { name: "React or reply" }).waitFor();
    for (let n = 0; n < 6; n++) await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await page.locator(".answered").waitFor();
  };
  const box = page.getByRole("textbox", { name: "Message" });
  await chooseReply();
  await page.keyboard.press("Escape");
  await page.locator(".answered").waitFor({ state: "detached" });
  await chooseReply();
  await eventually(() => box.evaluate((element) => element === document.activeElement), true);
  await page.keyboard.type("Tea");
  await page.keyboard.press("Enter");
  const quote = page.getByRole("button", { name: "In reply to: Acme support Tea or coffee?" });
  await quote.waitFor();
  await expect.poll(() => page.locator(".answered").count()).toBe(0);
  await eventually(async () => (await place.messages(user)).map(({ replyTo }) => replyTo), [undefined, answered]);
  await page.reload();
  await quote.waitFor();
  expect(page.faults).toEqual([]);
});

test("what a visitor answers stays through a reload, shows the message as it is, and a button takes it away", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  const answer = async (text: string) => {
    await page.getByText(text, { exact: true }).hover();
    await page.getByRole("button", { name: `React or reply: ${text}` }).click();
    await page.getByRole("button", { name: "Reply", exact: true }).click();
  };
  await place.say(user, "Tea?");
  await place.say(user, "My card is 4111");
  await answer("Tea?");
  await page.getByRole("textbox", { name: "Message" }).fill("Yes");
  const quote = page.locator(".answered");
  await quote.getByText("Tea?").waitFor();
  await page.reload();
  await quote.getByText("Acme support").waitFor();
  await page.getByRole("button", { name: "Don’t reply to this message" }).click();
  await eventually(() => quote.count(), 0);
  await page.reload();
  await page.getByText("Tea?").waitFor();
  await expect.poll(() => quote.count()).toBe(0);
  await answer("My card is 4111");
  await quote.getByText("4111").waitFor();
  await place.redact(user, "My card is 4111");
  await eventually(() => quote.count(), 0);
  await page.keyboard.press("Enter");
  await eventually(() => place.heard(user), ["Yes"]);
  expect((await place.messages(user)).at(-1)).not.toHaveProperty("replyTo");
});

test("visitors react by keyboard alone, and a tap outside of the menu closes it", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  await place.say(user, "Here is your order");
  const opener = page.getByRole("button", { name: "React or reply: Here is your order" });
  await opener.waitFor();
  const box = page.getByRole("textbox", { name: "Message" });
  await box.focus();
  // The message is before the box and the button for files.
  for (let n = 0; n < 5 && !(await opener.evaluate((element) => element === document.activeElement)); n++) {
    await page.keyboard.press("Shift+Tab");
  }
  await page.keyboard.press("Enter");
  await page.getByRole("group", { name: "React or reply" }).waitFor();
  for (const key of ["ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp", "ArrowUp", "ArrowLeft", "Enter"]) {
    await page.keyboard.press(key);
  }
  await eventually(async () => (await place.messages(user))[0]?.reactions?.map(({ emoji }) => emoji), ["🙏"]);
  expect(await opener.evaluate((element) => element === document.activeElement)).toBe(true);
  await page.keyboard.press("Enter");
  await page.getByRole("group", { name: "React or reply" }).waitFor();
  await page.getByRole("log").click({ position: { x: 1, y: 1 } });
  await page.getByRole("group", { name: "React or reply" }).waitFor({ state: "detached" });
});

test("a menu that can't be fetched stays closed, and the next click tries again", async () => {
  const user = newUser();
  await place.say(user, "Here is your order");
  const page = await visit(browser, place, { user });
  const giveBack = await takeOver(page, /\/web-assets\/later-/);
  const opener = page.getByRole("button", { name: "React or reply" });
  await Promise.all([page.waitForEvent("requestfailed"), opener.press("Enter")]);
  await eventually(() => opener.getAttribute("aria-expanded"), "false");
  giveBack();
  await opener.press("Enter");
  await page.getByRole("group", { name: "React or reply" }).waitFor();
});

test("a reaction that the limit refuses is taken back, and the page says so", async () => {
  const user = newUser();
  const { page, weather } = await visitInWeather(browser, place, { user });
  await place.say(user, "Here is your order");
  await page.getByText("Here is your order").hover();
  await page.getByRole("button", { name: "React or reply" }).click();
  weather.refuse = () => ({ type: "refused", id: "reaction", code: "rate_limited", message: "", retryAfter: 90 });
  await page.getByRole("button", { name: "👍" }).click();
  await page.getByRole("alert").getByText("Not sent. Too many messages. Try again in 90 seconds.").waitFor();
  expect((await page.getByRole("alert").boundingBox())?.height).toBeGreaterThan(20);
  await expect.poll(() => page.locator(".reactions").count()).toBe(0);
});

test("nothing moves when a reaction or an answer comes, or what it answers is loaded", async () => {
  const user = newUser();
  await place.say(user, "Two pages before the newest");
  const first = await place.say(user, "Message 1");
  await place.fill(user, 199);
  const page = await visit(browser, place, { user, before: watchShifts });
  // It rises when it is drawn.
  await page.getByText("Message 199 of 199").scrollIntoViewIfNeeded();
  const boxes = () =>
    Promise.all(["198", "199"].map((n) => page.getByText(`Message ${n} of 199`, { exact: true }).boundingBox()));
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)));
  const before = await boxes();
  await place.react(user, "Message 198 of 199", "👍");
  await page.locator(".reactions").getByText("👍").waitFor();
  expect(await boxes()).toEqual(before);
  await place.say(user, "An answer", { replyTo: first });
  const quote = page.locator(".quote");
  await quote.getByText("An earlier message").waitFor();
  const height = await quote.evaluate((element) => element.getBoundingClientRect().height);
  await page.getByRole("region", { name: "Conversation" }).evaluate((element) => element.scrollTo({ top: 0 }));
  await page.getByRole("button", { name: "Show earlier messages" }).click();
  await quote.getByText("Message 1", { exact: true }).waitFor();
  expect(await quote.evaluate((element) => element.getBoundingClientRect().height)).toBe(height);
  expect(await page.evaluate(() => (window as unknown as { shift: number }).shift)).toBe(0);
  // What is hidden in messages makes the page itself no higher than the window.
  expect(await page.evaluate(() => document.documentElement.scrollHeight - innerHeight)).toBe(0);
});

test("a visitor reacts, changes it, and takes it back, and nothing moves", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  await place.say(user, "Here is your order");
  await page.getByText("Here is your order").hover();
  const opener = page.getByRole("button", { name: "React or reply" });
  const reactions = page.locator(".reactions");
  const choose = async (emoji: string) => {
    await opener.click();
    await page.getByRole("group", { name: "React or reply" }).getByRole("button", { name: emoji }).click();
  };
  await choose("👍");
  await eventually(() => reactions.textContent(), "You: 👍");
  await eventually(async () => (await place.messages(user))[0]?.reactions?.map(({ emoji }) => emoji), ["👍"]);
  await opener.click();
  await expect.poll(() => page.getByRole("button", { name: "👍" }).getAttribute("aria-pressed")).toBe("true");
  await page.keyboard.press("Escape");
  await page.getByRole("group", { name: "React or reply" }).waitFor({ state: "detached" });
  expect(await opener.evaluate((element) => element === document.activeElement)).toBe(true);
  const box = await page.getByText("Here is your order").boundingBox();
  // A visitor sends one a second.
  await choose("❤️");
  await eventually(async () => (await place.messages(user))[0]?.reactions?.map(({ emoji }) => emoji), ["❤️"]);
  await choose("❤️");
  await eventually(() => reactions.count(), 0);
  await eventually(async () => (await place.messages(user))[0]?.reactions, undefined);
  expect(await page.getByText("Here is your order").boundingBox()).toEqual(box);
});

test("a deleted message can be neither answered nor reacted to, and offline there are no reactions", async () => {
  const user = newUser();
  const { page, weather } = await visitInWeather(browser, place, { user });
  await place.say(user, "A mistake");
  await place.say(user, "The right one");
  const opener = page.getByRole("button", { name: "React or reply" });
  await eventually(() => opener.count(), 2);
  await place.redact(user, "A mistake");
  await eventually(() => opener.count(), 1);
  await weather.storm(1012);
  await page.getByText("The right one").hover();
  await opener.click();
  const menu = page.getByRole("group", { name: "React or reply" });
  await eventually(() => menu.getByRole("button").allTextContents(), ["Reply"]);
});
