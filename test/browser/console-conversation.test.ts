import { createHmac } from "node:crypto";
import type { Locator, Page, Route } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { CREDENTIALS, createChannel, createChat } from "../support/world/factories.ts";
import { type Desk, openAsMember, openConsole, openDesk, screenOf } from "./console.ts";
import { browser } from "./file-browser.ts";

let desk: Desk;

beforeAll(async () => {
  desk = await openDesk();
});

const box = (page: Page) => page.getByLabel("Message", { exact: true });
const log = (page: Page) => page.getByRole("log", { name: "Messages" });
const send = (chatId: string, body: object) => desk.api("POST", `/chats/${chatId}/messages`, body);
const LONG = `https://shop.example/${"order".repeat(40)}`;

/** What reaches beyond the right edge of the page and is not in a box that scrolls or clips. */
const overflowing = (page: Page) =>
  page.evaluate(() => {
    const isClipped = (element: Element | null): boolean =>
      element !== null && (getComputedStyle(element).overflowX !== "visible" || isClipped(element.parentElement));
    return [...document.querySelectorAll("body *")]
      .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !isClipped(one.parentElement))
      .map((one) => one.outerHTML.slice(0, 120));
  });

/** What is cut off at the right edge of its own part of the page. */
const cutOff = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll(".conversation, .chats, .panel, .dialog, .dialog-body")]
      .filter((one) => one.scrollWidth > one.clientWidth || one.getBoundingClientRect().right > innerWidth + 1)
      .map((one) => `${one.className}: ${one.scrollWidth} > ${one.clientWidth}`),
  );

test.for([1440, 1024, 390])("long words push nothing off the screen: %i px", async (width) => {
  const { id } = await createChat(desk.channel, {
    contact: { address: `long-${width}-${"x".repeat(180)}`, name: "Wolfeschlegelstein".repeat(5) },
    metadata: { page: LONG },
  });
  await send(id, { content: LONG });
  const template = { name: `t${width}${"x".repeat(90)}`, language: "en", body: `${LONG} {{${"v".repeat(40)}}}` };
  await desk.api("POST", "/templates", template);
  const page = await openConsole(browser, screenOf(desk, `inbox/${id}`), { viewport: { width, height: 800 } });
  await log(page).getByText(LONG).waitFor();
  await box(page).fill(LONG);
  const check = async () => {
    expect(await overflowing(page)).toEqual([]);
    expect(await cutOff(page)).toEqual([]);
  };
  await check();
  if (width < 1351) await page.getByRole("button", { name: "Details", exact: true }).click();
  await page.getByText("Metadata", { exact: true }).waitFor();
  await check();
  await page.getByRole("button", { name: "Change the metadata" }).click();
  await check();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Delete this chat" }).click();
  await check();
  await page.keyboard.press("Escape");
  if (width < 1351) await page.getByRole("button", { name: "Close the details" }).click();
  await page.getByRole("button", { name: "Templates", exact: true }).click();
  await page.getByRole("dialog").getByText(template.name).waitFor();
  await check();
  await page.getByRole("dialog").getByRole("button", { name: template.name }).click();
  await page.getByLabel("v".repeat(40)).fill(LONG);
  await check();
  await page.context().close();
});

test("a time for “Send later” that has passed is said, and only “Send now” sends", async () => {
  const chat = await desk.chat("Pia Past");
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  await box(page).fill("Good morning");
  await page.getByRole("button", { name: "Send later" }).click();
  await page.getByRole("menuitem", { name: "Send later…" }).click();
  const dialog = page.getByRole("dialog", { name: "Send later" });
  await dialog.getByLabel("Send at").fill("2020-01-01T09:00");
  await dialog.getByText("This time has passed.").waitFor();
  expect(await dialog.getByRole("button", { name: "Schedule" }).count()).toBe(0);
  await dialog.getByRole("button", { name: "Send now" }).click();
  await log(page).getByText("Good morning").waitFor();
  const { messages } = await desk.api("GET", `/chats/${chat.id}/messages`);
  expect(messages[0].scheduledAt).toBeUndefined();
  await page.context().close();
});

