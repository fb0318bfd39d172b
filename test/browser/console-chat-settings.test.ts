import { beforeEach, expect, test } from "vitest";
import { type Desk, openAsMember, openConsole, openDesk, screenOf } from "./console.ts";
import { field, preview, save, settingsScreen, stored } from "./console-chat-fixtures.ts";
import { browser } from "./file-browser.ts";
import { base } from "./running-server.ts";
import { violations } from "./violations.ts";
import { eventually } from "./visitor.ts";

let desk: Desk;

beforeEach(async () => {
  desk = await openDesk();
});

const DEFAULTS = { allowedOrigins: [], uploads: "everyone", hideWhenClosed: false, askContact: "never" };

test("what a person changes is in the preview at once, is saved, and goes back to the default", async () => {
  const page = await settingsScreen(desk);
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
  expect(await stored(desk)).toEqual(DEFAULTS);
  await save(page);
  await page.getByText("Saved", { exact: true }).waitFor();
  const saved = {
    ...{ title: "Acme Outdoor", greeting: "Hello!\nWhat are you looking for?", starters: ["Prices", "My order"] },
    ...{ texts: { en: { emptyTitle: "Welcome" } }, askContact: "afterFirst", uploads: "off", hideWhenClosed: false },
    allowedOrigins: ["https://shop.example", "https://www.shop.example"],
  };
  expect(await stored(desk)).toEqual(saved);
  await expect.poll(() => page.getByRole("button", { name: "Save", exact: true }).isDisabled()).toBe(true);
  for (const name of ["Title", "Greeting", "Starter 2", "Starter 1", "emptyTitle", "Sites"]) {
    await field(page, name).fill("");
  }
  await preview(page).getByText("How can we help?").waitFor();
  await field(page, "Ask for a name and an email address").selectOption("never");
  await field(page, "Take files").selectOption("everyone");
  await save(page);
  await eventually(() => stored(desk), DEFAULTS);
  await page.context().close();
});

test("a change of one setting overwrites no other, which somebody else changed meanwhile", async () => {
  const page = await settingsScreen(desk);
  await field(page, "Title").fill("Ours");
  await desk.api("PATCH", `/channels/${desk.channel.id}`, { settings: { greeting: "Theirs" } });
  await save(page);
  await page.getByText("Saved", { exact: true }).waitFor();
  expect(await stored(desk)).toEqual({ ...DEFAULTS, title: "Ours", greeting: "Theirs" });
  await expect.poll(() => field(page, "Greeting").inputValue()).toBe("Theirs");
  await page.context().close();
});

test("changes that are not saved outlive another screen and a reload, and are discarded on request", async () => {
  const page = await settingsScreen(desk);
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
  expect(await stored(desk)).toEqual(DEFAULTS);
  await page.context().close();
});

test("bad settings are refused at their fields, and nothing is lost", async () => {
  const page = await settingsScreen(desk);
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
  expect(await stored(desk)).toEqual(DEFAULTS);
  // The first of the faults has the focus.
  const focused = () => page.evaluate(() => document.activeElement?.closest(".field")?.textContent);
  await expect.poll(focused).toMatch(/^Title/);
  expect(faults).toEqual([]);
  await page.context().close();
});

test("bad hours are refused at their fields, and are saved once they are corrected", async () => {
  const page = await settingsScreen(desk);
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
  expect(await stored(desk)).toEqual(DEFAULTS);

  await field(page, "Time zone").fill("Europe/Berlin");
  await field(page, "monday closes").fill("24:00");
  await field(page, "tuesday closes").fill("9:30");
  await field(page, "wednesday opens").nth(1).fill("17:30");
  await save(page);
  await page.getByText("Saved", { exact: true }).waitFor();
  expect((await stored(desk)).hours.week).toMatchObject({
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

test("an away message is saved with the hours, and taken back", async () => {
  const page = await settingsScreen(desk);
  await field(page, "You answer").waitFor();
  await expect.poll(() => field(page, "Away message").count()).toBe(0);
  await field(page, "You answer").selectOption("hours");
  await field(page, "Away message").fill("Back at 9");
  await save(page);
  await page.getByText("Saved", { exact: true }).waitFor();
  expect((await stored(desk)).away).toEqual({ text: "Back at 9" });
  await field(page, "Away message").fill("");
  await save(page);
  await eventually(async () => (await stored(desk)).away, undefined);
  await page.context().close();
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
  await bot.getByRole("heading", { name: "Bot", exact: true, level: 1 }).waitFor();
  await expect.poll(() => bot.getByRole("link", { name: "Chat settings" }).count()).toBe(0);
  await bot.goto(`${base}${screenOf(desk, `channels/${channel.id}/chat`)}`);
  await bot.getByText("There is no screen at this address").waitFor();
  await bot.context().close();
});

test("the keyboard alone changes the hours and saves", async () => {
  const page = await settingsScreen(desk);
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
  expect((await stored(desk)).hours.week.monday).toEqual([{ opens: "08:30", closes: "17:00" }]);
  await page.context().close();
});

test.for((["light", "dark"] as const).flatMap((colorScheme) => [320, 1280].map((width) => ({ colorScheme, width }))))(
  "the chat's settings have no accessibility violations: $colorScheme, $width px",
  async ({ colorScheme, width }) => {
    const page = await settingsScreen(desk, { colorScheme, viewport: { width, height: 700 }, reducedMotion: "reduce" });
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
