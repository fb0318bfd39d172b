import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Frame, Page } from "playwright-core";
import { beforeEach, expect, test } from "vitest";
import { type Desk, openAsMember, openConsole, openDesk, screenOf } from "./console.ts";
import { browser } from "./file-browser.ts";
import { base } from "./running-server.ts";
import { violations } from "./violations.ts";
import { eventually } from "./visitor.ts";

let desk: Desk;

beforeEach(async () => {
  desk = await openDesk();
});

const settingsScreen = (options = {}) =>
  openConsole(browser, screenOf(desk, `channels/${desk.channel.id}/chat`), options);
const field = (page: Page, name: string) => page.getByLabel(name, { exact: true });
const preview = (page: Page) => page.frameLocator('iframe[title="The chat"]');
const save = (page: Page) => page.getByRole("button", { name: "Save", exact: true }).click();
const stored = async () => (await desk.api("GET", `/channels/${desk.channel.id}`)).channel.settings;
const DEFAULTS = { allowedOrigins: [], uploads: "everyone", hideWhenClosed: false, askContact: "never" };

test("what a person changes is in the preview at once, is saved, and goes back to the default", async () => {
  const page = await settingsScreen();
  await preview(page).getByRole("heading", { name: "Site" }).waitFor();
  await field(page, "Title").fill("Acme Outdoor");
  await preview(page).getByRole("heading", { name: "Acme Outdoor" }).waitFor();
  await field(page, "Greeting").fill("Hello!\nWhat are you looking for?");
  await field(page, "Starter 1").fill("Prices");
  await field(page, "Starter 2").fill("My order");
  await preview(page).getByRole("button", { name: "My order" }).waitFor();
  await preview(page).getByText("What are you looking for?").waitFor();
  await field(page, "emptyTitle").fill("Welcome");
  await preview(page).getByText("Welcome").waitFor();
  await field(page, "Ask for a name and an email address").selectOption("afterFirst");
  await field(page, "Take files").selectOption("off");
  await eventually(() => preview(page).getByRole("button", { name: "Attach files" }).count(), 0);
  await field(page, "Sites").fill("https://shop.example\n\nhttps://www.shop.example");
  expect(await stored()).toEqual(DEFAULTS);
  await save(page);
  await page.getByText("Saved", { exact: true }).waitFor();
  const saved = {
    ...{ title: "Acme Outdoor", greeting: "Hello!\nWhat are you looking for?", starters: ["Prices", "My order"] },
    ...{ texts: { en: { emptyTitle: "Welcome" } }, askContact: "afterFirst", uploads: "off", hideWhenClosed: false },
    allowedOrigins: ["https://shop.example", "https://www.shop.example"],
  };
  expect(await stored()).toEqual(saved);
  await expect.poll(() => page.getByRole("button", { name: "Save", exact: true }).isDisabled()).toBe(true);
  for (const name of ["Title", "Greeting", "Starter 2", "Starter 1", "emptyTitle", "Sites"]) {
    await field(page, name).fill("");
  }
  await preview(page).getByText("How can we help?").waitFor();
  await field(page, "Ask for a name and an email address").selectOption("never");
  await field(page, "Take files").selectOption("everyone");
  await save(page);
  await eventually(stored, DEFAULTS);
  await page.context().close();
});

test("a change of one setting overwrites no other, which somebody else changed meanwhile", async () => {
  const page = await settingsScreen();
  await field(page, "Title").fill("Ours");
  await desk.api("PATCH", `/channels/${desk.channel.id}`, { settings: { greeting: "Theirs" } });
  await save(page);
  await page.getByText("Saved", { exact: true }).waitFor();
  expect(await stored()).toEqual({ ...DEFAULTS, title: "Ours", greeting: "Theirs" });
  await expect.poll(() => field(page, "Greeting").inputValue()).toBe("Theirs");
  await page.context().close();
});

