import { beforeAll, expect, test } from "vitest";
import { browser } from "./file-browser.ts";
import { openPlace, type Place, pageUrl } from "./fixtures.ts";
import { violations } from "./violations.ts";
import { eventually, newUser, open, shown, visit, visitInWeather, write } from "./visitor.ts";

let place: Place;

beforeAll(async () => {
  place = await openPlace();
});

test("the log, the text box and the button exist before the first message", async () => {
  const page = await visit(browser, place);
  expect(await page.getByRole("log").count()).toBe(1);
  expect(await page.getByRole("textbox", { name: "Message" }).count()).toBe(1);
  expect(await page.getByRole("button", { name: "Send" }).count()).toBe(1);
  expect(page.faults).toEqual([]);
});

test("the chat has one landmark, so that it brings no second banner into a page that shows it in a frame", async () => {
  const page = await visit(browser, place);
  expect(await page.getByRole("banner").count()).toBe(0);
  expect(await page.getByRole("main").getByRole("heading", { level: 1 }).count()).toBe(1);
});

test("Enter sends, Shift and Enter begin a new line, and the focus stays in the box", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  const box = page.getByRole("textbox", { name: "Message" });
  await box.focus();
  await page.keyboard.type("one");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("two");
  await page.keyboard.press("Enter");
  await eventually(() => place.heard(user), ["one\ntwo"]);
  await page.getByText("Sent", { exact: true }).waitFor();
  expect(await box.inputValue()).toBe("");
  expect(await box.evaluate((element) => element === document.activeElement)).toBe(true);
});

test("the button sends a text, but not an empty one", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("textbox", { name: "Message" }).fill("  by mouse  ");
  await page.getByRole("button", { name: "Send" }).click();
  await eventually(() => place.heard(user), ["by mouse"]);
});

test("a company's message appears immediately and becomes delivered and read", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  await write(page, "hello");
  await eventually(() => place.heard(user), ["hello"]);
  await place.say(user, "How can I help?");
  await page.getByText("How can I help?").waitFor();
  await eventually(() => place.statuses(user), ["READ"]);
});

test("a user's page on another device shows what this one wrote, once", async () => {
  const user = newUser();
  const [one, other] = [await visit(browser, place, { user }), await visit(browser, place, { user })];
  await write(one, "from one");
  await eventually(() => shown(other), ["from one"]);
  await write(other, "from the other");
  await eventually(() => shown(one), ["from one", "from the other"]);
});

test("two visitors at the same time have separate chats", async () => {
  const [ann, ben] = [newUser(), newUser()];
  const [annsPage, bensPage] = await Promise.all([ann, ben].map((user) => visit(browser, place, { user })));
  if (!annsPage || !bensPage) throw new Error("two pages were opened");
  await Promise.all([write(annsPage, "I am Ann"), write(bensPage, "I am Ben")]);
  await eventually(() => place.heard(ann), ["I am Ann"]);
  await eventually(() => place.heard(ben), ["I am Ben"]);
  await Promise.all([place.say(ann, "Hello Ann"), place.say(ben, "Hello Ben")]);
  await eventually(() => shown(annsPage), ["I am Ann", "Hello Ann"]);
  await eventually(() => shown(bensPage), ["I am Ben", "Hello Ben"]);
});

test("a visitor's first message makes a chat that the company finds in its list, and nothing did before", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user, unmet: true });
  await page.getByText("How can we help?").waitFor();
  expect(await place.contacts()).not.toContain(user);
  await write(page, "anyone there?");
  await eventually(async () => (await place.contacts()).includes(user), true);
  await place.say(user, "We are");
  await eventually(() => shown(page), ["anyone there?", "We are"]);
});

test("two tabs of an anonymous visitor are the same visitor", async () => {
  const page = await open(browser);
  const other = await page.context().newPage();
  for (const tab of [page, other]) await tab.goto(`${place.base}/web/${place.channelId}`);
  await write(page, "from one tab");
  await eventually(() => shown(other), ["from one tab"]);
  await write(other, "from the other");
  await eventually(() => shown(page), ["from one tab", "from the other"]);
});

