import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { openDesk } from "./console.ts";
import { beginReply, hasFocus, log, messageBox, openChat } from "./console-conversation.ts";
import { AGENT, noteBox, notesIn, openAgent, openNote, stored } from "./console-notes.ts";
import { violations } from "./violations.ts";

const desk = await openDesk();

/** An agent’s page of a new chat, with the box of a note open beside a message that is begun. */
async function openNoteAside(contact: string) {
  const { chat, page } = await openAgent(desk, contact);
  await messageBox(page).fill("Dear Nora,");
  await page.getByRole("button", { name: "Write a note" }).click();
  await hasFocus(page, noteBox(page));
  return { chat, page };
}

/** How the box in focus looks, and what sends it. */
const lookOf = (page: Page) =>
  page.evaluate(() => {
    const box = document.activeElement?.closest("form");
    const { backgroundColor, borderStyle, borderRadius } = getComputedStyle(box as HTMLElement);
    return {
      backgroundColor,
      borderStyle,
      borderRadius,
      button: box?.querySelector("[type=submit]")?.textContent?.trim(),
    };
  });

test.each(["backgroundColor", "borderStyle", "borderRadius", "button"] as const)(
  "the box of a note differs from that of a message: %s",
  async (part) => {
    const { page } = await openAgent(desk, "Lola Looks");
    await messageBox(page).focus();
    const ofMessage = (await lookOf(page))[part];
    await page.getByRole("button", { name: "Write a note" }).click();
    await hasFocus(page, noteBox(page));
    await expect.poll(async () => (await lookOf(page))[part]).not.toBe(ofMessage);
  },
);

test("nothing on the page sends a message while a note is written", async () => {
  const { page } = await openNoteAside("Nils Nothing");
  await messageBox(page).waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "Send", exact: true }).waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "Attach files" }).waitFor({ state: "hidden" });
});

test("a note begins empty beside a message that is begun", async () => {
  const { page } = await openNoteAside("Emma Empty");
  await expect.poll(() => noteBox(page).inputValue()).toBe("");
});

test("the contact does not hear that somebody writes a note", async () => {
  const { page } = await openNote(desk, "Hedda Hears");
  const sent: string[] = [];
  page.on("request", (request) => request.method() !== "GET" && sent.push(new URL(request.url()).pathname));
  await page.keyboard.type("She wrote three times");
  await noteBox(page).press("Control+Enter");
  await notesIn(page).getByText("She wrote three times").waitFor();
  expect(sent.filter((path) => !path.endsWith("/read"))).toEqual([expect.stringMatching(/\/notes$/)]);
});

test("a note is stored as it was written, and sends nothing", async () => {
  const { chat, page } = await openNote(desk, "Nora Noted");
  await desk.writes(chat.address, "My order is late");
  await noteBox(page).fill("She wrote three times this week");
  await noteBox(page).press("Enter");
  await page.keyboard.type("<b>Careful</b> \u202egnp.exe");
  await noteBox(page).press("Control+Enter");
  await notesIn(page).getByText("She wrote three times").waitFor();
  const note = "She wrote three times this week\n<b>Careful</b> \u202egnp.exe";
  expect(await stored(desk, chat.id)).toEqual({ messages: ["My order is late"], notes: [note] });
});

/** A page with a note that was just added. */
async function addNote(contact: string, text: string) {
  const { page } = await openNote(desk, contact);
  await noteBox(page).fill(text);
  await noteBox(page).press("Control+Enter");
  await notesIn(page).getByText(text).waitFor();
  return page;
}

test("markup in a note is text", async () => {
  const page = await addNote("Mara Markup", "<b>Careful</b>");
  await expect.poll(() => notesIn(page).locator(".text b").count()).toBe(0);
});

test("a note says who wrote it, and who sees it", async () => {
  const page = await addNote("Willa Who", "She wrote three times");
  await expect.poll(() => notesIn(page).textContent()).toContain("by Mel, seen by your team only");
});

