import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { PRESETS } from "../../src/keys/presets.ts";
import { type Desk, openAsMember, openConsole, openDesk, screenOf } from "./console.ts";
import { browser } from "./file-browser.ts";
import { violations } from "./violations.ts";

let desk: Desk;

beforeAll(async () => {
  desk = await openDesk();
});

const AGENT = [...PRESETS.agent];
const log = (page: Page) => page.getByRole("log", { name: "Messages" });
const messageBox = (page: Page) => page.getByLabel("Message", { exact: true });
const noteBox = (page: Page) => page.getByLabel("Note, seen by your team only");
const offered = (page: Page) => page.getByRole("listbox", { name: "Members" }).getByRole("option");
const notesIn = (page: Page) => log(page).locator(".note-line");

async function stored(chatId: string) {
  const { messages } = await desk.api("GET", `/chats/${chatId}/messages`);
  const { notes } = await desk.api("GET", `/chats/${chatId}/notes`);
  return {
    messages: messages.map(({ text }: { text: string }) => text),
    notes: notes.map(({ content }: { content: string }) => content),
  };
}

/** How a box looks, and what sends it. */
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

test("a note is written in a box of its own, which shares nothing with the message's", async () => {
  const chat = await desk.chat("Nora Noted");
  await desk.writes(chat.address, "My order is late");
  const page = await openAsMember(browser, desk, AGENT, screenOf(desk, `inbox/${chat.id}`));
  await log(page).getByText("My order is late").waitFor();
  await messageBox(page).fill("Dear Nora,");
  const asMessage = await lookOf(page);
  await page.getByRole("button", { name: "Write a note" }).click();
  await noteBox(page).waitFor();
  // Nor does the contact hear that somebody writes.
  const sent: string[] = [];
  page.on("request", (request) => request.method() !== "GET" && sent.push(new URL(request.url()).pathname));
  const asNote = await lookOf(page);
  for (const name of ["backgroundColor", "borderStyle", "borderRadius", "button"] as const) {
    expect(asNote[name]).not.toBe(asMessage[name]);
  }
  // Nothing on the page sends a message now.
  expect(await messageBox(page).isVisible()).toBe(false);
  expect(await page.getByRole("button", { name: "Send", exact: true }).isVisible()).toBe(false);
  expect(await page.getByRole("button", { name: "Attach files" }).isVisible()).toBe(false);
  expect(await noteBox(page).inputValue()).toBe("");
  await noteBox(page).fill("She wrote three times this week");
  await page.keyboard.press("Enter");
  await page.keyboard.type("<b>Careful</b> \u202egnp.exe");
  await page.keyboard.press("Control+Enter");
  await notesIn(page).getByText("She wrote three times").waitFor();
  expect(await notesIn(page).locator(".text b").count()).toBe(0);
  const note = "She wrote three times this week\n<b>Careful</b> \u202egnp.exe";
  expect(await stored(chat.id)).toEqual({ messages: ["My order is late"], notes: [note] });
  expect(sent.filter((path) => !path.endsWith("/read"))).toEqual([expect.stringMatching(/\/notes$/)]);
  expect(await notesIn(page).textContent()).toContain("by Mel, seen by your team only");
  // The box stays a note's until the person says otherwise.
  expect(await noteBox(page).inputValue()).toBe("");
  expect(await violations(page)).toEqual([]);
  // After Escape, the keys of a note must not be written to the contact.
  await page.keyboard.press("Escape");
  await noteBox(page).waitFor({ state: "detached" });
  await page.keyboard.press("w");
  await noteBox(page).waitFor();
  expect(await messageBox(page).inputValue()).toBe("Dear Nora,");
  await page.getByRole("button", { name: "Write a message" }).click();
  await expect.poll(() => messageBox(page).inputValue()).toBe("Dear Nora,");
  await messageBox(page).press("Control+Enter");
  await expect.poll(async () => (await stored(chat.id)).messages).toEqual(["Dear Nora,", "My order is late"]);
  await page.context().close();
});