test("a file whose message repeats its address as the text is shown once", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  const mediaUrl = "https://example.com/photo.png";
  await place.say(user, mediaUrl, { type: "IMAGE", mediaUrl });
  await page.getByRole("link", { name: "This picture can’t be shown." }).waitFor();
  expect(await page.getByRole("log").getByRole("link").count()).toBe(1);
  expect(await page.getByText(mediaUrl).count()).toBe(0);
});

test("an open page shows edits, reactions, and who is typing", async () => {
  const user = newUser();
  const { page, weather } = await visitInWeather(browser, place, { user });
  await place.say(user, "Hello");
  await page.getByText("Hello").waitFor();
  const at = new Date().toISOString();
  const changed = { direction: "OUTBOUND", type: "TEXT", status: "SENT", createdAt: at, editedAt: at };
  const id = await place.say(user, "Hallo");
  await page.getByText("Hallo").waitFor();
  const reactions = [
    { by: "contact", emoji: "🎉", at },
    { by: "organization", emoji: "👍", at },
  ];
  weather.tell({ type: "updated", message: { ...changed, id, seq: 2, content: "Hello, Ada", reactions } });
  await eventually(() => shown(page), ["Hello", "Hello, Ada"]);
  expect(await page.getByText("Edited").count()).toBe(1);
  expect(await page.locator(".reactions").textContent()).toBe("You: 🎉Acme support: 👍");
  weather.tell({ type: "dance" });
  weather.tell({ type: "typing", sender: { name: "Ana" } });
  await page.getByText("Ana is typing…").waitFor();
  weather.tell({ type: "typing", sender: null });
  await page.getByText("Someone is typing…").waitFor();
  await place.say(user, "Done");
  await page.getByText("Someone is typing…").waitFor({ state: "hidden" });
  expect(page.faults).toEqual([]);
});

test("a page that was offline through a redaction and a reaction shows both when it is back", async () => {
  const user = newUser();
  const { page, weather } = await visitInWeather(browser, place, { user });
  await place.say(user, "A secret");
  await write(page, "Thank you");
  await page.getByText("Thank you").waitFor();
  await eventually(() => place.heard(user), ["Thank you"]);
  await weather.storm(1013);
  await place.redact(user, "A secret");
  await place.react(user, "Thank you", "🙏");
  weather.clear();
  await eventually(() => shown(page), ["This message was deleted.", "Thank you"]);
  await eventually(() => page.locator(".reactions").textContent(), `${place.name}: 🙏`);
});

test("a page that missed more changes than are told forgets what it has, and shows the conversation as it is", async () => {
  const user = newUser();
  const { page, weather } = await visitInWeather(browser, place, { user });
  const first = await place.say(user, "Old words");
  await page.getByText("Old words").waitFor();
  await weather.storm(1013);
  await place.redact(user, "Old words");
  for (let n = 0; n < 201; n++) await place.say(user, `New ${n}`);
  weather.clear();
  await page.getByText("New 200", { exact: true }).waitFor();
  await eventually(() => page.getByText("Old words").count(), 0);
  expect(first).toMatch(/^msg_/);
});

test("another visitor on the same page receives live, and sees and keeps nothing of the one before", async () => {
  const [ann, ben] = [newUser(), newUser()];
  const page = await visit(browser, place, { user: ann });
  await place.say(ann, "A word for Ann");
  await page.getByText("A word for Ann").waitFor();
  await page.getByRole("textbox", { name: "Message" }).fill("Ann was about to write");
  await place.meet(ben);
  const frames: string[] = [];
  page.on("websocket", (socket) => socket.on("framereceived", ({ payload }) => frames.push(String(payload))));
  await page.evaluate((hash) => (location.hash = hash), new URL(pageUrl(place, ben)).hash);
  await eventually(async () => frames.some((frame) => frame.includes('"ready"')), true);
  await place.say(ann, "Another word for Ann");
  await place.say(ben, "A word for Ben");
  await page.getByText("A word for Ben").waitFor();
  expect(await shown(page)).toEqual(["A word for Ben"]);
  expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("");
  expect(frames.filter((frame) => frame.includes("for Ann"))).toEqual([]);
});