test("what is wrong in a form of the inbox stands at its field, by the field's label", async () => {
  const chat = await desk.chat("Fia Fault");
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  await page.getByRole("button", { name: "New chat" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Address").fill("web_nobody");
  await dialog.getByRole("button", { name: "Open the chat" }).click();
  await dialog.getByText(/^Address: must be well-formed text/).waitFor();
  expect(await dialog.textContent()).not.toContain("contact.address");
  await expect
    .poll(() => dialog.getByLabel("Address").evaluate((field) => field === document.activeElement))
    .toBe(true);
  await page.keyboard.press("Escape");
  await box(page).fill("Too late");
  await page.getByRole("button", { name: "Send later" }).click();
  await page.getByRole("menuitem", { name: "Send later…" }).click();
  await dialog.getByLabel("Not after").fill("2020-01-01T09:00");
  await dialog.getByRole("button", { name: "Schedule" }).click();
  await dialog.getByText(/^Not after: must be/).waitFor();
  expect(await box(page).inputValue()).toBe("Too late");
  await page.context().close();
});

test("the notice that somebody answered names a person, and hides no message", async () => {
  const chat = await desk.chat("Nia Notice");
  for (let n = 1; n <= 20; n++) await send(chat.id, { content: `Message ${n}` });
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  await log(page).getByText("Message 20").waitFor();
  await page.context().route(/\/events/, (route) => route.abort());
  await page.reload();
  await log(page).getByText("Message 20").waitFor();
  await send(chat.id, { content: "The last word" });
  await box(page).fill("Me too");
  await page.keyboard.press("Control+Enter");
  await page.getByText("Ann answered meanwhile.").waitFor();
  const answer = log(page).getByText("The last word");
  await expect
    .poll(async () => {
      const [shown, within] = await Promise.all([answer.boundingBox(), log(page).boundingBox()]);
      return shown && within && shown.y + shown.height <= within.y + within.height;
    })
    .toBe(true);
  await page.context().close();
});

test("a page that is offline shows all of the composer", async () => {
  const chat = await desk.chat("Olaf Offline");
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  await box(page).waitFor();
  await page.context().setOffline(true);
  await page.getByText(/No connection/).waitFor();
  const button = await page.getByRole("button", { name: "Send", exact: true }).boundingBox();
  expect((button?.y ?? 0) + (button?.height ?? 0)).toBeLessThanOrEqual(800);
  await page.context().close();
});

test("a failed message is sent again once, and leads to the message that does", async () => {
  const body = { kind: "telegram", credentials: { botToken: "123456:a-token-of-this-test" } } as const;
  const channel = await createChannel(desk.organization, body);
  const { id } = await createChat(channel, { contact: { address: "4711", name: "Flo Fails" } });
  // Telegram needs a file.
  await send(id, { content: "A picture", type: "IMAGE" });
  const page = await openConsole(browser, screenOf(desk, `inbox/${id}`));
  const first = log(page).getByRole("article").first();
  await first.getByRole("button", { name: "Send again" }).click();
  const link = first.getByRole("link", { name: "Sent again as message 2" });
  await link.waitFor();
  expect(await first.getByRole("button", { name: "Send again" }).count()).toBe(0);
  await link.click();
  await expect.poll(() => page.locator("article:target").textContent()).toContain("A picture");
  await page.reload();
  await link.waitFor();
  await page.context().close();
});

test("a conversation shows choices, taps, quotes, places and reactions, and follows them", async () => {
  const chat = await desk.chat("Cho Chooses");
  const choices = ["Today", "Tomorrow", "<b>Never</b>"].map((title, n) => ({ type: "reply", id: `slot-${n}`, title }));
  const interactive = { choices, header: "Your order", footer: "Free of charge" };
  const { message } = await send(chat.id, { content: "When may we deliver?", interactive });
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  const list = log(page).getByRole("group", { name: "Choices" }).first();
  await list.waitFor();
  expect(await list.locator(".option").allTextContents()).toEqual(["Today", "Tomorrow", "<b>Never</b>"]);
  await desk.does(chat.address, { type: "message", content: "?", choice: `${message.id}:1` });
  const tap = log(page).getByRole("article").nth(1);
  await list.getByText("Tomorrow Chosen").waitFor();
  const quote = tap.getByRole("button", { name: "In reply to: Your organization When may we deliver?" });
  await quote.click();
  await expect.poll(() => page.locator("article:target").textContent()).toContain("Your order");
  expect(await tap.locator(".text").textContent()).toBe("Tomorrow");
  await desk.does(chat.address, { type: "reaction", seq: 1, emoji: "❤️" });
  await log(page).getByTitle("The contact reacted").getByText("❤️").waitFor();
  const link = { type: "link", title: "Track it", url: "https://shop.example/4711" };
  await send(chat.id, { content: "Here it is", interactive: { choices: [link] } });
  await log(page).getByRole("link", { name: "Track it" }).waitFor();
  await send(chat.id, { content: "Our shop", location: { latitude: -33.86, longitude: 151.2 } });
  const map = log(page).getByRole("link", { name: "-33.86, 151.2" });
  expect(await map.getAttribute("href")).toContain("mlat=-33.86&mlon=151.2");
  expect(await map.getAttribute("rel")).toContain("noreferrer");
  await desk.does(chat.address, { type: "reaction", seq: 1, emoji: null });
  await log(page).getByTitle("The contact reacted").waitFor({ state: "detached" });
  await page.context().close();
});

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAAEklEQVR42mP8z8BQz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC",
  "base64",
);
const dot = { name: "dot.png", mimeType: "image/png", buffer: PNG };
const words = { name: "words.txt", mimeType: "text/plain", buffer: Buffer.from("words") };
const staged = (page: Page) => page.getByRole("list", { name: "Attached files" }).getByRole("listitem");
const choose = (page: Page, ...files: (typeof dot)[]) => page.locator("input[type=file]").setInputFiles(files);

test("files go out with a text and as an answer, each as a message, and one can be taken away before", async () => {
  const chat = await desk.chat("Fil Files");
  await desk.writes(chat.address, "Where is my invoice?");
  const viewport = { width: 1440, height: 900 };
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`), { viewport });
  const question = log(page).getByRole("article").first();
  await question.getByRole("button", { name: /Show details|Received/ }).click();
  await page.getByRole("heading", { name: "Message 1" }).waitFor();
  await page.keyboard.press("r");
  await page.locator(".answered").getByText("Where is my invoice?").waitFor();
  await choose(page, dot, words, { ...words, name: "wrong.txt" });
  expect(await staged(page).count()).toBe(3);
  await page.getByRole("button", { name: "Remove wrong.txt" }).click();
  await box(page).fill("Here it is");
  await page.keyboard.press("Control+Enter");
  await log(page).getByRole("link", { name: "words.txt" }).waitFor();
  await expect.poll(() => staged(page).count()).toBe(0);
  expect(await box(page).inputValue()).toBe("");
  const messages = (await desk.api("GET", `/chats/${chat.id}/messages`)).messages.toReversed();
  expect(messages).toMatchObject([
    { direction: "INBOUND" },
    { type: "IMAGE", text: "Here it is", replyTo: messages[0].id, media: { fileName: "dot.png", width: 2, height: 3 } },
    { type: "DOCUMENT", text: "words.txt", media: { fileName: "words.txt" } },
  ]);
  expect(messages[2].replyTo).toBeUndefined();
  await log(page)
    .getByRole("button", { name: /In reply to: .*Where is my invoice\?/ })
    .click();
  await expect.poll(() => page.locator("article:target").textContent()).toContain("Where is my invoice?");
  await log(page).getByRole("button", { name: "Open image: Here it is" }).click();
  await page.getByRole("dialog", { name: "Here it is" }).waitFor();
  await page.keyboard.press("Escape");
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
  await page.context().close();
});

test("a send of two files can be undone as one: text, files and answer come back, and go out again", async () => {
  const chat = await desk.chat("Uno Undone");
  await desk.writes(chat.address, "Please send both");
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  await box(page).waitFor();
  await page.evaluate(() => localStorage.setItem("parley.console.undo", JSON.stringify({ web: 10, networks: 10 })));
  await page.reload();
  await log(page).getByText("Please send both").hover();
  await log(page).getByRole("button", { name: "React or reply" }).click();
  await log(page).getByRole("button", { name: "Reply", exact: true }).click();
  await choose(page, dot, words);
  await box(page).fill("Both");
  await page.keyboard.press("Control+Enter");
  const scheduled = async () => (await desk.api("GET", `/chats/${chat.id}/scheduled`)).messages;
  await expect.poll(async () => (await scheduled()).length).toBe(2);
  await expect.poll(() => staged(page).count()).toBe(0);
  await page.keyboard.press("Escape");
  await expect.poll(() => staged(page).count()).toBe(2);
  expect(await scheduled()).toEqual([]);
  expect(await box(page).inputValue()).toBe("Both");
  expect(await page.locator(".answered").textContent()).toContain("Please send both");
  await box(page).press("Control+Enter");
  await expect
    .poll(async () => (await scheduled()).map(({ text }: { text: string }) => text))
    .toEqual(["Both", "words.txt"]);
  await page.context().close();
});

test("an upload that fails keeps files and text, says why, and can be repeated", async () => {
  const chat = await desk.chat("Ria Repeats");
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  await box(page).fill("Look");
  const keys: (string | undefined)[] = [];
  await page.route(/\/media\?/, (route) => {
    keys.push(route.request().headers()["idempotency-key"]);
    if (keys.length > 1) return route.continue();
    return route.fulfill({ status: 409, json: { code: "upload_limit", message: "Too many files wait in this chat" } });
  });
  await choose(page, dot);
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await staged(page).getByText("Too many files wait in this chat").waitFor();
  expect(await box(page).inputValue()).toBe("Look");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await log(page).getByRole("button", { name: "Open image: Look" }).waitFor();
  expect(new Set(keys).size).toBe(1);
  await page.context().close();
});

test("a file that is pasted or dropped waits in its chat while another one is open", async () => {
  const [one, other] = [await desk.chat("Pat Pastes"), await desk.chat("Dee Drops")];
  const page = await openConsole(browser, screenOf(desk, `inbox/${one.id}`));
  await box(page).waitFor();
  const give = (type: "paste" | "drop", name: string) =>
    box(page).evaluate(
      (field, [kind, fileName]) => {
        const data = new DataTransfer();
        data.items.add(new File(["words"], fileName as string, { type: "text/plain" }));
        const init = { bubbles: true, cancelable: true };
        field.dispatchEvent(
          kind === "paste"
            ? new ClipboardEvent("paste", { ...init, clipboardData: data })
            : new DragEvent("drop", { ...init, dataTransfer: data }),
        );
      },
      [type, name],
    );
  await give("paste", "pasted.txt");
  await give("drop", "dropped.txt");
  await expect.poll(() => staged(page).count()).toBe(2);
  await page.getByRole("link", { name: /Dee Drops/ }).click();
  await page.getByRole("heading", { name: "Dee Drops" }).waitFor();
  expect(await staged(page).count()).toBe(0);
  await page.getByRole("link", { name: /Pat Pastes/ }).click();
  await staged(page).getByText("pasted.txt").waitFor();
  await choose(page, { ...words, buffer: Buffer.alloc(0) });
  await page.getByText("“words.txt” is empty.").waitFor();
  expect(other.id).not.toBe(one.id);
  await page.context().close();
});

test("a person reacts to a message, the visitor sees it, and a reaction that fails is taken back with the reason", async () => {
  const chat = await desk.chat("Rea Reacts");
  await desk.writes(chat.address, "Thank you");
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  const react = async (emoji: string) => {
    await log(page).getByText("Thank you").hover();
    await log(page).getByRole("button", { name: "React or reply" }).click();
    await log(page).getByRole("button", { name: emoji }).click();
  };
  const reactions = async () => (await desk.api("GET", `/chats/${chat.id}/messages`)).messages[0].reactions;
  await react("🙏");
  await log(page).getByTitle("Your organization reacted").getByText("🙏").waitFor();
  await expect.poll(reactions).toMatchObject([{ by: "organization", emoji: "🙏" }]);
  await react("🙏");
  await expect.poll(reactions).toBe(undefined);
  await expect.poll(() => log(page).getByTitle("Your organization reacted").count()).toBe(0);
  await page.route(/\/reaction$/, (route) =>
    route.fulfill({ status: 409, json: { code: "refused_by_network", message: "The network refused it" } }),
  );
  await react("👍");
  await page.getByText("The network refused it").waitFor();
  expect(await log(page).getByTitle("Your organization reacted").count()).toBe(0);
  await page.context().close();
});

test("each side sees the other write, and what was in view for a second was read", async () => {
  const chat = await desk.chat("Tia Types");
  await desk.writes(chat.address, "Is anybody there?");
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  const readUpTo = async () => (await desk.api("GET", `/chats/${chat.id}`)).chat.readUpTo;
  await expect.poll(readUpTo).toBe(1);
  await desk.types(chat.address);
  await page.getByText("Tia Types is typing…").waitFor();
  await desk.writes(chat.address, "Hello?");
  await page.getByText("Tia Types is typing…").waitFor({ state: "detached" });
  const told = page.waitForRequest((request) => request.url().endsWith("/typing"));
  await box(page).press("y");
  expect((await (await told).response())?.status()).toBe(200);
  await page.context().close();
});

test("two colleagues and the contact who write at once see each other, by name", async () => {
  const chat = await desk.chat("Tom Third");
  await desk.writes(chat.address, "Who answers?");
  const member = (name: string) =>
    openAsMember(browser, desk, ["chats:read", "messages:read", "messages:send", "events:read"], path, name);
  const path = screenOf(desk, `inbox/${chat.id}`);
  const [mel, kim] = [await member("Mel"), await member("Kim")];
  for (const page of [mel, kim]) await log(page).getByText("Who answers?").waitFor();
  /** Who writes goes on until the other page shows it. */
  const sees = (page: Page, text: string, write: () => Promise<void>) =>
    expect
      .poll(async () => {
        await write();
        return await page.locator(".typing").allTextContents();
      })
      .toEqual([text]);
  await sees(kim, "Mel is typing…", () => box(mel).press("a"));
  await sees(mel, "Kim is typing…", () => box(kim).press("b"));
  await desk.types(chat.address);
  await sees(mel, "Kim, Tom Third are typing…", () => box(kim).press("b"));
  for (const page of [mel, kim]) await page.context().close();
});

test("words are found in the whole conversation, and one leads from message to message", async () => {
  const chat = await desk.chat("Sue Searches");
  await send(chat.id, { content: "The Nädel is here" });
  for (let n = 1; n <= 60; n++) await send(chat.id, { content: `Hay ${n}` });
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  await log(page).getByText("Hay 60").waitFor();
  await page.keyboard.press("f");
  const field = page.getByRole("searchbox", { name: "Find in this conversation" });
  await field.waitFor();
  /** The message that the page leads to, once it is there: then the address names none. */
  const target = () =>
    page.evaluate(() => (location.hash === "" ? document.querySelector("article:target")?.textContent : null));
  // By the keyboard alone: the field keeps the focus, else the keys of the screen would take what is typed.
  await page.keyboard.type("hay 5");
  await page.getByText("1 of 11", { exact: true }).waitFor();
  await expect.poll(target).toContain("Hay 59");
  await page.keyboard.press("Enter");
  await page.getByText("2 of 11", { exact: true }).waitFor();
  await expect.poll(target).toContain("Hay 58");
  await page.keyboard.press("Shift+Enter");
  await expect.poll(target).toContain("Hay 59");
  await field.fill("nobody said");
  await page.getByText("None", { exact: true }).waitFor();
  await field.fill("nadel");
  await page.getByText("1 of 1", { exact: true }).waitFor();
  await expect.poll(target).toContain("The Nädel is here");
  await field.fill("hay 30");
  await expect.poll(target).toContain("Hay 30");
  const topOf = async (found: Locator) => (await found.boundingBox())?.y ?? Number.NaN;
  const room = async () => (await topOf(page.locator("article:target .bubble"))) - (await topOf(log(page)));
  // The outline around it is 4 pixels wide.
  await expect.poll(room).toBeGreaterThan(4);
  await page.keyboard.press("Escape");
  await expect.poll(() => field.count()).toBe(0);
  await page.context().close();
});

test.each([
  [1400, 860],
  [1100, 700],
  [320, 640],
])("only the conversation scrolls, not the page: %i × %i", async (width, height) => {
  const chat = await desk.chat("Lena Long");
  for (let n = 1; n <= 40; n++) await send(chat.id, { content: `Line ${n}` });
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`), { viewport: { width, height } });
  await log(page).getByText("Line 40").waitFor();
  await page.getByRole("button", { name: "Attach files" }).waitFor();
  const excess = ({ scrollWidth, clientWidth, scrollHeight, clientHeight }: Element) => [
    scrollWidth - clientWidth,
    scrollHeight - clientHeight,
  ];
  expect(await page.locator("html").evaluate(excess)).toEqual([0, 0]);
  expect(await page.locator("main").evaluate(excess)).toEqual([0, 0]);
  await page.context().close();
});