test("a note goes nowhere else when the right to write notes ends meanwhile, and is kept", async () => {
  const chat = await desk.chat("Rita Rights");
  const page = await openAsMember(browser, desk, AGENT, screenOf(desk, `inbox/${chat.id}`));
  await messageBox(page).waitFor();
  await page.keyboard.press("w");
  await noteBox(page).fill("Not for the customer");
  const { members } = await desk.operator("GET", `/organizations/${desk.organization.id}/members?limit=100`);
  for (const { id } of members.filter(({ name }: Record<string, unknown>) => name === "Mel")) {
    const permissions = AGENT.filter((one) => one !== "notes:write");
    await desk.operator("PATCH", `/members/${id}`, { permissions });
  }
  await page.keyboard.press("Control+Enter");
  await page.getByText(/notes:write/).waitFor();
  expect(await noteBox(page).inputValue()).toBe("Not for the customer");
  await page.keyboard.press("Control+Enter");
  expect(await stored(chat.id)).toEqual({ messages: [], notes: [] });
  // Loaded again, the text waits as a note, and not as a message.
  await page.reload();
  await messageBox(page).waitFor();
  expect(await messageBox(page).inputValue()).toBe("");
  expect(await page.getByRole("button", { name: "Write a note" }).count()).toBe(0);
  await page.context().close();
});

test("an @ offers the members who may read notes, by keyboard and pointer", async () => {
  const chat = await desk.chat("Mia Mentioned");
  const add = async (name: string, permissions: readonly string[]) => {
    const body = { name, permissions: [...permissions] };
    return (await desk.operator("POST", `/organizations/${desk.organization.id}/members`, body)).member.id;
  };
  const zoe = await add("Zoe Zenith", AGENT);
  const zora = await add("Zora", AGENT);
  await add("Zed Zero", ["chats:read"]);
  const page = await openAsMember(browser, desk, AGENT, screenOf(desk, `inbox/${chat.id}`));
  await messageBox(page).waitFor();
  await page.keyboard.press("w");
  await noteBox(page).pressSequentially("Ask @zen");
  const options = offered(page);
  await options.first().waitFor();
  expect(await options.allTextContents()).toEqual(["Zoe Zenith"]);
  await page.keyboard.press("Enter");
  expect(await noteBox(page).inputValue()).toBe("Ask @Zoe Zenith ");
  await page.keyboard.type("or @z");
  await expect.poll(() => options.allTextContents()).toEqual(["Zoe Zenith", "Zora"]);
  await page.keyboard.press("ArrowDown");
  const active = () => noteBox(page).getAttribute("aria-activedescendant");
  expect(await options.nth(1).getAttribute("id")).toBe(await active());
  await options.nth(1).click();
  expect(await noteBox(page).inputValue()).toBe("Ask @Zoe Zenith or @Zora ");
  await page.keyboard.type("about it");
  await page.keyboard.press("Control+Enter");
  await notesIn(page).getByText("about it").waitFor();
  const { notes } = await desk.api("GET", `/chats/${chat.id}/notes`);
  expect(notes[0]).toMatchObject({ content: "Ask @Zoe Zenith or @Zora about it", mentions: [zoe, zora] });
  expect(await notesIn(page).locator(".text b").allTextContents()).toEqual(["@Zoe Zenith", "@Zora"]);
  await page.context().close();
});

