import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { type Desk, openDesk } from "./console.ts";
import { AGENT, noteBox, notesIn, openNote, stored } from "./console-notes.ts";

let desk: Desk;
let zoe: string;
let zora: string;

const offered = (page: Page) => page.getByRole("listbox", { name: "Members" }).getByRole("option");
const offers = (page: Page, names: string[]) => expect.poll(() => offered(page).allTextContents()).toEqual(names);
const reads = (page: Page, text: string) => expect.poll(() => noteBox(page).inputValue()).toBe(text);

async function addMember(name: string, permissions: readonly string[] = AGENT): Promise<string> {
  const body = { name, permissions: [...permissions] };
  return (await desk.operator("POST", `/organizations/${desk.organization.id}/members`, body)).member.id;
}

beforeAll(async () => {
  desk = await openDesk();
  // No test changes these members.
  zoe = await addMember("Zoe Zenith");
  zora = await addMember("Zora");
  await addMember("Zed Zero", ["chats:read"]);
});

test("an @ in a note offers the members of whose names a word begins so", async () => {
  const { page } = await openNote(desk, "Mia Mentioned");
  await noteBox(page).pressSequentially("Ask @zen");
  await offers(page, ["Zoe Zenith"]);
});

test("an @ in a note offers nobody who may not read notes", async () => {
  const { page } = await openNote(desk, "Moa Mentioned");
  await noteBox(page).pressSequentially("Ask @z");
  await offers(page, ["Zoe Zenith", "Zora"]);
});

test("an @ in a note takes the first name by Enter", async () => {
  const { page } = await openNote(desk, "Max Mentioned");
  await noteBox(page).pressSequentially("Ask @zen");
  await offers(page, ["Zoe Zenith"]);
  await noteBox(page).press("Enter");
  await reads(page, "Ask @Zoe Zenith ");
});

test("an @ in a note leads to the next name by the arrow", async () => {
  const { page } = await openNote(desk, "Mio Mentioned");
  await noteBox(page).pressSequentially("Ask @z");
  await offers(page, ["Zoe Zenith", "Zora"]);
  await noteBox(page).press("ArrowDown");
  const second = (await offered(page).nth(1).getAttribute("id")) ?? "none";
  await expect.poll(() => noteBox(page).getAttribute("aria-activedescendant")).toBe(second);
});

test("an @ in a note takes a name by a click, behind what was written before", async () => {
  const { page } = await openNote(desk, "Mo Mentioned");
  await noteBox(page).pressSequentially("Ask @zen");
  await offers(page, ["Zoe Zenith"]);
  await noteBox(page).press("Enter");
  await page.keyboard.type("or @z");
  await offers(page, ["Zoe Zenith", "Zora"]);
  await offered(page).nth(1).click();
  await reads(page, "Ask @Zoe Zenith or @Zora ");
});

/** A page with a note that mentions two members. */
async function mentionBoth(contact: string) {
  const { chat, page } = await openNote(desk, contact);
  await noteBox(page).pressSequentially("Ask @zen");
  await offers(page, ["Zoe Zenith"]);
  await noteBox(page).press("Enter");
  await page.keyboard.type("or @zora");
  await offers(page, ["Zora"]);
  await offered(page).click();
  await reads(page, "Ask @Zoe Zenith or @Zora ");
  await page.keyboard.type("about it");
  await noteBox(page).press("Control+Enter");
  await notesIn(page).getByText("about it").waitFor();
  return { chat, page };
}

test("an @ in a note is stored with whom it mentions", async () => {
  const { chat } = await mentionBoth("Mel Mentioned");
  const { notes } = await desk.api("GET", `/chats/${chat.id}/notes`);
  expect(notes[0]).toMatchObject({ content: "Ask @Zoe Zenith or @Zora about it", mentions: [zoe, zora] });
});

test("an @ in a note stands out in the note that was added", async () => {
  const { page } = await mentionBoth("Mae Mentioned");
  await expect.poll(() => notesIn(page).locator(".text b").allTextContents()).toEqual(["@Zoe Zenith", "@Zora"]);
});

test("an @ in a note leaves the note in its box if members may no longer read it, and says who", async () => {
  const [gus, ned] = [await addMember("Gus Gone"), await addMember("Ned Noread")];
  const { chat, page } = await openNote(desk, "Nil Nobody");
  await noteBox(page).pressSequentially("Ask @gus");
  await offered(page).click();
  await noteBox(page).pressSequentially("@ned");
  await offered(page).click();
  await reads(page, "Ask @Gus Gone @Ned Noread ");
  // The page still has both.
  await desk.operator("DELETE", `/members/${gus}`);
  await desk.operator("PATCH", `/members/${ned}`, { permissions: ["chats:read"] });
  await noteBox(page).press("Control+Enter");
  await page.getByText("Gus Gone, Ned Noread can’t read notes.").waitFor();
  await expect.poll(() => noteBox(page).inputValue()).toBe("Ask @Gus Gone @Ned Noread ");
  expect((await stored(desk, chat.id)).notes).toEqual([]);
});

test("an @ in a note leaves the note in its box if it mentions too many members, and says so", async () => {
  const names = Array.from({ length: 11 }, (_, n) => `Reader ${String.fromCharCode(65 + n)}`);
  for (const name of names) await addMember(name);
  const { chat, page } = await openNote(desk, "Nell Nobody");
  // The page knows the members once it offers them.
  await noteBox(page).pressSequentially("@reader");
  await offered(page).first().waitFor();
  await noteBox(page).fill(names.map((name) => `@${name}`).join(" "));
  await noteBox(page).press("Control+Enter");
  await page.getByText(/^mentions: .*10/).waitFor();
  await expect.poll(() => noteBox(page).inputValue()).toContain("@Reader K");
  expect((await stored(desk, chat.id)).notes).toEqual([]);
});