test("a redacted message disappears from the open page, and stays away after a reload", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  await write(page, "my card is 4111");
  await page.getByText("Sent", { exact: true }).waitFor();
  await place.redact(user, "my card is 4111");
  await eventually(() => shown(page), ["This message was deleted."]);
  await page.reload();
  await eventually(() => shown(page), ["This message was deleted."]);
});

test("a deleted chat disappears from the open page, and a new one can begin there", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  await write(page, "forget me");
  await eventually(() => place.heard(user), ["forget me"]);
  await place.erase(user);
  await eventually(() => shown(page), []);
  await place.meet(user);
  await write(page, "hello again");
  await eventually(() => place.heard(user), ["hello again"]);
  // The service may have the message before the page has drawn it.
  await eventually(() => shown(page), ["hello again"]);
});

test("an anonymous visitor stays the same after a reload", async () => {
  const page = await open(browser);
  await page.goto(`${place.base}/web/${place.channelId}`);
  await write(page, "who am I");
  await page.getByText("Sent", { exact: true }).waitFor();
  await page.reload();
  await eventually(() => shown(page), ["who am I"]);
});

test("a draft survives a reload", async () => {
  const page = await visit(browser, place);
  await page.getByRole("textbox", { name: "Message" }).fill("half a thought");
  await page.reload();
  expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("half a thought");
});

test("a long chat opens at its end, and older messages load on demand without moving the view", async () => {
  const user = newUser();
  await place.fill(user, 201);
  const page = await visit(browser, place, { user });
  await page.getByText("Message 201 of 201").waitFor();
  const scroller = page.getByRole("region", { name: "Conversation" });
  await scroller.evaluate((element) => element.scrollTo({ top: 0 }));
  const first = page.getByText("Message 102 of 201");
  const before = await first.boundingBox();
  await page.getByRole("button", { name: "Show earlier messages" }).click();
  await page.getByText("Message 101 of 201").waitFor({ state: "attached" });
  const after = await first.boundingBox();
  expect(Math.abs((after?.y ?? 0) - (before?.y ?? 999))).toBeLessThan(3);
});

test("the history is not announced, and each new message is added to the log once", async () => {
  const user = newUser();
  await place.fill(user, 30);
  const page = await visit(browser, place, { user });
  await page.getByText("Message 30 of 30").waitFor();
  await page.locator('[role=log][aria-live="polite"]').waitFor();
  await page.getByRole("log").evaluate((log) => {
    const added: string[] = [];
    Object.assign(window, { added });
    const collect = (record: MutationRecord) => {
      for (const node of record.addedNodes) if (node instanceof Element) added.push(node.textContent ?? "");
    };
    new MutationObserver((records) => records.forEach(collect)).observe(log, { childList: true, subtree: true });
  });
  await write(page, "mine");
  await place.say(user, "theirs");
  await page.getByText("theirs").waitFor();
  await eventually(() => place.heard(user).then((heard) => heard.at(-1)), "mine");
  const added = await page.evaluate(() => (window as unknown as { added: string[] }).added);
  expect(added.filter((text) => text.includes("mine"))).toHaveLength(1);
  expect(added.filter((text) => text.includes("theirs"))).toHaveLength(1);
});

test("a visitor who reads older messages is notified of new ones without scrolling", async () => {
  const user = newUser();
  await place.fill(user, 60);
  const page = await visit(browser, place, { user });
  await page.getByText("Message 60 of 60").waitFor();
  await page.getByRole("region", { name: "Conversation" }).evaluate((element) => element.scrollTo({ top: 0 }));
  await page.getByText("Message 1 of 60", { exact: true }).hover();
  await place.say(user, "down here");
  await page.getByRole("button", { name: "New messages" }).click();
  await page.getByText("down here").click();
});

test("a text that is too long stays in the box completely", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  const text = "x".repeat(4_100);
  await write(page, text);
  await page.getByText("Characters over the limit: 4").waitFor();
  expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe(text);
  expect(await place.heard(user)).toEqual([]);
});