const COMPONENTS = [
  { type: "HEADER", format: "TEXT", text: "Order {{number}}" },
  { type: "BODY", text: "Hello {{name}}, it is on its way." },
  { type: "FOOTER", text: "Acme" },
  {
    type: "BUTTONS",
    buttons: [
      { type: "QUICK_REPLY", text: "Thank you" },
      { type: "URL", text: "Track it", url: "https://acme.example/track/{{1}}" },
    ],
  },
];

test.for([
  ["whatsapp", { heading: "Order 4711", text: "Hello Tom, it is on its way.", choices: 2 }],
  ["web", { heading: null, text: /^Order 4711\s+Hello Tom.*Acme\s+Track it: https:.*\/4711$/s, choices: 1 }],
] as const)("a whole template is previewed as %s renders it, and sent with its parts", async ([kind, shown]) => {
  const { template } = await desk.api("POST", "/templates", {
    name: `order_${kind}`,
    language: "en",
    body: "Hello {{name}}, it is on its way.",
  });
  const channel = kind === "web" ? desk.channel : await createChannel(desk.organization, { kind });
  const address = kind === "web" ? "visitor-template" : "4915550000888";
  const { id } = await createChat(channel, { contact: { address, name: "Tom Template" } });
  const page = await openConsole(browser, screenOf(desk, `inbox/${id}`));
  // As one that was synced from the network.
  await page.route(/\/templates\?/, async (route) => {
    const network = { id: "1", status: "APPROVED", category: "UTILITY", quality: null, rejectedReason: null };
    const whole = { ...template, components: COMPONENTS, network, parameterFormat: "NAMED" };
    await route.fulfill({ json: { templates: [whole], pagination: { hasMore: false } } });
  });
  const sent = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/messages"));
  await page.getByRole("button", { name: "Templates", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: `order_${kind}` }).click();
  await dialog.getByLabel("number").fill("4711");
  await dialog.getByLabel("End of the address of “Track it”").fill("4711");
  const preview = dialog.getByRole("region", { name: "Preview" });
  await expect.poll(() => preview.locator(".heading").allTextContents()).toEqual(shown.heading ? [shown.heading] : []);
  await expect.poll(() => preview.locator(".text").textContent()).toMatch(shown.text);
  expect(await preview.locator(".choices > *:not(legend)").count()).toBe(shown.choices);
  await dialog.getByRole("button", { name: "Send" }).click();
  expect((await sent).postDataJSON()).toMatchObject({
    type: "TEMPLATE",
    templateId: template.id,
    variables: { name: "Tom" },
    template: { header: { variables: { number: "4711" } }, buttons: [{ index: 1, urlSuffix: "4711" }] },
  });
  await page.context().close();
});

