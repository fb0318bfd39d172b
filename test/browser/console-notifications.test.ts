import type { Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { webhookReceiver } from "../support/webhook-receiver.ts";
import { openConsole, openDesk, screenOf } from "./console.ts";
import {
  AGENT,
  actsOf,
  CANARY,
  click,
  hasTitle,
  openHearing,
  openMember,
  openOn,
  permit,
  record,
  row,
  shown,
  writes,
} from "./console-notifications.ts";
import { intercept } from "./disturb.ts";
import { browser } from "./file-browser.ts";
import { violations } from "./violations.ts";

const desk = await openDesk();
const { assign, note } = actsOf(desk);

test("what came while the service could not be reached is told and counted once it can", async () => {
  const chat = await desk.chat("Ava Away");
  const { page, context, told } = await openMember(desk);
  await row(page, "Ava Away").waitFor();
  await context.setOffline(true);
  await page.getByText("No connection.").waitFor();
  await desk.writes(chat.address, "Hello");
  await context.setOffline(false);
  await expect.poll(() => shown(told)).toEqual(["Ava Away: New message · Site"]);
  await hasTitle(page, "(1) Inbox · Parley");
});

test("the operator is told of nobody’s chats", async () => {
  const chat = await desk.chat("Opa Operator");
  const page = await openConsole(browser, screenOf(desk, "settings"));
  onTestFinished(() => page.context().close());
  const told = await record(page.context());
  await permit(page.context(), true);
  await openHearing(page, desk, "inbox");
  await writes(page, desk, "Opa Operator", chat, "Hello");
  await expect.poll(() => shown(told)).toEqual(["Opa Operator: New message · Site"]);
});

test("a chat that is back from its snooze is told, but not a colleague’s that is answered", async () => {
  const [mine, other, waits] = [
    await desk.chat("Sia Snoozed"),
    await desk.chat("Sam Snoozed"),
    await desk.chat("Wim Waits"),
  ];
  const { page, told, id } = await openMember(desk);
  await assign(other.id, desk.organization.memberId);
  await assign(mine.id, id);
  await writes(page, desk, "Wim Waits", waits, "Hello");
  await expect.poll(() => shown(told).length).toBe(2);
  told.notifications.length = 0;
  for (const chat of [other, mine, waits]) {
    const snoozedUntil = new Date(Date.now() + 10_000).toISOString();
    await desk.api("PATCH", `/chats/${chat.id}`, { state: "snoozed", snoozedUntil });
  }
  const back = (name: string) => `${name}: Back from its snooze · Site`;
  await expect.poll(() => shown(told).toSorted()).toEqual([back("Sia Snoozed"), back("Wim Waits")]);
});

test("a message that opens a closed chat is a new message, and no end of a snooze", async () => {
  const chat = await desk.chat("Cleo Closed");
  const { page, told } = await openMember(desk);
  await desk.api("PATCH", `/chats/${chat.id}`, { state: "closed" });
  await row(page, "Cleo Closed").waitFor({ state: "detached" });
  await desk.writes(chat.address, "Hello");
  await expect.poll(() => shown(told)).toEqual(["Cleo Closed: New message · Site"]);
});

describe("who looks at the inbox", () => {
  test("is not told of the chat that is open, and of others is", async () => {
    const [looked, other] = [await desk.chat("Lou Looked"), await desk.chat("Lea Left")];
    const { page, told, id } = await openMember(desk, { path: `inbox/${looked.id}` });
    const messages = page.getByRole("log", { name: "Messages" });
    await desk.writes(looked.address, "I am seen");
    await messages.getByText("I am seen").waitFor();
    await note(looked.id, [id]);
    await messages.getByText(CANARY).waitFor();
    await writes(page, desk, "Lea Left", other, "First");
    await expect.poll(() => shown(told)).toEqual(["Lea Left: New message · Site"]);
    await hasTitle(page, "(1) Inbox · Parley");
  });

  /** A page with a chat that is new to its person. */
  async function openNew(name: string) {
    const chat = await desk.chat(name);
    const { page } = await openMember(desk);
    await writes(page, desk, name, chat, "Hello");
    await hasTitle(page, "(1) Inbox · Parley");
    await expect.poll(() => openOn(page)).toEqual([chat.id]);
    return { chat, page };
  }

  test("sees at its row that a chat is new", async () => {
    const { page } = await openNew("Rosa Row");
    await row(page, "Rosa Row").getByText("New", { exact: true }).waitFor();
  });

  test("has a chat no longer unread that a colleague answers", async () => {
    const { chat, page } = await openNew("Ada Answered");
    // The event alone says that somebody answered.
    await intercept(page, new RegExp(`/chats/${chat.id}$`), (route) => route.abort());
    await desk.api("POST", `/chats/${chat.id}/messages`, { content: "An answer" });
    await hasTitle(page, "Inbox · Parley");
    await expect.poll(() => openOn(page)).toEqual([]);
  });

  test("has a chat no longer unread that a colleague gets", async () => {
    const { chat, page } = await openNew("Gil Given");
    await assign(chat.id, desk.organization.memberId);
    await hasTitle(page, "Inbox · Parley");
    await expect.poll(() => openOn(page)).toEqual([]);
  });
});

describe("the sound of a notification", () => {
  /** A page whose person turned the sound on. */
  async function openLoud() {
    const { page, told } = await openMember(desk);
    await page.keyboard.press("b");
    const dialog = page.getByRole("dialog", { name: "Notifications" });
    await dialog.getByLabel("Play a sound").check();
    await expect.poll(() => told.sounds).toBe(1);
    return { page, told, dialog };
  }

  async function close(page: Page): Promise<void> {
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }

  test("is not played if nobody chose it", async () => {
    const chat = await desk.chat("Quin Quiet");
    const { told } = await openMember(desk);
    await desk.writes(chat.address, "Softly");
    await expect.poll(() => shown(told)).toEqual(["Quin Quiet: New message · Site"]);
    expect([told.sounds, told.notifications[0]?.silent]).toEqual([0, true]);
  });

  test("is played when the person chooses it", async () => {
    await openLoud();
  });

  test("is chosen in a dialog without accessibility violations", async () => {
    const { page, dialog } = await openLoud();
    await dialog.getByText("Notifications are on in this browser.").waitFor();
    expect(await violations(page)).toEqual([]);
  });

  test("is played once, and is not the system’s", async () => {
    const chat = await desk.chat("Fia First");
    const { page, told } = await openLoud();
    await close(page);
    await desk.writes(chat.address, "I begin");
    await expect.poll(() => shown(told)).toEqual(["Fia First: New message · Site"]);
    expect([told.sounds, told.notifications[0]?.silent]).toEqual([2, true]);
  });

  test("is played once for many chats at once, which are one notification", async () => {
    const first = await desk.chat("Fay First");
    const chats = await Promise.all(["a", "b", "c", "d"].map((name) => desk.chat(`Many ${name}`)));
    const { page, told } = await openLoud();
    await close(page);
    await desk.writes(first.address, "I begin");
    await expect.poll(() => shown(told)).toEqual(["Fay First: New message · Site"]);
    // A page whose clock was set back tells the rest later, and so has time to hear of all.
    await page.clock.setFixedTime((await page.evaluate(() => Date.now())) - 10_000);
    await Promise.all(chats.map(({ address }) => desk.writes(address, "All at once")));
    await expect.poll(() => shown(told).slice(1)).toEqual(["4 chats are new to you: Acme"]);
    expect(told.sounds).toBe(3);
  });

  /** A page whose person chose the sound before, and has done nothing in the page yet. */
  async function openUntouched() {
    const { page, told, id } = await openMember(desk);
    await page.evaluate((key) => {
      localStorage.setItem(key, JSON.stringify({ of: "all", hasSound: true }));
      // What a test evaluates in a page counts as an act of the person.
      Object.defineProperty(navigator, "userActivation", { value: { hasBeenActive: false }, configurable: true });
    }, `parley.notifications ${id}`);
    return { page, told };
  }

  test("is not played in a page in which the person has done nothing yet, because the browser allows none", async () => {
    const chat = await desk.chat("Eve Early");
    const { told } = await openUntouched();
    await desk.writes(chat.address, "Hello");
    await expect.poll(() => shown(told)).toEqual(["Eve Early: New message · Site"]);
    expect(told.sounds).toBe(0);
  });

  test("is played once the person has done something in the page", async () => {
    const chat = await desk.chat("Lu Late");
    const { page, told } = await openUntouched();
    await page.evaluate(() => Reflect.deleteProperty(navigator, "userActivation"));
    await desk.writes(chat.address, "Hello");
    await expect.poll(() => told.sounds).toBe(1);
  });
});

describe("a channel that breaks and a webhook that is disabled", () => {
  const banner = (page: Page) => page.locator(".banner.tone-bad");

  /** Both break while a page with these permissions is open. */
  async function breakBoth(permissions: string[], contact: string) {
    const receiver = await webhookReceiver();
    onTestFinished(() => receiver.close());
    const endpoint = receiver.endpoint();
    endpoint.answer = () => 410;
    const { page, told } = await openMember(desk, { permissions });
    const credentials = { botToken: "123456:revoked-by-its-owner" };
    const { channel } = await desk.api("POST", "/channels", { kind: "telegram", name: "Our bot", credentials });
    const { webhook } = await desk.api("POST", "/webhooks", { url: endpoint.url, types: ["message.*"] });
    let isMended = false;
    const mend = async () => {
      if (isMended) return;
      isMended = true;
      await desk.api("DELETE", `/webhooks/${webhook.id}`);
      await desk.api("DELETE", `/channels/${channel.id}`);
    };
    onTestFinished(mend);
    const { chat } = await desk.api("POST", "/chats", { channelId: channel.id, contact: { address: contact } });
    await desk.api("POST", `/chats/${chat.id}/messages`, { content: "Will it break?" });
    const isBroken = async () => {
      const { channels } = await desk.api("GET", "/channels");
      const { webhooks } = await desk.api("GET", "/webhooks");
      return [
        channels.find(({ id }: { id: string }) => id === channel.id).health.state,
        webhooks.find(({ id }: { id: string }) => id === webhook.id).state,
      ];
    };
    await expect.poll(isBroken).toEqual(["broken", "disabled"]);
    return { page, told, webhook, mend, address: endpoint.url.replace("http://", "") };
  }

  const MANAGER = [...AGENT, "channels:write", "webhooks:read", "webhooks:write"];

  test("stand above the screen of who manages them", async () => {
    const { page } = await breakBoth(MANAGER, "4711");
    await banner(page).getByRole("link", { name: "Our bot" }).waitFor();
    await banner(page).getByText("is broken.").waitFor();
    await banner(page).getByText("is disabled.").waitFor();
  });

  test("stand there without accessibility violations", async () => {
    const { page } = await breakBoth(MANAGER, "4712");
    await banner(page).getByText("is broken.").waitFor();
    await banner(page).getByText("is disabled.").waitFor();
    expect(await violations(page)).toEqual([]);
  });

  test("are told to who manages them", async () => {
    const { told, address } = await breakBoth(MANAGER, "4713");
    await expect
      .poll(() => shown(told).toSorted())
      .toEqual(["Our bot is broken: Acme", `Webhook ${address} is disabled: Acme`]);
  });

  test("are where a click on their notification leads", async () => {
    const { page, told, webhook, address } = await breakBoth(MANAGER, "4714");
    await expect.poll(() => shown(told)).toContain(`Webhook ${address} is disabled: Acme`);
    await click(page, webhook.id);
    await page.getByRole("heading", { name: address }).waitFor();
  });

  test("are told to nobody else", async () => {
    const { page, told } = await breakBoth(AGENT, "4715");
    await row(page, "4715").waitFor();
    expect([await banner(page).count(), told.notifications]).toEqual([0, []]);
  });

  test("stand there no longer once they are gone", async () => {
    const { page, mend } = await breakBoth(MANAGER, "4716");
    await banner(page).getByText("is broken.").waitFor();
    await mend();
    await page.getByRole("link", { name: "Channels" }).click();
    await banner(page).waitFor({ state: "detached" });
  });
});
