import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { openAsMember, openConsole, openDesk, screenOf } from "./console.ts";
import { holdUp, intercept, takeOver } from "./disturb.ts";
import { browser } from "./file-browser.ts";
import { base } from "./running-server.ts";
import { violations } from "./violations.ts";

const desk = await openDesk();

const heading = (page: Page, name: string) => page.getByRole("heading", { name }).waitFor();
const create = (page: Page) => page.getByRole("button", { name: "Create the channel" }).click();
/** The id of the channel whose set-up is open. */
const idOf = (page: Page) => /chn_\w+/.exec(page.url())?.[0] ?? "";
const channelOf = async (page: Page) => (await desk.api("GET", `/channels/${idOf(page)}`)).channel;

test("a web chat is set up: its secret is shown once, its sites are saved, and a visitor's first message is seen", async () => {
  const page = await openConsole(browser, screenOf(desk, "channels"));
  await page.getByRole("link", { name: "New channel" }).click();
  await page.getByRole("link", { name: /Web chat/ }).click();
  await page.getByLabel("Name").fill("Our shop");
  await create(page);
  await page.getByRole("dialog", { name: "Save the identity secret now" }).waitFor();
  const secret = await page.locator(".secret").textContent();
  expect(secret).toMatch(/^\w{32}$/);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "I saved it" }).click();
  await heading(page, "Set up “Our shop”");
  expect(await page.content()).not.toContain(secret);
  await page.getByLabel("Sites").fill("https://shop.example\nnonsense");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("must be an origin").waitFor();
  await page.getByLabel("Sites").fill("https://shop.example");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  const channel = await channelOf(page);
  expect(channel.settings).toMatchObject({ allowedOrigins: ["https://shop.example"] });
  await expect.poll(() => page.locator("pre").textContent()).toContain(`data-channel="${channel.id}"`);
  await page.getByText("Waiting for a message…").waitFor();
  await page.getByRole("button", { name: "Open the preview" }).click();
  const preview = page.frameLocator("iframe");
  await preview.getByLabel("Message", { exact: true }).fill("Is anybody there?");
  await preview.getByRole("button", { name: "Send" }).click();
  await page.getByText("The latest chat is with").waitFor();
  await page.getByRole("button", { name: "Send a test message" }).click();
  await preview.getByText("This is a test message.").waitFor();
  await page.getByText("Exchange a first message (done)").waitFor();
  await page.context().close();
});

test("a bot is set up: the credentials are checked, the webhook is registered, and a message goes out", async () => {
  const page = await openConsole(browser, screenOf(desk, "channels/new/telegram"));
  await page.getByLabel("Name").fill("Our bot");
  await page.getByLabel("Bot token").fill("not a token");
  await create(page);
  await page.getByText("must be a bot token").waitFor();
  await page.getByLabel("Bot token").fill("123456:a-bot-token-of-this-test");
  await create(page);
  await page.getByText("The network accepts the credentials.").waitFor();
  await page.getByText("No webhook is registered").waitFor();
  await page.getByRole("button", { name: "Register the webhook" }).click();
  await page.getByText("Telegram says: Webhook was set").waitFor();
  await page.getByText("The webhook points to this service.").waitFor();
  await page.getByText("Telegram sends messages here (done)").waitFor();
  const { webhook } = await channelOf(page);
  const message = { message_id: 1, date: 1, chat: { id: 42, type: "private", first_name: "Tess" }, text: "Hello" };
  const arrived = await fetch(webhook.url, {
    method: "POST",
    headers: { "X-Telegram-Bot-Api-Secret-Token": webhook.verifyToken, "Content-Type": "application/json" },
    body: JSON.stringify({ update_id: 1, message: { ...message, from: message.chat } }),
  });
  expect(arrived.status).toBe(200);
  await page.getByRole("link", { name: "Tess" }).waitFor();
  await page.getByRole("button", { name: "Send a test message" }).click();
  await page.getByText("Sent.", { exact: true }).waitFor();
  await page.context().close();
});

