import type { BrowserContextOptions, Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { type Desk, goByKeys, openAsMember, openConsole, openDesk, screenOf } from "./console.ts";
import { hasFocus, openChat } from "./console-conversation.ts";
import { takeOver } from "./disturb.ts";
import { browser } from "./file-browser.ts";
import { layoutFaults } from "./layout-faults.ts";
import { violations } from "./violations.ts";

const desk = await openDesk();

const repliesOf = async (of: Desk) => (await of.api("GET", "/replies")).replies;
const field = (page: Page, name: string) => page.getByLabel(name, { exact: true });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const preview = (page: Page) => page.getByRole("region", { name: "Preview" }).locator(".preview");
const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name, exact: true });

/** The operator's page of a screen. It closes after the test. */
async function open(of: Desk, path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await openConsole(browser, screenOf(of, path), options);
  onTestFinished(() => page.context().close());
  return page;
}

/** An organization with one reply, and the page of that reply. */
async function openReply(content = "Thank you") {
  const own = await openDesk("Replies");
  const { reply } = await own.api("POST", "/replies", { name: "Thanks", shortcut: "ty", content });
  const page = await open(own, `replies/${reply.id}`);
  await field(page, "Text").waitFor();
  const change = (body: object) => own.api("PATCH", `/replies/${reply.id}`, body);
  return { own, reply, page, change };
}

test("a reply is written with a live preview, found, changed and deleted", async () => {
  const own = await openDesk("Writers");
  const page = await open(own, "replies");
  await page.getByRole("heading", { name: "No reply yet" }).waitFor();
  await page.getByRole("link", { name: "New reply" }).first().click();
  await field(page, "Name").fill("Left");
  await field(page, "Shortcut").fill("left");
  await field(page, "Text").fill("Hello {{contact.name}}, {{metadata.order|it}} left. {{metadata.day}}");
  await expect.poll(() => preview(page).textContent()).toBe("Hello Ana Ruiz, it left. {{metadata.day}}");
  await field(page, "metadata.order").fill("A-17");
  await expect.poll(() => preview(page).textContent()).toBe("Hello Ana Ruiz, A-17 left. {{metadata.day}}");
  await button(page, "Create").click();
  await page.getByText("Saved", { exact: true }).waitFor();
  await own.api("POST", "/replies", { name: "Other", content: "Another one" });
  await page.reload();
  await page.getByRole("link", { name: "Other" }).waitFor();
  await page.getByLabel("Find a reply").fill("LEFT");
  await expect.poll(() => page.getByRole("main").getByRole("listitem").count()).toBe(1);
  await page.getByLabel("Find a reply").fill("nothing");
  await page.getByRole("heading", { name: "No reply has these words" }).waitFor();
  await page.getByLabel("Find a reply").fill("");
  await page.getByRole("link", { name: "Left" }).click();
  await field(page, "Shortcut").fill("");
  await field(page, "Text").fill("It left.");
  await button(page, "Save").click();
  await heading(page, "Replies").waitFor();
  await page.getByText("It left.").waitFor();
  expect(await repliesOf(own)).toMatchObject([
    { name: "Left", shortcut: null, content: "It left." },
    { name: "Other" },
  ]);
  await page.getByRole("link", { name: "Left" }).click();
  await button(page, "Delete").click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await heading(page, "Replies").waitFor();
  await expect.poll(() => page.getByRole("link", { name: "Left" }).count()).toBe(0);
  expect(await repliesOf(own)).toMatchObject([{ name: "Other" }]);
});

test("a reply is written by the keyboard alone, from an open chat", async () => {
  const own = await openDesk("Keyboard");
  const chat = await own.chat("Kay Keys");
  const page = await openChat(own, chat.id);
  // A chat that was opened after another screen: its own keys must not win over g and a letter.
  await goByKeys(page, "m", "Members");
  await page.goBack();
  await heading(page, "Kay Keys").waitFor();
  await goByKeys(page, "r", "Replies");
  await page.keyboard.press("n");
  await heading(page, "New reply").waitFor();
  await hasFocus(page, field(page, "Name"));
  for (const [text, key] of [
    ["Thanks", "Tab"],
    ["ty", "Tab"],
    ["Thank you", "Tab"],
  ] as const) {
    await page.keyboard.type(text);
    await page.keyboard.press(key);
  }
  await button(page, "Create").focus();
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Thanks" }).waitFor();
  expect(await repliesOf(own)).toMatchObject([{ name: "Thanks", shortcut: "ty", content: "Thank you" }]);
});

test.each([
  ["Hello {{name}}", 'The text has the unknown placeholder "{{name}}".'],
  ["Hello {{contact.name", "The text has a placeholder that is not closed."],
])(
  "what is wrong with the placeholders of %j is said while it is written, and it can’t be saved",
  async (text, fault) => {
    const page = await open(desk, "replies/new");
    await field(page, "Name").fill("Wrong");
    await field(page, "Text").fill(text);
    await page.getByText(fault).waitFor();
    await expect.poll(() => button(page, "Create").isDisabled()).toBe(true);
    await field(page, "Text").fill("Hello {{contact.name}}");
    await expect.poll(() => button(page, "Create").isDisabled()).toBe(false);
  },
);

test("a shortcut that another reply has is said at its field, and what was entered stays", async () => {
  const { own, page } = await openReply();
  await own.api("POST", "/replies", { name: "Other", shortcut: "Óther", content: "x" });
  await field(page, "Shortcut").fill("OTHER");
  await button(page, "Save").click();
  const fault = page.locator(".field", { hasText: "Shortcut" }).locator(".failed");
  await expect.poll(() => fault.allTextContents()).toEqual(["Another reply has this shortcut."]);
  await expect.poll(() => field(page, "Shortcut").inputValue()).toBe("OTHER");
});

