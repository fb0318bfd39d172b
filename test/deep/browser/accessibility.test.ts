import { beforeAll, expect, test } from "vitest";
import { browser } from "../../browser/file-browser.ts";
import { openPlace, type Place, pageUrl } from "../../browser/fixtures.ts";
import { violations } from "../../browser/violations.ts";
import { eventually, newUser, open, visit, visitInWeather, write } from "../../browser/visitor.ts";

let place: Place;
/** Has a long chat that the tests only read, because it takes seconds to write. */
const regular = newUser();

beforeAll(async () => {
  place = await openPlace();
  await place.fill(regular, 201);
  const replies = ["Refund", "Exchange"].map((title) => ({ type: "reply", id: title, title, description: "A while" }));
  const replyTo = await place.say(regular, "Which?", {
    interactive: { choices: replies, header: "Order", footer: "Or write" },
  });
  const links = [{ type: "link", title: "Track", url: "https://example.com" }];
  await place.say(regular, "Or look here", { replyTo, interactive: { choices: links } });
  await place.say(regular, "Or come", { location: { latitude: 52.5, longitude: 13.4, name: "Acme" } });
  await place.say(regular, "A picture", { type: "IMAGE", mediaUrl: "https://parley.invalid/p.png", replyTo });
  await place.react(regular, "A picture", "❤️");
  await place.say(regular, "A mistake");
  await place.redact(regular, "A mistake");
  await place.say(regular, "A link https://example.com", { type: "VIDEO", mediaUrl: "https://example.com/v" });
});

const LOOKS = {
  "a phone": {},
  "320 px": { viewport: { width: 320, height: 568 } },
  "the dark": { colorScheme: "dark" },
  "a wide screen": { viewport: { width: 1280, height: 900 } },
  // A laptop's screen at 200 % zoom.
  "200 % zoom": { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 },
  "right to left": { locale: "ar" },
  "forced colors": { forcedColors: "active" },
} as const;

for (const [name, look] of Object.entries(LOOKS)) {
  test(`empty, and with 100 messages, it has no violation on ${name}`, async () => {
    const empty = await visit(browser, place, look);
    await empty.locator(".empty").waitFor();
    expect(await violations(empty)).toEqual([]);

    const full = await visit(browser, place, { ...look, user: regular });
    await full.getByText("A link").waitFor();
    expect(await violations(full)).toEqual([]);
  });
}

for (const colorScheme of ["light", "dark"] as const) {
  test(`sent, removed, waiting, refused and offline have no violation in the ${colorScheme}`, async () => {
    const user = newUser();
    await place.say(user, "My card is 4111");
    const { page, weather } = await visitInWeather(browser, place, { user, colorScheme });
    await page.getByText("My card").waitFor();
    await place.redact(user, "My card is 4111");
    await page.getByText("This message was deleted").waitFor();
    weather.refuse = (id) => ({ type: "refused", id, code: "rate_limited", message: "", retryAfter: 5 });
    await write(page, "one");
    await page.getByText("Sending shortly").waitFor();
    await write(page, "two");
    await page.getByText("two", { exact: true }).waitFor();
    expect(await violations(page)).toEqual([]);
    weather.refuse = null;
    await eventually(() => place.heard(user), ["one", "two"]);
    weather.refuse = (id) => ({ type: "refused", id, code: "chat_full", message: "", retryAfter: null });
    await write(page, "see https://example.com");
    await page.getByRole("button", { name: "Send again" }).waitFor();
    await weather.storm(1013);
    await page.getByText("Connection lost. Reconnecting").waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole("textbox", { name: "Message" }).fill("x".repeat(5_000));
    expect(await violations(page)).toEqual([]);
  });
}