test("a text goes out with choices, which are shown before", async () => {
  const chat = await desk.chat("Cora Choices");
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  await box(page).fill("When may we call?");
  await page.getByRole("button", { name: "Send later" }).click();
  await page.getByRole("menuitem", { name: "Send with choices…" }).click();
  const dialog = page.getByRole("dialog", { name: "Send with choices" });
  await dialog.getByLabel("Choices").fill(`Today\n\n ${"x".repeat(25)} `);
  const preview = dialog.getByRole("region", { name: "Preview" });
  await expect.poll(() => preview.locator(".option").count()).toBe(2);
  await dialog.getByRole("button", { name: "Send" }).click();
  await dialog.getByText(/^Choices: must have at most 24 characters/).waitFor();
  await dialog.getByLabel("Choices").fill("Today\nTomorrow");
  await dialog.getByRole("button", { name: "Send" }).click();
  await expect.poll(() => log(page).locator(".option").allTextContents()).toEqual(["Today", "Tomorrow"]);
  expect(await box(page).inputValue()).toBe("");
  await page.context().close();
});

test("choices are shown before as WhatsApp shows them, and a text that is changed there leaves the box", async () => {
  const { id } = await whatsAppDesk("4915550000077", "Wes Whats");
  const page = await openConsole(browser, screenOf(desk, `inbox/${id}`));
  await box(page).fill("Our shops");
  await page.getByRole("button", { name: "Send later" }).click();
  await page.getByRole("menuitem", { name: "Send with choices…" }).click();
  const dialog = page.getByRole("dialog", { name: "Send with choices" });
  await dialog.getByLabel("Text").fill("Two of our shops");
  expect(await box(page).inputValue()).toBe("Two of our shops");
  await dialog.getByLabel("Choices").fill("One\nTwo\nThree\nFour");
  await dialog.getByText("WhatsApp shows these as a list, which one button opens.").waitFor();
  await dialog.getByLabel("Choices").fill("Paris https://paris.example/a\nRome https://rome.example/");
  await dialog.getByText("WhatsApp shows these as lines of the text.").waitFor();
  const preview = dialog.getByRole("region", { name: "Preview" });
  const lines = "Two of our shops\nParis: https://paris.example/a\nRome: https://rome.example/";
  await expect.poll(() => preview.locator(".text").textContent()).toBe(lines);
  await dialog.getByRole("button", { name: "Send" }).click();
  await log(page).getByText("Two of our shops").waitFor();
  expect(await box(page).inputValue()).toBe("");
  await page.context().close();
});

