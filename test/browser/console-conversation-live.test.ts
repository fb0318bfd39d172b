import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { openDesk } from "./console.ts";
import {
  log,
  messageBox,
  messagesOf,
  openChat,
  openChatAsMember,
  send,
  sendLines,
  whatsAppChat,
} from "./console-conversation.ts";
import { intercept, stopTimers } from "./disturb.ts";

const desk = await openDesk();

const contactReacted = (page: Page) => log(page).getByTitle("The contact reacted");
const companyReacted = (page: Page) => log(page).getByTitle("Your organization reacted");

/** A page of a chat in which the contact has reacted to a message meanwhile. */
async function openReacted(name: string) {
  const chat = await desk.chat(name);
  await send(desk, chat.id, { content: "It is on its way" });
  const page = await openChat(desk, chat.id);
  await log(page).getByText("It is on its way").waitFor();
  await desk.does(chat.address, { type: "reaction", seq: 1, emoji: "❤️" });
  await contactReacted(page).getByText("❤️").waitFor();
  return { chat, page };
}

test("a contact’s reaction comes to an open conversation", async () => {
  await openReacted("Rea Reacts");
});

test("a reaction that the contact takes back goes", async () => {
  const { chat, page } = await openReacted("Tara Takes");
  await desk.does(chat.address, { type: "reaction", seq: 1, emoji: null });
  await contactReacted(page).waitFor({ state: "detached" });
});

/** A page of a chat in which somebody has sent a place meanwhile. */
async function openPlace(name: string) {
  const chat = await desk.chat(name);
  const page = await openChat(desk, chat.id);
  await send(desk, chat.id, { content: "Our shop", location: { latitude: -33.86, longitude: 151.2 } });
  const map = log(page).getByRole("link", { name: "-33.86, 151.2" });
  await map.waitFor();
  return map;
}

test("a place is a link to a map of it", async () => {
  const map = await openPlace("Pia Place");
  await expect.poll(() => map.getAttribute("href")).toContain("mlat=-33.86&mlon=151.2");
});

test("the map of a place does not hear where it was opened", async () => {
  const map = await openPlace("Per Place");
  await expect.poll(() => map.getAttribute("rel")).toContain("noreferrer");
});

async function react(page: Page, emoji: string): Promise<void> {
  await log(page).getByText("Thank you").hover();
  await log(page).getByRole("button", { name: "React or reply" }).click();
  await log(page).getByRole("button", { name: emoji }).click();
}

/** A page of a chat in which the contact thanks. */
async function openThanks(name: string) {
  const chat = await desk.chat(name);
  await desk.writes(chat.address, "Thank you");
  const page = await openChat(desk, chat.id);
  const reactions = async () => (await messagesOf(desk, chat.id))[0].reactions;
  return { page, reactions };
}

test("a person reacts to a message, and the visitor’s page knows", async () => {
  const { page, reactions } = await openThanks("Pat Person");
  await react(page, "🙏");
  await companyReacted(page).getByText("🙏").waitFor();
  await expect.poll(reactions).toMatchObject([{ by: "organization", emoji: "🙏" }]);
});

test("a person takes a reaction back by the same emoji", async () => {
  const { page, reactions } = await openThanks("Bea Back");
  await react(page, "🙏");
  await companyReacted(page).getByText("🙏").waitFor();
  await expect.poll(reactions).toHaveLength(1);
  await react(page, "🙏");
  await expect.poll(reactions).toBe(undefined);
  await expect.poll(() => companyReacted(page).count()).toBe(0);
});

test("a reaction that fails is taken back, with the reason", async () => {
  const { page } = await openThanks("Finn Fails");
  await intercept(page, /\/reaction$/, (route) =>
    route.fulfill({ status: 409, json: { code: "refused_by_network", message: "The network refused it" } }),
  );
  await react(page, "👍");
  await page.getByText("The network refused it").waitFor();
  await expect.poll(() => companyReacted(page).count()).toBe(0);
});

test("what was in view for a second was read", async () => {
  const chat = await desk.chat("Vic View");
  await desk.writes(chat.address, "Is anybody there?");
  await openChat(desk, chat.id);
  await expect.poll(async () => (await desk.api("GET", `/chats/${chat.id}`)).chat.readUpTo).toBe(1);
});

/** Somebody writes and goes on, as people do, until the work is done. A page that just opened may miss the first of it. */
async function whileWriting(write: () => Promise<void>, work: () => Promise<void>): Promise<void> {
  let isDone = false;
  const writing = (async () => {
    while (!isDone) await write();
  })();
  await work().finally(() => (isDone = true));
  await writing;
}

test("a contact who writes is shown, until the message comes", async () => {
  const chat = await desk.chat("Tia Types");
  const page = await openChat(desk, chat.id);
  // Nobody is told for half a minute after somebody wrote unheard.
  const stream = page.waitForResponse(/\/events\/stream/);
  await page.reload();
  await stream;
  await messageBox(page).waitFor();
  const typing = page.getByText("Tia Types is typing…");
  await whileWriting(
    () => desk.types(chat.address),
    () => typing.waitFor(),
  );
  await desk.writes(chat.address, "Hello?");
  await typing.waitFor({ state: "detached" });
});

test("the contact is told that a person writes", async () => {
  const chat = await desk.chat("Toni Told");
  const page = await openChat(desk, chat.id);
  const told = page.waitForRequest((request) => request.url().endsWith("/typing"));
  await messageBox(page).press("y");
  expect((await (await told).response())?.status()).toBe(200);
});