test("links open in a new tab, and files are named by their kind", async () => {
  const user = newUser();
  await place.say(user, "See https://example.com/a.", { type: "IMAGE", mediaUrl: "https://example.com/i.png" });
  const page = await visit(browser, place, { user });
  const link = page.getByRole("link", { name: "https://example.com/a" });
  expect(await link.getAttribute("href")).toBe("https://example.com/a");
  expect(await link.getAttribute("target")).toBe("_blank");
  expect(await link.getAttribute("rel")).toContain("noopener noreferrer");
  const gone = page.getByRole("link", { name: "This picture can’t be shown." });
  expect(await gone.getAttribute("href")).toBe("https://example.com/i.png");
});

test("a right-to-left language mirrors the page, and messages keep their own direction", async () => {
  const page = await visit(browser, place, { locale: "ar" });
  expect(await page.locator("html").getAttribute("dir")).toBe("rtl");
  const box = page.getByRole("textbox", { name: "الرسالة" });
  const direction = () => box.evaluate((element) => getComputedStyle(element).direction);
  expect(await direction()).toBe("rtl");
  await box.fill("Latin");
  expect(await direction()).toBe("ltr");
  await page.keyboard.press("Enter");
  await page.getByText("أُرسلت").waitFor();
  expect(await page.locator(".text").evaluate((text) => getComputedStyle(text).direction)).toBe("ltr");
});

test.for(["0".repeat(64), "no hash at all", ""])(
  "a wrong identity shows an error, and nothing can be written",
  async (hash) => {
    const page = await open(browser);
    await page.goto(pageUrl({ ...place, hashOf: () => hash }, newUser()));
    const status = page.getByRole("status").filter({ hasText: "We couldn’t confirm who you are" });
    await status.getByText("Reload the page or sign in again.").waitFor();
    expect(await page.getByRole("textbox").count()).toBe(0);
    // It fills the page: no empty list stands beside it.
    expect((await status.boundingBox())?.height).toBeGreaterThan(150);
    expect(await page.getByRole("log").isVisible()).toBe(false);
  },
);

test("the page shows a user's id, and nothing for an anonymous visitor", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  await page.getByText(`Writing as ${user}`).waitFor();
  const anonymous = await open(browser);
  await anonymous.goto(`${place.base}/web/${place.channelId}`);
  await anonymous.getByText("How can we help?").waitFor();
  expect(await anonymous.getByText("Writing as").count()).toBe(0);
});

test("an expiring link works until it expires", async () => {
  const at = (seconds: number) => String(Math.floor(Date.now() / 1_000) + seconds);
  const linkUntil = (user: string, expires: string) =>
    pageUrl({ ...place, hashOf: () => place.hashUntil(user, expires) }, user, { expires });
  const user = newUser();
  await place.meet(user);
  const page = await open(browser);
  await page.goto(linkUntil(user, at(3_600)));
  await write(page, "hello");
  await eventually(() => place.heard(user), ["hello"]);
  const late = await open(browser);
  await late.goto(linkUntil(user, at(-1)));
  await late.getByText("We couldn’t confirm who you are").waitFor();
  expect(await late.getByText("hello").count()).toBe(0);
});

test("a link to a missing chat opens a page with an explanation", async () => {
  const page = await open(browser);
  const response = await page.goto(`${place.base}/web/chn_gNoSuchChannel00`);
  expect(response?.status()).toBe(404);
  await page.getByRole("heading", { name: "This chat doesn’t exist" }).waitFor();
  expect(await violations(page)).toEqual([]);
  expect(page.faults).toEqual([]);
});

test("no requested URL contains the identity", async () => {
  const user = newUser();
  const page = await open(browser);
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on("websocket", (socket) => asked.push(socket.url()));
  await page.goto(pageUrl(place, user));
  await write(page, "hello");
  await eventually(() => place.heard(user), ["hello"]);
  const sent = asked.map((url) => url.split("#")[0] ?? "");
  expect(sent.some((url) => url.endsWith("/socket?after=0"))).toBe(true);
  for (const url of sent) expect(url).not.toMatch(new RegExp(`user|hash|${place.hashOf(user)}`));
});