test("changes that are not saved outlive another screen and a reload, and are discarded on request", async () => {
  const page = await settingsScreen();
  await field(page, "Title").fill("Half done");
  await field(page, "You answer").selectOption("hours");
  await page.getByRole("link", { name: "Site", exact: true }).click();
  await page.getByRole("link", { name: "Chat settings" }).click();
  await expect.poll(() => field(page, "Title").inputValue()).toBe("Half done");
  const asked = page.waitForEvent("dialog");
  const reloaded = page.reload();
  const dialog = await asked;
  expect(dialog.type()).toBe("beforeunload");
  await dialog.accept();
  await reloaded;
  await preview(page).getByRole("heading", { name: "Half done" }).waitFor();
  await expect.poll(() => field(page, "monday opens").inputValue()).toBe("09:00");
  await page.getByRole("button", { name: "Discard 2 changes" }).click();
  await preview(page).getByRole("heading", { name: "Site" }).waitFor();
  expect([await field(page, "Title").inputValue(), await field(page, "monday opens").count()]).toEqual(["", 0]);
  await page.reload();
  await preview(page).getByRole("heading", { name: "Site" }).waitFor();
  expect(await stored()).toEqual(DEFAULTS);
  await page.context().close();
});

test("the preview shows both color schemes, and says what becomes of a color", async () => {
  const page = await settingsScreen();
  await field(page, "Accent color").fill("#FFE000");
  const send = preview(page).getByRole("button", { name: "Send" });
  const color = () => send.evaluate((button) => getComputedStyle(button).backgroundColor);
  await eventually(color, "rgb(166, 148, 9)");
  await page.getByText("#a69409 is used in light colors, because yours is hard to read there (1.3 : 1).").waitFor();
  await page.getByText("Used as it is in dark colors, with a contrast of 12.6 : 1.").waitFor();
  await page.getByRole("button", { name: "Dark" }).click();
  await eventually(color, "rgb(255, 224, 0)");
  await field(page, "Accent color").fill("");
  await eventually(color, "rgb(18, 117, 102)");
  await field(page, "Pick the accent color").fill("#aa0000");
  await expect.poll(() => field(page, "Accent color").inputValue()).toBe("#aa0000");
  await page.context().close();
});

test("the preview shows the chat when open and when closed", async () => {
  const page = await settingsScreen();
  await field(page, "You answer").selectOption("hours");
  await field(page, "Time zone").fill("Asia/Tokyo");
  await page.getByRole("button", { name: "When closed" }).click();
  await preview(page)
    .getByText(/We’re away until/)
    .waitFor();
  await page.getByLabel("Hide the button").check();
  await page.getByText("Your site hides the button at this time.").waitFor();
  await page.getByRole("button", { name: "When open" }).click();
  await eventually(
    () =>
      preview(page)
        .getByText(/We’re away/)
        .count(),
    0,
  );
  await page.getByText("Nothing that you write here is sent.").waitFor();
  await save(page);
  await page.getByText("Saved", { exact: true }).waitFor();
  expect(await stored()).toMatchObject({
    hours: { timeZone: "Asia/Tokyo", week: { friday: [{ opens: "09:00", closes: "17:00" }] } },
  });
  await page.context().close();
});

test("the preview shows each language with the texts for it", async () => {
  const page = await settingsScreen();
  await field(page, "Language of the visitor").selectOption({ label: "German" });
  await preview(page).getByText("Wie können wir helfen?").waitFor();
  await field(page, "emptyTitle").fill("Moin!");
  await preview(page).getByText("Moin!").waitFor();
  await field(page, "Language of the visitor").selectOption({ label: "Arabic" });
  await preview(page).locator("html[dir=rtl]").waitFor();
  await field(page, "Language").fill("sv");
  await field(page, "Language").press("Tab");
  await page.getByText("Swedish. Other languages are possible too").waitFor();
  await field(page, "emptyTitle").fill("Hej!");
  await preview(page).getByText("Hej!").waitFor();
  await save(page);
  await page.getByText("Saved", { exact: true }).waitFor();
  expect(await stored()).toMatchObject({ texts: { de: { emptyTitle: "Moin!" }, sv: { emptyTitle: "Hej!" } } });
  await page.context().close();
});

test("what is typed into the language stays when the preview says anew what it drew", async () => {
  const page = await settingsScreen();
  await preview(page).getByRole("heading", { name: "Site" }).waitFor();
  await page.evaluate(() => addEventListener("message", (drawn) => Object.assign(window, { drawn })));
  await page.getByRole("button", { name: "Dark" }).click();
  await page.waitForFunction(() => "drawn" in window);
  await field(page, "Language").fill("sv");
  await page.evaluate(() => {
    const { data, source, origin } = (window as unknown as { drawn: MessageEvent }).drawn;
    dispatchEvent(new MessageEvent("message", { data: { ...data }, source, origin }));
    return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  });
  expect(await field(page, "Language").evaluate((input: HTMLInputElement) => input.value)).toBe("sv");
  await field(page, "Language").press("Tab");
  await page.getByText("Swedish. Other languages are possible too").waitFor();
  await page.context().close();
});