test("choices that others overtook go out whole, if the person wants so", async () => {
  const chat = await desk.chat("Ovo Overtaken");
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  await page.context().route(/\/events/, (route) => route.abort());
  await page.reload();
  await box(page).fill("When may we call?");
  await page.getByRole("button", { name: "Send later" }).click();
  await page.getByRole("menuitem", { name: "Send with choices…" }).click();
  const dialog = page.getByRole("dialog", { name: "Send with choices" });
  await dialog.getByLabel("Choices").fill("Today\nTomorrow");
  const overtake = async (route: Route) => {
    await send(chat.id, { content: "Somebody else" });
    await route.continue();
  };
  await page.route(/\/messages$/, overtake, { times: 1 });
  await dialog.getByRole("button", { name: "Send" }).click();
  await page.getByText("Ann answered meanwhile.").waitFor();
  await page.getByRole("button", { name: "Send anyway" }).click();
  await expect.poll(() => log(page).locator(".option").allTextContents()).toEqual(["Today", "Tomorrow"]);
  await page.context().close();
});

test("files and an answer are sent later too, and a file that is added meanwhile waits", async () => {
  const chat = await desk.chat("Lara Later");
  await desk.writes(chat.address, "Send it on Monday");
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  await log(page).getByText("Send it on Monday").hover();
  await log(page).getByRole("button", { name: "React or reply" }).click();
  await log(page).getByRole("button", { name: "Reply", exact: true }).click();
  await choose(page, dot, words);
  const addAnother = async (route: Route) => {
    await choose(page, { ...words, name: "late.txt" });
    await staged(page).getByText("late.txt").waitFor();
    await route.continue();
  };
  await page.route(/\/media\?/, addAnother, { times: 1 });
  await page.getByRole("button", { name: "Send later" }).click();
  await page.getByRole("menuitem", { name: "Send later…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Schedule" }).click();
  const { messages } = await desk.api("GET", `/chats/${chat.id}/messages`);
  await expect
    .poll(async () => (await desk.api("GET", `/chats/${chat.id}/scheduled`)).messages)
    .toMatchObject([
      { text: "dot.png", replyTo: messages[0].id, media: { fileName: "dot.png" } },
      { text: "words.txt", media: { fileName: "words.txt" } },
    ]);
  await expect.poll(() => staged(page).locator("bdi").allTextContents()).toEqual(["late.txt"]);
  await page.context().close();
});