test("a note for members who may not read it, or for too many, stays in its box, and says for whom", async () => {
  const chat = await desk.chat("Nil Nobody");
  const names = Array.from({ length: 11 }, (_, n) => `Reader ${String.fromCharCode(65 + n)}`);
  const ids: string[] = [];
  for (const name of ["Gus Gone", ...names]) {
    const body = { name, permissions: AGENT };
    ids.push((await desk.operator("POST", `/organizations/${desk.organization.id}/members`, body)).member.id);
  }
  const page = await openAsMember(browser, desk, AGENT, screenOf(desk, `inbox/${chat.id}`));
  await messageBox(page).waitFor();
  await page.keyboard.press("w");
  await noteBox(page).pressSequentially("Ask @gus");
  await offered(page).click();
  await noteBox(page).pressSequentially("@reader a");
  await offered(page).click();
  // The page still has both.
  await desk.operator("DELETE", `/members/${ids[0]}`);
  await desk.operator("PATCH", `/members/${ids[1]}`, { permissions: ["chats:read"] });
  await page.keyboard.press("Control+Enter");
  await page.getByText("Gus Gone, Reader A can’t read notes.").waitFor();
  expect(await noteBox(page).inputValue()).toBe("Ask @Gus Gone @Reader A ");
  await noteBox(page).fill(names.map((name) => `@${name}`).join(" "));
  await page.keyboard.press("Control+Enter");
  await page.getByText(/^mentions: .*10/).waitFor();
  expect(await noteBox(page).inputValue()).toContain("@Reader K");
  expect((await stored(chat.id)).notes).toEqual([]);
  await page.context().close();
});

test("notes come and go on an open page, each behind the message after which it was written", async () => {
  const chat = await desk.chat("Liv Lines");
  await desk.writes(chat.address, "First");
  const note = await desk.api("POST", `/chats/${chat.id}/notes`, { content: "Between the two" });
  await desk.writes(chat.address, "Second");
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  await notesIn(page).getByText("Between the two").waitFor();
  const order = () => log(page).locator("article .text").allTextContents();
  expect(await order()).toEqual(["First", "Between the two", "Second"]);
  await desk.api("POST", `/chats/${chat.id}/notes`, { content: "By a colleague" });
  await notesIn(page).getByText("By a colleague").waitFor();
  await desk.api("DELETE", `/chats/${chat.id}/notes/${note.note.id}`);
  await notesIn(page).getByText("Between the two").waitFor({ state: "detached" });
  expect(await order()).toEqual(["First", "Second", "By a colleague"]);
  await notesIn(page).getByRole("button", { name: "Delete the note" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await notesIn(page).waitFor({ state: "detached" });
  expect((await stored(chat.id)).notes).toEqual([]);
  await page.context().close();
});

test("a note that is too long is not sent, and says by how much", async () => {
  const chat = await desk.chat("Lou Long");
  const page = await openConsole(browser, screenOf(desk, `inbox/${chat.id}`));
  await messageBox(page).waitFor();
  await page.keyboard.press("w");
  await noteBox(page).fill("x".repeat(4_097));
  await page.getByText("1 character too long").waitFor();
  expect(await page.getByRole("button", { name: "Add note" }).isDisabled()).toBe(true);
  await page.keyboard.press("Control+Enter");
  await noteBox(page).fill("x".repeat(4_096));
  await page.keyboard.press("Control+Enter");
  await expect.poll(async () => (await stored(chat.id)).notes.map(({ length }: string) => length)).toEqual([4_096]);
  await page.context().close();
});

test("a reply that is begun while a note is written takes the keys, and the note stays", async () => {
  const chat = await desk.chat("Rea Reply");
  await desk.writes(chat.address, "Which size?");
  const page = await openAsMember(browser, desk, AGENT, screenOf(desk, `inbox/${chat.id}`));
  await log(page).getByText("Which size?").waitFor();
  await page.keyboard.press("w");
  await noteBox(page).fill("She asked twice");
  await log(page).getByText("Which size?").hover();
  await log(page).getByRole("button", { name: "React or reply" }).click();
  await log(page).getByRole("button", { name: "Reply", exact: true }).click();
  await page.keyboard.type("Medium");
  expect(await messageBox(page).inputValue()).toBe("Medium");
  // The key leads back to the note, and to its box also when that is open and another place has the focus.
  await messageBox(page).press("Escape");
  await messageBox(page).press("Escape");
  await page.keyboard.press("w");
  await noteBox(page).waitFor();
  await noteBox(page).evaluate((box) => box.blur());
  await page.keyboard.press("w");
  await page.keyboard.type("!");
  expect(await noteBox(page).inputValue()).toBe("She asked twice!");
  expect(await stored(chat.id)).toEqual({ messages: ["Which size?"], notes: [] });
  await page.context().close();
});