test("the preview stores nothing and calls nobody: what is written in it stays there, until it starts over", async () => {
  const page = await settingsScreen();
  const sockets: string[] = [];
  const calls: string[] = [];
  page.on("websocket", (socket) => sockets.push(socket.url()));
  page.on("request", (request) => calls.push(`${request.method()} ${new URL(request.url()).pathname}`));
  await field(page, "Ask for a name and an email address").selectOption("afterFirst");
  const box = preview(page).getByRole("textbox", { name: "Message" });
  await box.fill("Is this a test?");
  await box.press("Enter");
  await preview(page).getByRole("log").getByText("Is this a test?").waitFor();
  await preview(page).getByText("Sent", { exact: true }).waitFor();
  await preview(page).getByLabel("Email").fill("ann@acme.example");
  await preview(page).locator(".ask").getByRole("button", { name: "Send" }).click();
  await preview(page).getByText("Thank you.").waitFor();
  await preview(page)
    .locator("input[type=file]")
    .setInputFiles({ name: "plan.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.7 ") });
  await preview(page).getByRole("button", { name: "Send", exact: true }).click();
  await preview(page).getByRole("log").getByText("plan.pdf").waitFor();
  expect(sockets).toEqual([]);
  expect(calls.filter((call) => !/^GET \/(web-assets|console)\//.test(call))).toEqual([]);
  expect((await desk.api("GET", "/chats")).chats).toEqual([]);
  expect(await page.evaluate(() => [...Object.keys(localStorage), ...Object.keys(sessionStorage)].toSorted())).toEqual([
    "parley.person",
    `parley.settings.${desk.channel.id}`,
    "parley.signed-in",
  ]);
  await page.getByRole("button", { name: "Start over" }).click();
  await preview(page).getByText("How can we help?").waitFor();
  await expect.poll(() => preview(page).getByText("Is this a test?").count()).toBe(0);
  await page.context().close();
});

test("bad settings are refused at their fields, and nothing is lost", async () => {
  const page = await settingsScreen();
  const faults: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  const entered = {
    Title: "x".repeat(81),
    "Accent color": "red",
    Logo: "http://acme.example/logo.png",
    Greeting: "x".repeat(1_001),
    "Starter 1": "x".repeat(81),
    emptyTitle: "x".repeat(501),
    Sites: "shop.example",
  };
  for (const [name, text] of Object.entries(entered)) await field(page, name).fill(text);
  await save(page);
  for (const said of [
    "Must have at most 80 characters.",
    "Must be a color, such as #0d6b5e.",
    "Must be an https URL.",
    "Must have at most 1000 characters.",
    "Must have at most 500 characters.",
    "Must be an origin, such as https://example.com.",
  ]) {
    await page.getByText(said, { exact: true }).first().waitFor();
  }
  await page.getByText("Correct the marked fields.").waitFor();
  await expect.poll(() => page.locator(".refusal p").count()).toBe(1);
  for (const [name, text] of Object.entries(entered))
    await expect.poll(() => field(page, name).inputValue()).toBe(text);
  expect(await stored()).toEqual(DEFAULTS);
  // The first of the faults has the focus.
  expect(await page.evaluate(() => document.activeElement?.closest(".field")?.textContent)).toMatch(/^Title/);
  expect(faults).toEqual([]);
  await page.context().close();
});

test("bad hours are refused at their fields, and are saved once they are corrected", async () => {
  const page = await settingsScreen();
  const faults: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  await field(page, "You answer").selectOption("hours");
  await field(page, "Time zone").fill("Mars/Olympus");
  await field(page, "monday opens").fill("18:00");
  await field(page, "tuesday closes").fill("25:00");
  await page.getByRole("button", { name: "Add hours on wednesday" }).click();
  await field(page, "wednesday opens").nth(1).fill("16:00");
  await field(page, "wednesday closes").nth(1).fill("18:00");
  await save(page);
  for (const said of [
    "Must be a time zone, such as Europe/Berlin.",
    "Must be after opens. Hours past midnight are two periods: until 24:00, and from 00:00 of the next day.",
    "Must be a time of the day, such as 17:30, or 24:00.",
    "Must be in order, and must not overlap.",
  ]) {
    await page.getByText(said, { exact: true }).first().waitFor();
  }
  await expect.poll(() => field(page, "monday closes").getAttribute("aria-invalid")).toBe("true");
  expect(await stored()).toEqual(DEFAULTS);

  await field(page, "Time zone").fill("Europe/Berlin");
  await field(page, "monday closes").fill("24:00");
  await field(page, "tuesday closes").fill("9:30");
  await field(page, "wednesday opens").nth(1).fill("17:30");
  await save(page);
  await page.getByText("Saved", { exact: true }).waitFor();
  expect((await stored()).hours.week).toMatchObject({
    monday: [{ opens: "18:00", closes: "24:00" }],
    tuesday: [{ opens: "09:00", closes: "09:30" }],
    wednesday: [
      { opens: "09:00", closes: "17:00" },
      { opens: "17:30", closes: "18:00" },
    ],
  });
  expect(faults).toEqual([]);
  await page.context().close();
});

test("markup and bidi controls are shown as text, and no logo runs or leaves its place", async () => {
  const page = await settingsScreen();
  const faults: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  const markup = "<img src=x onerror=alert(1)>\u202e\u2066dlrow";
  for (const name of ["Title", "Greeting", "Starter 1"]) await field(page, name).fill(markup);
  await preview(page).getByRole("heading", { name: "<img src=x" }).waitFor();
  await preview(page).locator(".greeting", { hasText: "<img src=x" }).waitFor();
  await preview(page).getByRole("button", { name: "<img src=x" }).waitFor();
  for (const address of ["javascript:alert(1)", "data:image/svg+xml,<svg onload=alert(1)>", "http://x.example/a.png"]) {
    await field(page, "Logo").fill(address);
    await field(page, "Logo").press("Tab");
    await field(page, "Title").fill(`${markup} ${address.length}`);
    await preview(page)
      .getByRole("heading", { name: String(address.length) })
      .waitFor();
    await expect.poll(() => preview(page).locator("img").count()).toBe(0);
    await save(page);
    await page.getByText("Must be an https URL.").waitFor();
  }
  await page.route("https://logo.example/**", (route) =>
    route.request().url().endsWith("gone.png")
      ? route.abort()
      : route.fulfill({ contentType: "image/svg+xml", body: WIDE_LOGO }),
  );
  await field(page, "Logo").fill("https://logo.example/gone.png");
  await field(page, "Logo").press("Tab");
  await page.getByText("It can’t be loaded. Visitors see the first letter of the title in its place.").waitFor();
  await field(page, "Logo").fill("https://logo.example/wide.svg");
  await field(page, "Logo").press("Tab");
  await page.getByText("It loads in the preview. It is not square, so visitors see its middle.").waitFor();
  // The pictures of other hosts are the preview's alone.
  await expect.poll(() => page.locator("img").count()).toBe(0);
  await field(page, "Title").fill(markup);
  await save(page);
  await page.getByText("Saved", { exact: true }).waitFor();
  const visitor = await browser.newPage();
  visitor.on("dialog", () => faults.push("dialog of a visitor"));
  await visitor.goto(`${base}/web/${desk.channel.id}`);
  await visitor.getByRole("heading", { name: "<img src=x" }).waitFor();
  expect(faults).toEqual([]);
  await visitor.close();
  await page.context().close();
});

const WIDE_LOGO = `<svg xmlns="http://www.w3.org/2000/svg" width="80" height="40"><script>alert(1)</script></svg>`;

/** Waits until the preview's script runs in a frame. */
async function started(frame: Frame | undefined): Promise<Frame> {
  if (!frame) throw new Error("There is no frame");
  const script = await frame.waitForFunction(
    () => performance.getEntriesByType("resource").find(({ name }) => name.includes("preview-"))?.name,
  );
  // As a text, because the test runner has its own import.
  await frame.evaluate(`import(${JSON.stringify(await script.jsonValue())}).then(() => undefined)`);
  return frame;
}

/** Resolves once a frame got a message, and did what it does with it. */
function heardIn(frame: Frame): Promise<void> {
  return frame.evaluate(() => new Promise((done) => addEventListener("message", () => setTimeout(done))));
}

const drawnIn = (frame: Frame) => frame.locator("#chat").innerHTML();

test("no other site can frame the preview, and none can tell it what to draw", async () => {
  const lie = { parley: "preview", name: "Your bank", settings: {}, scheme: "light", locale: "en", when: "now" };
  const site = createServer((_request, response) => {
    response.writeHead(200, { "Content-Type": "text/html" });
    response.end(`<!doctype html><title>Other</title><iframe src="${base}/console/preview"></iframe><script>
      window.heard = 0;
      addEventListener("message", () => window.heard++);
      window.tell = (target) => target.postMessage(${JSON.stringify(lie)}, "*");
    </script>`);
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  const address = `http://localhost:${(site.address() as AddressInfo).port}/`;
  try {
    const strict = await browser.newPage();
    await strict.goto(address);
    expect(strict.frames()[1]?.url()).toMatch(/^chrome-error:/);
    await strict.close();

    // A browser that knows no such policy.
    const lax = await (await browser.newContext()).newPage();
    await lax.context().route(`${base}/console/preview`, async (route) => {
      const response = await route.fetch();
      const { "x-frame-options": _, "content-security-policy": __, ...headers } = response.headers();
      await route.fulfill({ response, headers });
    });
    await lax.goto(address);
    const frame = await started(lax.frames()[1]);
    const heard = heardIn(frame);
    await lax.evaluate("tell(frames[0])");
    await heard;
    expect(await drawnIn(frame)).toBe("");
    expect(await lax.evaluate("heard")).toBe(0);

    // A window that it opens, which no page is around.
    const opening = lax.waitForEvent("popup");
    await lax.evaluate((url) => void window.open(url), `${base}/console/preview`);
    const opened = await started((await opening).mainFrame());
    const heardThere = heardIn(opened);
    await opened.evaluate((message) => postMessage(message, "*"), lie);
    await heardThere;
    expect(await drawnIn(opened)).toBe("");
    await lax.context().close();
  } finally {
    site.closeAllConnections();
    site.close();
  }
});

test("only who may change channels changes the chat's settings", async () => {
  const path = `channels/${desk.channel.id}`;
  const page = await openAsMember(browser, desk, ["channels:read"], screenOf(desk, path));
  await page.getByRole("heading", { name: "Site", exact: true }).waitFor();
  await expect.poll(() => page.getByRole("link", { name: "Chat settings" }).count()).toBe(0);
  await page.goto(`${base}${screenOf(desk, `${path}/chat`)}`);
  await page.getByText("channels:write").waitFor();
  await page.context().close();
  const { channel } = await desk.api("POST", "/channels", {
    ...{ kind: "telegram", name: "Bot", credentials: { botToken: "123456:a-token-that-works-here" } },
  });
  const bot = await openConsole(browser, screenOf(desk, `channels/${channel.id}`));
  await bot.getByRole("heading", { name: "Bot", exact: true }).waitFor();
  await expect.poll(() => bot.getByRole("link", { name: "Chat settings" }).count()).toBe(0);
  await bot.goto(`${base}${screenOf(desk, `channels/${channel.id}/chat`)}`);
  await bot.getByText("There is no screen at this address").waitFor();
  await bot.context().close();
});

test("the keyboard alone changes the hours and saves", async () => {
  const page = await settingsScreen();
  await preview(page).getByRole("heading", { name: "Site" }).waitFor();
  await field(page, "You answer").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("monday opens");
  await page.keyboard.type("08:30");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect.poll(() => field(page, "monday opens").count()).toBe(2);
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  await field(page, "monday opens").press("Enter");
  await page.getByText("Saved", { exact: true }).waitFor();
  expect((await stored()).hours.week.monday).toEqual([{ opens: "08:30", closes: "17:00" }]);
  await page.context().close();
});

test.for((["light", "dark"] as const).flatMap((colorScheme) => [320, 1280].map((width) => ({ colorScheme, width }))))(
  "the chat's settings have no accessibility violations: $colorScheme, $width px",
  async ({ colorScheme, width }) => {
    const page = await settingsScreen({ colorScheme, viewport: { width, height: 700 }, reducedMotion: "reduce" });
    await field(page, "Accent color").fill("#ffe000");
    await field(page, "Title").fill(" ");
    await field(page, "You answer").selectOption("hours");
    await field(page, "monday closes").fill("08:00");
    await preview(page).getByRole("heading", { level: 1 }).waitFor();
    await save(page);
    await page.getByText("Must not be blank.").waitFor();
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  },
);