/** What a contact on WhatsApp does, as the network tells it. */
async function whatsAppDesk(address: string, name: string) {
  const channel = await createChannel(desk.organization, { kind: "whatsapp" });
  const { phoneNumberId, appSecret } = CREDENTIALS.whatsapp;
  const { id } = await createChat(channel, { contact: { address, name } });
  const hears = async (base: string, fields: object) => {
    const from = { from: address, timestamp: String(Math.floor(Date.now() / 1_000)), ...fields };
    const value = { messaging_product: "whatsapp", metadata: { phone_number_id: phoneNumberId }, messages: [from] };
    const body = JSON.stringify({
      object: "whatsapp_business_account",
      entry: [{ id: "1", changes: [{ field: "messages", value }] }],
    });
    const signature = `sha256=${createHmac("sha256", appSecret).update(body).digest("hex")}`;
    const headers = { "X-Hub-Signature-256": signature };
    const url = new URL(new URL(channel.webhook.url).pathname, base);
    const answer = await fetch(url, { method: "POST", headers, body });
    expect(answer.status).toBe(200);
  };
  return { id, hears };
}

const textOf = (id: string, body: string) => ({ id, type: "text", text: { body } });
const editOf = (id: string, original: string, body: string) => ({
  id,
  type: "edit",
  edit: { original_message_id: original, message: { type: "text", text: { body } } },
});