for (const [name, look] of Object.entries(LOOKS)) {
  test(`a menu, an answer to a picture, a reaction, and one that is refused have no violation on ${name}`, async () => {
    const user = newUser();
    const choices = ["Refund", "Exchange"].map((title) => ({ type: "reply", id: title, title, section: "All" }));
    await place.say(user, "Which?", { interactive: { choices } });
    await place.say(user, "This one?", { type: "IMAGE", mediaUrl: "https://parley.invalid/p.png" });
    const { page, weather } = await visitInWeather(browser, place, { ...look, user });
    await page.getByRole("button", { name: "Refund" }).click();
    await page.locator(".option.tapped").waitFor();
    const picture = page.locator(".theirs", { hasText: "This one?" });
    const openMenu = async () => {
      await picture.hover();
      await picture.locator(".acts-open").click();
      await page.locator(".act-menu").waitFor();
    };
    await eventually(() => place.heard(user), ["Refund"]);
    await openMenu();
    expect(await violations(page)).toEqual([]);
    for (const button of await page.locator(".act-menu button").all()) {
      const box = await button.boundingBox();
      expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(24);
      // All of the menu is inside of the window.
      expect(box?.x ?? -1).toBeGreaterThanOrEqual(0);
      expect((box?.x ?? 0) + (box?.width ?? 9_999)).toBeLessThanOrEqual(page.viewportSize()?.width ?? 0);
    }
    await page.getByRole("button", { name: "🙏" }).click();
    await eventually(async () => (await place.messages(user))[1]?.reactions?.length, 1);
    await openMenu();
    expect(await violations(page)).toEqual([]);
    await page.locator(".act-menu-reply").click();
    await page.locator(".answered").waitFor();
    expect(await violations(page)).toEqual([]);
    await page.locator("textarea").fill("Yes");
    await page.keyboard.press("Enter");
    await page.locator(".own .quote").waitFor();
    weather.refuse = () => ({ type: "refused", id: "reaction", code: "rate_limited", message: "", retryAfter: 90 });
    await openMenu();
    await page.getByRole("button", { name: "😢" }).click();
    await page.locator(".notice").waitFor();
    expect(await violations(page)).toEqual([]);
  });
}

test("a page that is still connecting has no violation", async () => {
  const page = await open(browser);
  await page.routeWebSocket(/\/socket\?/, () => {});
  await page.goto(pageUrl(place, newUser()));
  await page.locator(".skeleton").waitFor();
  expect(await violations(page)).toEqual([]);
});

test("a chat in a final state has no violation", async () => {
  const page = await open(browser);
  // The list of messages, which `visit` waits for, is gone as soon as the service refuses the identity.
  await page.goto(pageUrl({ ...place, hashOf: () => "0".repeat(64) }, newUser()));
  await page.getByText("We couldn’t confirm who you are").waitFor();
  expect(await violations(page)).toEqual([]);
});

test("older messages that fail to load, and a notice of new ones, have no violation", async () => {
  const { page, weather } = await visitInWeather(browser, place, { user: regular });
  await page.getByText("A link").waitFor();
  await page.getByRole("region", { name: "Conversation" }).evaluate((element) => element.scrollTo({ top: 0 }));
  await page.getByRole("log").hover();
  await place.say(regular, "News");
  await page.getByRole("button", { name: "New messages" }).waitFor();
  await weather.storm(1013);
  await page.getByRole("button", { name: "Show earlier messages" }).click();
  await page.getByText("Couldn’t load earlier messages").waitFor();
  expect(await violations(page)).toEqual([]);
});

test("every control is at least 24 px wide and high, and can be reached by keyboard", async () => {
  const page = await visit(browser, place, { user: regular, viewport: { width: 320, height: 568 } });
  await page.getByText("A link").waitFor();
  await page.getByRole("textbox", { name: "Message" }).focus();
  const reached: string[] = [];
  for (let step = 0; step < 4; step++) {
    await page.keyboard.press("Tab");
    reached.push(
      await page.evaluate(
        () => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? "",
      ),
    );
  }
  expect(reached).toEqual(expect.arrayContaining(["Send", "Conversation", "Show earlier messages"]));
  for (const control of await page.locator("button, textarea").all()) {
    const box = await control.boundingBox();
    expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(24);
  }
});

test("nothing moves if the visitor prefers reduced motion", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user, reducedMotion: "reduce" });
  await place.say(user, "hello");
  await page.getByText("hello").waitFor();
  const moving = await page.evaluate(() => document.getAnimations().length);
  expect(moving).toBe(0);
});