test("after a note its box stays, empty, until the person says otherwise", async () => {
  const page = await addNote("Stina Stays", "She wrote three times");
  await expect.poll(() => noteBox(page).inputValue()).toBe("");
});

test("a note and its box have no accessibility violations", async () => {
  const page = await addNote("Axel Axe", "She wrote three times");
  expect(await violations(page)).toEqual([]);
});

test("Escape closes the box of a note", async () => {
  const { page } = await openNoteAside("Esa Escapes");
  await noteBox(page).press("Escape");
  await noteBox(page).waitFor({ state: "detached" });
});

test("the key of a note is not written to the contact after Escape", async () => {
  const { page } = await openNoteAside("Kai Key");
  await noteBox(page).press("Escape");
  await noteBox(page).waitFor({ state: "detached" });
  await page.keyboard.press("w");
  await noteBox(page).waitFor();
  await expect.poll(() => messageBox(page).inputValue()).toBe("Dear Nora,");
});

test("a message that waited beside a note goes out as it was", async () => {
  const { chat, page } = await openNoteAside("Waldo Waits");
  await page.getByRole("button", { name: "Write a message" }).click();
  await hasFocus(page, messageBox(page));
  await expect.poll(() => messageBox(page).inputValue()).toBe("Dear Nora,");
  await messageBox(page).press("Control+Enter");
  await expect.poll(async () => (await stored(desk, chat.id)).messages).toEqual(["Dear Nora,"]);
});

/** A page whose person lost the right to write notes while one was written, and tried to add it. */
async function loseRight(contact: string, agent: string) {
  const { chat, page } = await openNote(desk, contact, agent);
  await noteBox(page).fill("Not for the customer");
  const { members } = await desk.operator("GET", `/organizations/${desk.organization.id}/members?limit=100`);
  const { id } = members.find(({ name }: { name: string }) => name === agent);
  await desk.operator("PATCH", `/members/${id}`, { permissions: AGENT.filter((one) => one !== "notes:write") });
  await noteBox(page).press("Control+Enter");
  await page.getByText(/notes:write/).waitFor();
  return { chat, page };
}

test("a note stays in its box when the right to write notes ended meanwhile", async () => {
  const { page } = await loseRight("Rita Rights", "Ria");
  await expect.poll(() => noteBox(page).inputValue()).toBe("Not for the customer");
});

test("a note that is refused goes nowhere else, also when it is tried again", async () => {
  const { chat, page } = await loseRight("Rolf Rights", "Rob");
  const again = page.waitForResponse((one) => one.request().method() === "POST" && one.url().endsWith("/notes"));
  await noteBox(page).press("Control+Enter");
  expect((await again).status()).toBe(403);
  expect(await stored(desk, chat.id)).toEqual({ messages: [], notes: [] });
});

test("a note that was refused is no message when the page is loaded again", async () => {
  const { page } = await loseRight("Rune Rights", "Roy");
  await page.reload();
  await messageBox(page).waitFor();
  await expect.poll(() => messageBox(page).inputValue()).toBe("");
});

test("who may write no notes is not offered to", async () => {
  const { page } = await loseRight("Runa Rights", "Rea");
  await page.reload();
  await messageBox(page).waitFor();
  await expect.poll(() => page.getByRole("button", { name: "Write a note" }).count()).toBe(0);
});

const order = (page: Page) => expect.poll(() => log(page).locator("article .text").allTextContents());

/** A page of a chat with a note between two messages. */
async function openBetween(contact: string) {
  const chat = await desk.chat(contact);
  await desk.writes(chat.address, "First");
  const { note } = await desk.api("POST", `/chats/${chat.id}/notes`, { content: "Between the two" });
  await desk.writes(chat.address, "Second");
  const page = await openChat(desk, chat.id);
  await notesIn(page).getByText("Between the two").waitFor();
  return { chat, page, note };
}

test("a note stands behind the message after which it was written", async () => {
  const { page } = await openBetween("Liv Lines");
  await order(page).toEqual(["First", "Between the two", "Second"]);
});