test("what a contact edits and deletes changes in an open conversation", async () => {
  const { id, hears } = await whatsAppDesk("4915550000777", "Eda Edits");
  const page = await openConsole(browser, screenOf(desk, `inbox/${id}`));
  await box(page).waitFor();
  await hears(page.url(), textOf("wamid.first", "At ten"));
  await log(page).getByText("At ten").waitFor();
  await hears(page.url(), editOf("wamid.edit", "wamid.first", "At eleven"));
  await log(page).getByText("At eleven").waitFor();
  await log(page).getByText("Edited").waitFor();
  expect(await log(page).getByText("At ten").count()).toBe(0);
  const revoke = { original_message_id: "wamid.first" };
  await hears(page.url(), { id: "wamid.revoke", type: "revoke", revoke });
  await log(page).getByText("Deleted by the contact.").waitFor();
  expect(await log(page).getByText("At eleven").count()).toBe(0);
  await page.context().close();
});

test("a page that was offline through an edit, a reaction and a redaction shows all three when it is back", async () => {
  const { id, hears } = await whatsAppDesk("4915550000778", "Olga Offline");
  const page = await openConsole(browser, screenOf(desk, `inbox/${id}`));
  await box(page).waitFor();
  const base = page.url();
  for (const [name, text] of Object.entries({ one: "At ten", two: "See you", three: "A secret" })) {
    await hears(base, textOf(`wamid.${name}`, text));
    await log(page).getByText(text).waitFor();
  }
  const { messages } = await desk.api("GET", `/chats/${id}/messages`);
  await page.context().setOffline(true);
  await page.getByText(/No connection/).waitFor();
  await hears(base, editOf("wamid.edit", "wamid.one", "At eleven"));
  await hears(base, { id: "wamid.r", type: "reaction", reaction: { message_id: "wamid.two", emoji: "👍" } });
  await desk.operator("POST", `/chats/${id}/messages/${messages[0].id}/redact`);
  await page.context().setOffline(false);
  await log(page).getByText("At eleven").waitFor();
  await log(page).getByTitle("The contact reacted").getByText("👍").waitFor();
  await log(page).getByText("This message was deleted.").waitFor();
  expect(
    await log(page)
      .getByText(/At ten|A secret/)
      .count(),
  ).toBe(0);
  await page.context().close();
});