test("the page has the company's title, color, words and suggestions, and says when it is away", async () => {
  const company = await openPlace({
    title: "Moin & Co",
    greeting: "Hello!\nWhat are you looking for?",
    accentColor: "#ffe000",
    logoUrl: "https://parley.invalid/logo.png",
    starters: ["Prices", "Where is my order?"],
    texts: { en: { emptyTitle: "Welcome" }, "en-GB": { placeholder: "Tell us…" } },
    hours: { timeZone: "UTC", week: { monday: [{ opens: "09:00", closes: "09:01" }] } },
  });
  const user = newUser();
  const page = await visit(browser, company, { user });
  await page.getByRole("heading", { name: "Moin & Co" }).waitFor();
  await page.getByText("Welcome").waitFor();
  await page.getByText("What are you looking for?").waitFor();
  await page.getByPlaceholder("Tell us…").waitFor();
  await page.getByText(/We’re away until Monday.*09:00/).waitFor();
  const send = page.getByRole("button", { name: "Send" });
  expect(await send.evaluate((button) => getComputedStyle(button).backgroundColor)).toBe("rgb(166, 148, 9)");
  // A logo that can't be loaded leaves the first letter.
  await eventually(() => page.locator(".avatar img").count(), 0);
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Where is my order?" }).click();
  await eventually(() => company.heard(user), ["Where is my order?"]);
  await eventually(() => page.getByRole("button", { name: "Prices" }).count(), 0);
  expect(page.faults).toEqual([]);
});

test("the title has the number of messages that came while the page was hidden, until they are seen", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  const title = await page.title();
  const turn = (state: string) =>
    page.evaluate((next) => {
      Object.defineProperty(document, "visibilityState", { configurable: true, value: next });
      document.dispatchEvent(new Event("visibilitychange"));
    }, state);
  await place.say(user, "Seen at once");
  await page.getByText("Seen at once").waitFor();
  await turn("hidden");
  await place.say(user, "One");
  await place.say(user, "Two");
  await eventually(() => page.title(), `(2) ${title}`);
  await turn("visible");
  await eventually(() => page.title(), title);
});

test("the person who writes is named once above a run, and on each message for a screen reader", async () => {
  const user = newUser();
  for (const text of ["One", "Two"]) await place.say(user, text, { type: "TEXT", senderId: place.memberId });
  await place.say(user, "From a bot");
  const page = await visit(browser, place, { user });
  await eventually(() => shown(page), ["One", "Two", "From a bot"]);
  const name = (await page.locator(".writer bdi").allTextContents())[0] ?? "";
  expect(name).not.toBe("");
  expect(await page.locator(".writer").count()).toBe(1);
  expect(await page.locator(".bubble > .hidden").allTextContents()).toEqual([`${name}: `, `${name}: `, "Reply: "]);
  expect(await violations(page)).toEqual([]);
});

test("an anonymous visitor is asked once how to be reached, and can decline", async () => {
  const company = await openPlace({ askContact: "afterFirst" });
  const url = `${company.base}/web/${company.channelId}`;
  const page = await open(browser);
  await page.goto(url);
  const form = page.getByRole("form", { name: "How can we reach you?" });
  await write(page, "Hello");
  await form.getByLabel("Name").fill("Ada");
  await form.getByLabel("Email").fill("ada@example.com");
  expect(await violations(page)).toEqual([]);
  await form.getByRole("button", { name: "Send" }).click();
  await page.getByText("Thank you.").waitFor();
  await eventually(() => company.people(), [["Ada", "ada@example.com"]]);
  await page.reload();
  await eventually(() => shown(page), ["Hello"]);
  expect(await form.count()).toBe(0);
  const other = await open(browser);
  await other.goto(url);
  await write(other, "Hello");
  await other.getByRole("button", { name: "Not now" }).click();
  await eventually(() => other.getByRole("form", { name: "How can we reach you?" }).count(), 0);
  const known = await visit(browser, company);
  await write(known, "Hello");
  await known.getByText("Sent", { exact: true }).waitFor();
  expect(await known.getByRole("form", { name: "How can we reach you?" }).count()).toBe(0);
  expect([page.faults, other.faults]).toEqual([[], []]);
});
