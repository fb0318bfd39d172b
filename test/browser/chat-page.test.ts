import { expect, test } from "vitest";
import { browser } from "./file-browser.ts";
import { openPlace, pageUrl } from "./fixtures.ts";
import { violations } from "./violations.ts";
import { eventually, newUser, open, shown, visit, write } from "./visitor.ts";

const place = await openPlace();

test("the log, the text box and the button exist before the first message", async () => {
  const page = await visit(browser, place);
  await expect.poll(() => page.getByRole("log").count()).toBe(1);
  await expect.poll(() => page.getByRole("textbox", { name: "Message" }).count()).toBe(1);
  await expect.poll(() => page.getByRole("button", { name: "Send" }).count()).toBe(1);
  expect(page.faults).toEqual([]);
});

test("the chat has one landmark, so that it brings no second banner into a page that shows it in a frame", async () => {
  const page = await visit(browser, place);
  await expect.poll(() => page.getByRole("banner").count()).toBe(0);
  await expect.poll(() => page.getByRole("main").getByRole("heading", { level: 1 }).count()).toBe(1);
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
  await expect.poll(() => box.inputValue()).toBe("");
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
  await expect.poll(() => page.getByRole("log").getByRole("link").count()).toBe(1);
  await expect.poll(() => page.getByText(mediaUrl).count()).toBe(0);
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
  await expect.poll(() => page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("half a thought");
});

test("a text that is too long stays in the box completely", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  const text = "x".repeat(4_100);
  await write(page, text);
  await page.getByText("Characters over the limit: 4").waitFor();
  await expect.poll(() => page.getByRole("textbox", { name: "Message" }).inputValue()).toBe(text);
  expect(await place.heard(user)).toEqual([]);
});

test("links open in a new tab, and files are named by their kind", async () => {
  const user = newUser();
  await place.say(user, "See https://example.com/a.", { type: "IMAGE", mediaUrl: "https://example.com/i.png" });
  const page = await visit(browser, place, { user });
  const link = page.getByRole("link", { name: "https://example.com/a" });
  await expect.poll(() => link.getAttribute("href")).toBe("https://example.com/a");
  await expect.poll(() => link.getAttribute("target")).toBe("_blank");
  await expect.poll(() => link.getAttribute("rel")).toContain("noopener noreferrer");
  const gone = page.getByRole("link", { name: "This picture can’t be shown." });
  await expect.poll(() => gone.getAttribute("href")).toBe("https://example.com/i.png");
});

test("a right-to-left language mirrors the page, and messages keep their own direction", async () => {
  const page = await visit(browser, place, { locale: "ar" });
  await expect.poll(() => page.locator("html").getAttribute("dir")).toBe("rtl");
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
    await expect.poll(() => page.getByRole("textbox").count()).toBe(0);
    // It fills the page: no empty list stands beside it.
    expect((await status.boundingBox())?.height).toBeGreaterThan(150);
    await expect.poll(() => page.getByRole("log").isVisible()).toBe(false);
  },
);

test("the page shows a user's id, and nothing for an anonymous visitor", async () => {
  const user = newUser();
  const page = await visit(browser, place, { user });
  await page.getByText(`Writing as ${user}`).waitFor();
  const anonymous = await open(browser);
  await anonymous.goto(`${place.base}/web/${place.channelId}`);
  await anonymous.getByText("How can we help?").waitFor();
  await expect.poll(() => anonymous.getByText("Writing as").count()).toBe(0);
});

test("a link gives its user no name, and tells nobody which chat its reader had before", async () => {
  const user = newUser();
  const page = await open(browser);
  await page.goto(`${place.base}/web/${place.channelId}`);
  await write(page, "who am I");
  await page.getByText("Sent", { exact: true }).waitFor();
  await place.say(user, "Hello, user");
  await page.goto("about:blank");
  // The last one is what a widget's frame has. Outside of a frame it says nothing.
  for (const more of [{ name: "Maria Victim" }, { name: "Maria Victim", host: place.base }]) {
    await page.goto(pageUrl(place, user, more));
    await page.reload();
    await page.getByText(`Writing as ${user}`).waitFor();
    await page.getByText("Hello, user").waitFor();
    await expect.poll(() => page.getByText("Maria Victim").count()).toBe(0);
    // Frames keep their order, so the company knows the chat before this message, or never.
    const text = `with ${Object.keys(more).length}`;
    await write(page, text);
    await expect.poll(() => place.heard(user)).toContain(text);
  }
  const chat = (await place.chats()).find(({ contact }) => contact.address === user);
  expect(chat?.metadata).toEqual({});
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
  await expect.poll(() => late.getByText("hello").count()).toBe(0);
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