test("a page without a stream keeps older messages up to date too", async () => {
  const chat = await desk.chat("Ola Older");
  const { message } = await send(chat.id, { content: "An old secret" });
  for (let n = 1; n <= 60; n++) await send(chat.id, { content: `Line ${n}` });
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  await page.context().route(/\/events/, (route) => route.abort());
  await page.reload();
  await log(page).getByText("Line 60").waitFor();
  await page.getByRole("button", { name: "Show older messages" }).click();
  await log(page).getByText("An old secret").waitFor();
  await desk.operator("POST", `/chats/${chat.id}/messages/${message.id}/redact`);
  await expect.poll(() => log(page).getByText("An old secret").count(), { timeout: 60_000 }).toBe(0);
  await page.context().close();
}, 90_000);

test("a waiting message can be canceled only while it is certain that nothing was sent", async () => {
  const channel = await createChannel(desk.organization, { kind: "whatsapp" });
  const { id } = await createChat(channel, { contact: { address: "4915550000001", name: "Cal Cancel" } });
  await send(id, { content: "Waits" });
  const page = await openConsole(browser, screenOf(desk, `inbox/${id}`));
  const attempt = { number: 1, startedAt: new Date().toISOString(), durationMs: 85, code: null, message: "No answer" };
  for (const [outcome, isOffered] of [
    ["retry", true],
    ["unknown", false],
  ] as const) {
    await page.route(/\/attempts$/, (route) =>
      route.fulfill({ json: { attempts: [{ ...attempt, outcome }], dropped: 0, nextAttemptAt: null } }),
    );
    await page.reload();
    await log(page).getByText("Waiting").click();
    await page.getByText("No answer", { exact: true }).waitFor();
    expect(await page.getByRole("button", { name: "Cancel it" }).count()).toBe(Number(isOffered));
  }
  await page.context().close();
});

test("new messages below what one reads are counted on a button that leads there", async () => {
  const chat = await desk.chat("Bea Below");
  for (let n = 1; n <= 30; n++) await send(chat.id, { content: `Line ${n}` });
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  await log(page).getByText("Line 30").waitFor();
  await log(page).hover();
  await page.mouse.wheel(0, -600);
  await send(chat.id, { content: "Line 31" });
  await page.getByRole("button", { name: "1 new message" }).waitFor();
  await send(chat.id, { content: "Line 32" });
  const button = page.getByRole("button", { name: "2 new messages" });
  await button.click();
  await button.waitFor({ state: "detached" });
  await expect
    .poll(() => log(page).evaluate((one) => one.scrollHeight - one.scrollTop - one.clientHeight))
    .toBeLessThan(80);
  await page.context().close();
});

test("a send in a web chat goes out at once, unless the person wants time to undo", async () => {
  const chat = await desk.chat("Una Undo");
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  await box(page).fill("At once");
  await page.keyboard.press("Control+Enter");
  await log(page).getByText("At once").waitFor();
  const { messages } = await desk.api("GET", `/chats/${chat.id}/messages`);
  expect(messages[0].scheduledAt).toBeUndefined();
  await page.getByRole("button", { name: "Send later" }).click();
  await page.getByRole("menuitem", { name: "Time to undo…" }).click();
  await page.getByLabel("In web chats").selectOption("10 seconds");
  await page.reload();
  await log(page).getByText("At once").waitFor();
  await box(page).fill("With time");
  await page.keyboard.press("Control+Enter");
  await log(page).getByText("Sending…").waitFor();
  const [waiting] = (await desk.api("GET", `/chats/${chat.id}/scheduled`)).messages;
  expect(Date.parse(waiting.scheduledAt) - Date.parse(waiting.createdAt)).toBeGreaterThan(6_000);
  await page.getByRole("button", { name: "Undo (Esc)" }).click();
  await expect.poll(() => box(page).inputValue()).toBe("With time");
  await page.context().close();
});

test("who may not read messages is told so, and can still send", async () => {
  const chat = await desk.chat("Rex Unread");
  await desk.writes(chat.address, "A secret");
  const permissions = ["chats:read", "messages:send"];
  const page = await openAsMember(browser, desk, permissions, screenOf(desk, "inbox"));
  await page
    .getByRole("link", { name: /Rex Unread/ })
    .getByText("You can’t read messages")
    .waitFor();
  await page.getByRole("link", { name: /Rex Unread/ }).click();
  await log(page).getByText("messages:read").waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
  await box(page).fill("Hello");
  await page.keyboard.press("Control+Enter");
  await expect.poll(() => box(page).inputValue()).toBe("");
  await page.context().close();
});