test("a broken channel says why, and is checked, mended, changed and deleted on its screen", async () => {
  const body = { kind: "telegram", name: "Old bot", credentials: { botToken: "123456:a-token-that-works-here" } };
  const { channel } = await desk.api("POST", "/channels", body);
  const page = await openConsole(browser, screenOf(desk, `channels/${channel.id}`));
  await page.getByRole("button", { name: "Check now" }).click();
  await page.getByText("The network accepts the credentials.").waitFor();
  // What the service says of a broken channel, without waiting until it breaks.
  const reason = "Telegram refuses the bot token: Unauthorized";
  const since = channel.createdAt;
  const warnings = [{ code: "unknown_fields", since, count: 3, text: "The network sends what Parley does not know" }];
  const unknown = { "message.brand_new": 3 };
  const broken = { ...channel.health, state: "broken", reason, since, warnings, unknown };
  const isThis = new RegExp(`/console/api/.*/channels/${channel.id}$`);
  const giveBack = await takeOver(page, isThis, async (route) => {
    if (route.request().method() !== "GET") return route.fallback();
    await route.fulfill({ json: { channel: { ...channel, health: broken } } });
  });
  await page.reload();
  await page.getByRole("alert").getByText("Telegram refuses the bot token: Unauthorized").waitFor();
  await page
    .getByRole("listitem")
    .filter({ hasText: /^message\.brand_new 3$/ })
    .waitFor();
  giveBack();
  await page.getByRole("button", { name: "Replace the credentials" }).click();
  await page.getByLabel("Bot token").fill("123456:another-token-of-this-test");
  await page.getByRole("dialog").getByRole("button", { name: "Replace" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  await page.getByText("…test").waitFor();
  await page.getByRole("button", { name: "Change" }).click();
  await page.getByLabel("Messages per second").fill("7");
  await page.getByLabel("Stop words").fill("STOP\n no more \n");
  await page.getByLabel("Days that messages are kept").fill("30");
  await page.getByRole("dialog").getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("At most 7 per second").waitFor();
  await page.getByText("STOP, no more").waitFor();
  await page.getByText("30 days").waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog");
  const confirm = dialog.getByRole("button", { name: "Delete the channel" });
  await expect.poll(() => confirm.isDisabled()).toBe(true);
  await dialog.getByRole("textbox").fill("Old bot");
  await confirm.click();
  await page.getByText("Deleted", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Site", exact: true }).waitFor();
  await expect.poll(() => page.getByRole("link", { name: "Old bot" }).count()).toBe(0);
  await page.context().close();
});

test("a bot has hours and an away message, which its form changes and takes back", async () => {
  const body = { kind: "telegram", name: "Night bot", credentials: { botToken: "123456:a-token-that-works-here" } };
  const { channel } = await desk.api("POST", "/channels", body);
  const settings = async () => (await desk.api("GET", `/channels/${channel.id}`)).channel.settings;
  const page = await openConsole(browser, screenOf(desk, `channels/${channel.id}`));
  const save = () => page.getByRole("dialog").getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "Change" }).click();
  await page.getByLabel("You answer").selectOption("hours");
  await page.getByLabel("Time zone").fill("Mars/Olympus");
  await page.getByLabel("Away message").fill("Back at 9");
  await save();
  await page.getByText("Must be a time zone, such as Europe/Berlin.").waitFor();
  await page.getByLabel("Time zone").fill("Europe/Berlin");
  await save();
  await page.getByText("Back at 9", { exact: true }).waitFor();
  const saved = await settings();
  expect(saved).toMatchObject({ away: { text: "Back at 9" }, hours: { timeZone: "Europe/Berlin" } });
  // What the form does not touch stays.
  await page.getByRole("button", { name: "Change" }).click();
  await page.getByLabel("Messages per second").fill("7");
  await save();
  await page.getByText("At most 7 per second").waitFor();
  expect(await settings()).toEqual({ ...saved, perSecond: 7 });
  await page.getByRole("button", { name: "Change" }).click();
  await page.getByLabel("Away message").fill("");
  await page.getByLabel("You answer").selectOption("always");
  await save();
  await expect.poll(() => page.getByText("Back at 9", { exact: true }).count()).toBe(0);
  expect(await settings()).toEqual({ perSecond: 7 });
  await page.context().close();
});

test("a list that can't be loaded says why and is asked for again; a channel that does not exist says so", async () => {
  const page = await openConsole(browser, screenOf(desk, "inbox"));
  await intercept(page, /\/channels\?/, (route) =>
    route.fulfill({ status: 500, json: { error: "It broke", message: "It broke", code: "internal_error" } }),
  );
  await page.goto(`${base}${screenOf(desk, "channels")}`);
  await page.getByText("internal_error").waitFor();
  // The page also repeats what failed, by its own clock and with each new stream: that must wait for the click.
  const release = await holdUp(page, /\/channels\?/);
  await page.getByRole("button", { name: "Try again" }).click();
  release();
  await page.getByRole("link", { name: "Site", exact: true }).waitFor();
  await page.goto(`${base}${screenOf(desk, "channels/chn_gaaaaaaaaaaaaaaa")}`);
  await page.getByText("channel_not_found").waitFor();
  await page.context().close();
});

test("a member sees what its permissions allow, and is told which one it lacks", async () => {
  const page = await openAsMember(browser, desk, ["chats:read", "channels:read"], screenOf(desk, "channels"));
  await page.getByRole("link", { name: "Site", exact: true }).click();
  await page.getByText("stats:read").waitFor();
  for (const name of ["Change", "Delete", "Check now"]) {
    await expect.poll(() => page.getByRole("button", { name, exact: true }).count()).toBe(0);
  }
  await page.goto(`${base}${screenOf(desk, "channels/new")}`);
  await page.getByText("channels:write").waitFor();
  await page.context().close();
});

test.for((["light", "dark"] as const).flatMap((colorScheme) => [320, 1280].map((width) => ({ colorScheme, width }))))(
  "the screens of channels have no accessibility violations: $colorScheme, $width px",
  async ({ colorScheme, width }) => {
    const credentials = { botToken: "123456:a-token-that-works-here" };
    const { channel } = await desk.api("POST", "/channels", { kind: "telegram", name: "Seen bot", credentials });
    const page = await openConsole(browser, screenOf(desk, "channels"), {
      colorScheme,
      viewport: { width, height: 700 },
      // An animation without an end would never let the look begin.
      reducedMotion: "reduce",
    });
    await page.getByRole("link", { name: "Seen bot" }).first().waitFor();
    expect(await violations(page)).toEqual([]);
    await page.goto(`${base}${screenOf(desk, "channels/new")}`);
    await page.getByRole("link", { name: /Telegram/ }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.goto(`${base}${screenOf(desk, "channels/new/whatsapp")}`);
    await page.getByLabel("App secret").waitFor();
    expect(await violations(page)).toEqual([]);
    await page.goto(`${base}${screenOf(desk, `channels/${channel.id}/set-up`)}`);
    await page.getByRole("button", { name: "Check again" }).first().waitFor();
    expect(await violations(page)).toEqual([]);
    await page.goto(`${base}${screenOf(desk, `channels/${channel.id}`)}`);
    await page.getByRole("button", { name: "Check now" }).click();
    await page.getByRole("button", { name: "Check again" }).first().waitFor();
    await page.getByText("Last 92 days").waitFor();
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  },
);