describe("two colleagues in the same chat", () => {
  const MAY = ["chats:read", "messages:read", "messages:send", "events:read"];
  const key = (page: Page) => messageBox(page).press("a", { delay: 50 });
  const sees = (page: Page, text: string) => page.locator(".typing").getByText(text, { exact: true }).waitFor();

  async function openBoth(contact: string) {
    const chat = await desk.chat(contact);
    const [mel, kim] = [
      await openChatAsMember(desk, chat.id, MAY, "Mel"),
      await openChatAsMember(desk, chat.id, MAY, "Kim"),
    ];
    return { chat, mel, kim };
  }

  test("see each other write, by name", async () => {
    const { mel, kim } = await openBoth("Tom Third");
    await whileWriting(
      () => key(mel),
      () => sees(kim, "Mel is typing…"),
    );
    await whileWriting(
      () => key(kim),
      () => sees(mel, "Kim is typing…"),
    );
  });

  test("see each other and the contact write at once", async () => {
    const { chat, mel, kim } = await openBoth("Theo Third");
    // Who began first stays first, and nobody's line ends meanwhile.
    await stopTimers(mel, 6_000);
    await whileWriting(
      () => key(kim),
      async () => {
        await sees(mel, "Kim is typing…");
        await desk.types(chat.address);
        await sees(mel, "Kim, Theo Third are typing…");
      },
    );
  });
});

const textOf = (id: string, body: string) => ({ id, type: "text", text: { body } });
const editOf = (id: string, original: string, body: string) => ({
  id,
  type: "edit",
  edit: { original_message_id: original, message: { type: "text", text: { body } } },
});

/** A page of a chat on WhatsApp whose contact has written this meanwhile. */
async function openWritten(address: string, name: string) {
  const { id, hears } = await whatsAppChat(desk, address, name);
  const page = await openChat(desk, id);
  await hears(textOf("wamid.first", "At ten"));
  await log(page).getByText("At ten").waitFor();
  return { page, hears };
}

test("what a contact edits changes in an open conversation, and is marked", async () => {
  const { page, hears } = await openWritten("4915550000777", "Eda Edits");
  await hears(editOf("wamid.edit", "wamid.first", "At eleven"));
  await log(page).getByText("At eleven").waitFor();
  await log(page).getByText("Edited").waitFor();
  await expect.poll(() => log(page).getByText("At ten").count()).toBe(0);
});

test("what a contact deletes goes from an open conversation, and its place says so", async () => {
  const { page, hears } = await openWritten("4915550000779", "Dee Deletes");
  await hears({ id: "wamid.revoke", type: "revoke", revoke: { original_message_id: "wamid.first" } });
  await log(page).getByText("Deleted by the contact.").waitFor();
  await expect.poll(() => log(page).getByText("At ten").count()).toBe(0);
});

test("what a contact deletes after an edit goes too", async () => {
  const { page, hears } = await openWritten("4915550000780", "Ed Deletes");
  await hears(editOf("wamid.edit", "wamid.first", "At eleven"));
  await log(page).getByText("At eleven").waitFor();
  await hears({ id: "wamid.revoke", type: "revoke", revoke: { original_message_id: "wamid.first" } });
  await log(page).getByText("Deleted by the contact.").waitFor();
  await expect.poll(() => log(page).getByText("At eleven").count()).toBe(0);
});

describe("a page that was offline shows when it is back", () => {
  /** A page of a chat on WhatsApp, which has heard a message and is offline now. */
  async function goOffline(address: string, name: string) {
    const { id, hears } = await whatsAppChat(desk, address, name);
    const page = await openChat(desk, id);
    await hears(textOf("wamid.first", "At ten"));
    await log(page).getByText("At ten").waitFor();
    await page.context().setOffline(true);
    await page.getByText(/No connection/).waitFor();
    return { id, hears, page };
  }

  test("an edit", async () => {
    const { hears, page } = await goOffline("4915550000778", "Olga Offline");
    await hears(editOf("wamid.edit", "wamid.first", "At eleven"));
    await page.context().setOffline(false);
    await log(page).getByText("At eleven").waitFor();
    await expect.poll(() => log(page).getByText("At ten").count()).toBe(0);
  });

  test("a reaction", async () => {
    const { hears, page } = await goOffline("4915550000781", "Otis Offline");
    await hears({ id: "wamid.r", type: "reaction", reaction: { message_id: "wamid.first", emoji: "👍" } });
    await page.context().setOffline(false);
    await contactReacted(page).getByText("👍").waitFor();
  });

  test("a redaction", async () => {
    const { id, page } = await goOffline("4915550000782", "Oona Offline");
    const [message] = await messagesOf(desk, id);
    await desk.operator("POST", `/chats/${id}/messages/${message.id}/redact`);
    await page.context().setOffline(false);
    await log(page).getByText("This message was deleted.").waitFor();
    await expect.poll(() => log(page).getByText("At ten").count()).toBe(0);
  });
});

test("a page without a stream keeps older messages up to date too", async () => {
  const chat = await desk.chat("Ola Older");
  const { message } = await send(desk, chat.id, { content: "An old secret" });
  await sendLines(desk, chat.id, 60);
  const page = await openChat(desk, chat.id);
  await intercept(page.context(), /\/events/, (route) => route.abort());
  // A click scrolls to the button, and the page's own load at the top would take the button away.
  await stopTimers(page, 100);
  await page.reload();
  await log(page).getByText("Line 60").waitFor();
  await page.getByRole("button", { name: "Show older messages" }).click();
  await log(page).getByText("An old secret").waitFor();
  await desk.operator("POST", `/chats/${chat.id}/messages/${message.id}/redact`);
  await log(page).getByText("An old secret").waitFor({ state: "detached" });
});