test("a colleague’s note comes to an open page", async () => {
  const { chat, page } = await openBetween("Col League");
  await desk.api("POST", `/chats/${chat.id}/notes`, { content: "By a colleague" });
  await order(page).toEqual(["First", "Between the two", "Second", "By a colleague"]);
});

test("a note that a colleague deletes goes from an open page", async () => {
  const { chat, page, note } = await openBetween("Del Eted");
  await desk.api("DELETE", `/chats/${chat.id}/notes/${note.id}`);
  await order(page).toEqual(["First", "Second"]);
});

test("a note is deleted after a question", async () => {
  const { chat, page } = await openBetween("Quinn Question");
  await notesIn(page).getByRole("button", { name: "Delete the note" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await notesIn(page).waitFor({ state: "detached" });
  expect((await stored(desk, chat.id)).notes).toEqual([]);
});

test("a note that is too long says by how much", async () => {
  const { page } = await openNote(desk, "Lou Long");
  await noteBox(page).fill("x".repeat(4_097));
  await page.getByText("1 character too long").waitFor();
});

test("a note that is too long has no button that adds it", async () => {
  const { page } = await openNote(desk, "Lea Long");
  await noteBox(page).fill("x".repeat(4_097));
  await page.getByText("1 character too long").waitFor();
  await expect.poll(() => page.getByRole("button", { name: "Add note" }).isDisabled()).toBe(true);
});

test("a note that is too long is not added by the keyboard, and the longest is", async () => {
  const { chat, page } = await openNote(desk, "Lex Long");
  await noteBox(page).fill("x".repeat(4_097));
  await page.getByText("1 character too long").waitFor();
  await noteBox(page).press("Control+Enter");
  await noteBox(page).fill("x".repeat(4_096));
  await noteBox(page).press("Control+Enter");
  await expect
    .poll(async () => (await stored(desk, chat.id)).notes.map(({ length }: string) => length))
    .toEqual([4_096]);
});

/** A page on which a reply is begun while a note is written. */
async function replyAside(contact: string) {
  const { chat, page } = await openNote(desk, contact);
  await desk.writes(chat.address, "Which size?");
  await noteBox(page).fill("She asked twice");
  await beginReply(page, "Which size?");
  await hasFocus(page, messageBox(page));
  return { chat, page };
}

/** The same, after the person left the reply, and went back to the note by its key. */
async function returnToNote(contact: string) {
  const { page } = await replyAside(contact);
  await messageBox(page).press("Escape");
  await page.locator(".answered").waitFor({ state: "detached" });
  await messageBox(page).press("Escape");
  await expect.poll(() => messageBox(page).evaluate((box) => box === document.activeElement)).toBe(false);
  await page.keyboard.press("w");
  await hasFocus(page, noteBox(page));
  return page;
}

test("a reply that is begun while a note is written takes the keys", async () => {
  const { page } = await replyAside("Rea Reply");
  await page.keyboard.type("Medium");
  await expect.poll(() => messageBox(page).inputValue()).toBe("Medium");
});

test("a reply and a note that are begun send nothing", async () => {
  const { chat, page } = await replyAside("Nia Nothing");
  await page.keyboard.type("Medium");
  await expect.poll(() => messageBox(page).inputValue()).toBe("Medium");
  expect(await stored(desk, chat.id)).toEqual({ messages: ["Which size?"], notes: [] });
});

test("a note that was left for a reply is still there", async () => {
  const page = await returnToNote("Stig Still");
  await expect.poll(() => noteBox(page).inputValue()).toBe("She asked twice");
});

test("the key of a note leads to its box, also if it is open and another place has the focus", async () => {
  const page = await returnToNote("Fox Focus");
  await noteBox(page).evaluate((box) => box.blur());
  await page.keyboard.press("w");
  await hasFocus(page, noteBox(page));
  await page.keyboard.type("!");
  await expect.poll(() => noteBox(page).inputValue()).toBe("She asked twice!");
});