test("a shortcut with a space, and one reply too many, are said", async () => {
  const own = await openDesk("Full");
  const page = await open(own, "replies/new");
  await field(page, "Name").fill("One more");
  await field(page, "Shortcut").fill("one more");
  await field(page, "Text").fill("x");
  await button(page, "Create").click();
  await page.getByText("Must have only letters, digits, - and _.").waitFor();
  await takeOver(page, /\/replies$/, (route) =>
    route.fulfill({ status: 409, json: { code: "reply_limit", error: "The organization already has 1,000" } }),
  );
  await field(page, "Shortcut").fill("more");
  await button(page, "Create").click();
  await page.getByRole("alert").getByText("The organization already has 1,000").waitFor();
  await expect.poll(() => field(page, "Name").inputValue()).toBe("One more");
});

test("of two people who change the same text the later one is asked, and sees what the other one wrote", async () => {
  const { own, page, change } = await openReply();
  await field(page, "Text").fill("Thanks a lot");
  await change({ content: "Cheers" });
  await button(page, "Save").click();
  await page.getByRole("alert").getByText("Cheers", { exact: true }).waitFor();
  expect(await repliesOf(own)).toMatchObject([{ content: "Cheers" }]);
  await expect.poll(() => field(page, "Text").inputValue()).toBe("Thanks a lot");
  await button(page, "Save").click();
  await heading(page, "Replies").waitFor();
  expect(await repliesOf(own)).toMatchObject([{ content: "Thanks a lot" }]);
});

test("of two people who change different fields of a reply neither takes back what the other one wrote", async () => {
  const { own, page, change } = await openReply();
  await field(page, "Name").fill("Many thanks");
  await change({ content: "Cheers", shortcut: "ch" });
  await button(page, "Save").click();
  await heading(page, "Replies").waitFor();
  expect(await repliesOf(own)).toMatchObject([{ name: "Many thanks", shortcut: "ch", content: "Cheers" }]);
});

test("a reply that somebody deleted meanwhile is said to be gone, and can be created again", async () => {
  const { own, reply, page } = await openReply();
  await field(page, "Text").fill("Thanks a lot");
  await own.api("DELETE", `/replies/${reply.id}`);
  await button(page, "Save").click();
  await page.getByText("Somebody deleted this reply. You can create it again.").waitFor();
  await expect.poll(() => field(page, "Text").inputValue()).toBe("Thanks a lot");
  await button(page, "Create").click();
  await heading(page, "Replies").waitFor();
  expect(await repliesOf(own)).toMatchObject([{ name: "Thanks", shortcut: "ty", content: "Thanks a lot" }]);
});

test("what was not saved stays in the tab until it is discarded", async () => {
  const { page } = await openReply();
  await field(page, "Text").fill("Half a thought");
  await page.getByRole("link", { name: "Replies" }).first().click();
  await heading(page, "Replies").waitFor();
  await page.goBack();
  await expect.poll(() => field(page, "Text").inputValue()).toBe("Half a thought");
  await page.reload();
  await expect.poll(() => field(page, "Text").inputValue()).toBe("Half a thought");
  await button(page, "Discard").click();
  await expect.poll(() => field(page, "Text").inputValue()).toBe("Thank you");
});

test("a reply that does not exist is said not to", async () => {
  const page = await open(desk, "replies/rpl_gXXXXXXXXXXXXXXX");
  await page.getByRole("heading", { name: "There is no such reply" }).waitFor();
});

test("who may not send sees no replies, and who may only send changes none", async () => {
  const { own, reply } = await openReply();
  const [stranger, reader] = [
    await openAsMember(browser, own, ["chats:read"], screenOf(own, "replies")),
    await openAsMember(browser, own, ["chats:read", "messages:send"], screenOf(own, "replies")),
  ];
  onTestFinished(async () => {
    for (const page of [stranger, reader]) await page.context().close();
  });
  await stranger.getByText("You need the permission messages:send").waitFor();
  await expect.poll(() => stranger.getByRole("link", { name: "Replies" }).count()).toBe(0);
  await reader.getByRole("link", { name: "Thanks" }).waitFor();
  await expect.poll(() => reader.getByRole("link", { name: "New reply" }).count()).toBe(0);
  await reader.goto(new URL(screenOf(own, `replies/${reply.id}`), reader.url()).href);
  await field(reader, "Text").waitFor();
  await expect.poll(() => field(reader, "Text").isEditable()).toBe(false);
  await expect.poll(() => button(reader, "Save").isDisabled()).toBe(true);
  await expect.poll(() => button(reader, "Delete").count()).toBe(0);
});

test.for((["light", "dark"] as const).flatMap((colorScheme) => [390, 1280].map((width) => ({ colorScheme, width }))))(
  "the screens of replies are accessible and nothing of them is cut: $colorScheme, $width px",
  async ({ colorScheme, width }) => {
    const own = await openDesk("Seen");
    const name = "אישור הזמנה";
    await own.api("POST", "/replies", { name, shortcut: "a-shortcut-of-thirty-two-letters", content: "שלום" });
    const page = await open(own, "replies", { colorScheme, viewport: { width, height: 1_600 } });
    await page.getByRole("link", { name }).waitFor();
    expect(await violations(page)).toEqual([]);
    expect(await layoutFaults(page)).toEqual([]);
    await page.getByRole("link", { name }).click();
    await field(page, "Text").fill("{{contact.name}} {{metadata.order}} {{oops}}");
    await page.getByText("unknown placeholder").waitFor();
    expect(await violations(page)).toEqual([]);
    expect(await layoutFaults(page)).toEqual([]);
  },
);
