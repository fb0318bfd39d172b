import type { Route } from "playwright-core";
import { describe, expect, test } from "vitest";
import { type Desk, openDesk, withUndo } from "./console.ts";
import { hasFocus, log, messageBox, messagesOf, openChat } from "./console-conversation.ts";
import {
  isClosed,
  notice,
  openPicker,
  options,
  picker,
  putIn,
  search,
  selection,
  textOpener,
} from "./console-reply-fixtures.ts";
import { holdUp, intercept, takeOver } from "./disturb.ts";
import { layoutFaults } from "./layout-faults.ts";
import { violations } from "./violations.ts";

const HEBREW = "אישור הזמנה";

const desk = await openDesk();
const save = (body: { name: string; shortcut?: string; content: string }, of: Desk = desk) =>
  of.api("POST", "/replies", body);
await save({ name: "Where is it", shortcut: "where", content: "Hello {{contact.name}}, {{metadata.order|it}} left." });
await save({ name: "Nowhere", content: "We don’t deliver there." });
await save({ name: "Refund", content: "We refund {{metadata.amount}} to {{metadata.account}}." });
await save({ name: "Bye", content: "Bye {{contact.name|and thank you}}. {{member.name}}" });
await save({ name: HEBREW, content: "שלום {{contact.name}}" });

const openText = textOpener(desk);

test("a reply is found by its shortcut, filled in and sent by the keyboard alone, as an ordinary message", async () => {
  const { chat, page } = await openText("Tom Toast", "");
  await desk.api("PATCH", `/chats/${chat.id}`, { metadata: { order: "A-17" } });
  await page.reload();
  await messageBox(page).press("/");
  await hasFocus(page, search(page));
  await page.keyboard.type("where");
  await options(page).nth(0).getByText("Hello Tom Toast, A-17 left.").waitFor();
  await page.keyboard.press("Enter");
  await expect.poll(() => messageBox(page).inputValue()).toBe("Hello Tom Toast, A-17 left.");
  await page.keyboard.type(" Bye!");
  await page.keyboard.press("Control+Enter");
  await log(page).getByText("Hello Tom Toast, A-17 left. Bye!").waitFor();
  await expect
    .poll(() => messagesOf(desk, chat.id))
    .toMatchObject([{ type: "TEXT", text: "Hello Tom Toast, A-17 left. Bye!" }]);
});

test("a reply stands at the caret, with the caret behind it, and the browser’s own keys take it back", async () => {
  const { page } = await openText("Cara Caret", "Good morning.  Bye", 14);
  await putIn(page, "Nowhere");
  await expect.poll(() => messageBox(page).inputValue()).toBe("Good morning. We don’t deliver there. Bye");
  expect(await selection(page)).toEqual(["Good morning. We don’t deliver there.", ""]);
  await page.keyboard.press("Control+z");
  await expect.poll(() => messageBox(page).inputValue()).toBe("Good morning.  Bye");
});

test("a reply takes the place of what is selected", async () => {
  const { page } = await openText("Sela Select", "Yes. OLD! Bye", 5, 9);
  await putIn(page, "Nowhere");
  await expect.poll(() => messageBox(page).inputValue()).toBe("Yes. We don’t deliver there. Bye");
});

test("Escape gives the keys, the caret and the selection back to the text", async () => {
  const { page } = await openText("Esra Escape", "Good morning", 5, 8);
  await openPicker(page);
  await page.keyboard.press("Escape");
  await hasFocus(page, messageBox(page));
  expect(await selection(page)).toEqual(["Good ", "mor"]);
});

test("a slash within a text is a slash", async () => {
  const { page } = await openText("Sina Slash", "1");
  await page.keyboard.type("/2");
  await expect.poll(() => messageBox(page).inputValue()).toBe("1/2");
  await expect.poll(() => picker(page).count()).toBe(0);
});

test("the mouse opens the replies and puts one in, and the text has the keys", async () => {
  const { page } = await openText("Mona Mouse", "");
  // Its sender is known.
  await page.locator(".composer select option").first().waitFor({ state: "attached" });
  await page.getByRole("button", { name: "Saved replies" }).click();
  await options(page).filter({ hasText: "Bye" }).click();
  await expect.poll(() => messageBox(page).inputValue()).toBe("Bye Mona Mouse. Ann");
  await hasFocus(page, messageBox(page));
  await page.keyboard.type("?");
  await expect.poll(() => messageBox(page).inputValue()).toBe("Bye Mona Mouse. Ann?");
});

test("the palette opens the replies too, and what one puts in has the keys", async () => {
  const { page } = await openText("Pal Palette", "");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Find a screen, a contact or an action" }).waitFor();
  await page.keyboard.type("saved reply");
  await page.getByRole("option", { name: /Put in a saved reply/ }).waitFor();
  await page.keyboard.press("Enter");
  await options(page).first().waitFor();
  await page.keyboard.type("nowhere");
  await options(page).first().getByText("Nowhere").waitFor();
  await page.keyboard.press("Enter");
  await expect.poll(() => messageBox(page).inputValue()).toBe("We don’t deliver there.");
  await hasFocus(page, messageBox(page));
});

test("a reply that was sent can be undone like any message", async () => {
  const chat = await desk.chat("Una Undo");
  const page = await openChat(desk, chat.id, withUndo());
  await putIn(page, "Nowhere");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("button", { name: "Undo (Esc)" }).waitFor();
  await page.keyboard.press("Escape");
  await expect.poll(() => messageBox(page).inputValue()).toBe("We don’t deliver there.");
  expect(await messagesOf(desk, chat.id)).toEqual([]);
});

test("the last entry leads to the templates, whose Escape gives the keys back to the text", async () => {
  const { page } = await openText("Tia Template", "");
  await openPicker(page);
  await page.keyboard.press("ArrowUp");
  await picker(page).getByRole("option", { name: "Templates…", selected: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Templates" }).getByText("No template yet").waitFor();
  await page.keyboard.press("Escape");
  await hasFocus(page, messageBox(page));
});

test("the arrow keys go through the replies, and around", async () => {
  const { page } = await openText("Aro Arrows", "");
  await openPicker(page);
  const names = () => picker(page).locator("[aria-selected=true] strong").allTextContents();
  await expect.poll(names).toEqual(["Bye"]);
  await page.keyboard.press("ArrowDown");
  await expect.poll(names).toEqual(["Nowhere"]);
  for (const key of ["ArrowUp", "ArrowUp", "ArrowDown"]) await page.keyboard.press(key);
  await expect.poll(names).toEqual(["Bye"]);
});

test("a note takes no saved reply, and a dialog is not replaced by them", async () => {
  const { page } = await openText("Nora Note", "");
  await page.keyboard.press("Escape");
  await page.keyboard.press("t");
  const templates = page.getByRole("dialog", { name: "Templates" });
  await templates.getByText("No template yet").waitFor();
  await page.keyboard.press("Control+/");
  await expect.poll(() => page.getByRole("dialog").getByRole("heading").first().textContent()).toBe("Templates");
  await page.keyboard.press("Escape");
  await templates.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Write a note" }).click();
  await page.getByRole("textbox", { name: /Note/ }).press("Control+/");
  await page.keyboard.type("@");
  await page.getByRole("listbox", { name: "Members" }).waitFor();
  await expect.poll(() => picker(page).count()).toBe(0);
});

test("on a slow network the picker is there at once, says that it loads, and keeps what is typed", async () => {
  const { page } = await openText("Slo Slow", "");
  const go = await holdUp(page, /\/replies\?/);
  await messageBox(page).press("/");
  await picker(page).getByText("Loading").waitFor({ state: "attached" });
  await hasFocus(page, search(page));
  await page.keyboard.type("nowh");
  // There is nothing to choose yet.
  await page.keyboard.press("Enter");
  await expect.poll(() => options(page).count()).toBe(0);
  go();
  await options(page).first().getByText("Nowhere").waitFor();
  await page.keyboard.press("Enter");
  await expect.poll(() => messageBox(page).inputValue()).toBe("We don’t deliver there.");
});

test("what is typed before the picker’s code is there is for its search", async () => {
  const chat = await desk.chat("Cody Code");
  const page = await openChat(desk, chat.id);
  const go = await holdUp(page, /\/screens-\w+\.js/);
  await page.reload();
  await messageBox(page).press("/");
  await picker(page).getByText("Loading").waitFor({ state: "attached" });
  await page.keyboard.type("nowh");
  go();
  await options(page).first().getByText("Nowhere").waitFor();
  await expect.poll(() => search(page).inputValue()).toBe("nowh");
  await hasFocus(page, search(page));
});

test("a load that failed says why, and is repeated without a click", async () => {
  const { page } = await openText("Fae Failed", "");
  const giveBack = await takeOver(page, /\/replies\?/, (route: Route) =>
    route.fulfill({ status: 503, json: { code: "unavailable", error: "The list is away" } }),
  );
  await messageBox(page).press("/");
  await picker(page).getByRole("alert").getByText("The list is away").waitFor();
  await picker(page).getByRole("button", { name: "Try again" }).waitFor();
  giveBack();
  await options(page).filter({ hasText: "Nowhere" }).waitFor();
  await expect.poll(() => picker(page).getByRole("alert").count()).toBe(0);
});

test("the replies that are known are there at once the next time, and what others changed follows", async () => {
  const own = await openDesk("Known");
  await save({ name: "First", content: "One" }, own);
  const chat = await own.chat("Kim Known");
  const page = await openChat(own, chat.id);
  await openPicker(page);
  await page.keyboard.press("Escape");
  await isClosed(page);
  await save({ name: "Second", content: "Two" }, own);
  const go = await holdUp(page, /\/replies\?/);
  await openPicker(page);
  await expect.poll(() => picker(page).locator("strong").allTextContents()).toEqual(["First"]);
  go();
  await options(page).filter({ hasText: "Second" }).waitFor();
});

test("a reply that is deleted while the picker is open: another one that is marked stays so, and the next time it is gone", async () => {
  const own = await openDesk("Deleted");
  const { reply } = await save({ name: "Alpha", content: "A" }, own);
  await save({ name: "Beta", content: "B" }, own);
  const chat = await own.chat("Dee Deleted");
  const page = await openChat(own, chat.id);
  await openPicker(page);
  await page.keyboard.press("Escape");
  await isClosed(page);
  const go = await holdUp(page, /\/replies\?/);
  await openPicker(page);
  await page.keyboard.press("ArrowDown");
  await picker(page).getByRole("option", { name: /Beta/, selected: true }).waitFor();
  await own.api("DELETE", `/replies/${reply.id}`);
  go();
  await options(page).filter({ hasText: "Alpha" }).waitFor({ state: "detached" });
  await page.keyboard.press("Enter");
  await expect.poll(() => messageBox(page).inputValue()).toBe("B");
});

test("a reply that was deleted since the list was loaded can still be put in", async () => {
  const own = await openDesk("Late");
  const { reply } = await save({ name: "Alpha", content: "A" }, own);
  const chat = await own.chat("Lou Late");
  const page = await openChat(own, chat.id);
  await openPicker(page);
  await own.api("DELETE", `/replies/${reply.id}`);
  await page.keyboard.press("Enter");
  await expect.poll(() => messageBox(page).inputValue()).toBe("A");
  await openPicker(page);
  await picker(page).getByText("There is no saved reply yet.").waitFor();
});

test("all 1,000 replies are found, page by page", async () => {
  const { page } = await openText("Max Many", "");
  const asked: string[] = [];
  await intercept(page, /\/replies\?/, async (route) => {
    const after = Number(new URL(route.request().url()).searchParams.get("after") ?? 0);
    asked.push(String(after));
    const replies = Array.from({ length: 100 }, (_, n) => {
      const name = `Reply ${after + n + 1}`;
      const id = `rpl_g${String(after + n).padStart(15, "0")}`;
      return { id, name, shortcut: null, content: name, updatedAt: new Date().toISOString(), createdBy: "operator" };
    });
    const hasMore = after < 900;
    await route.fulfill({
      json: { replies, pagination: { limit: 100, hasMore, cursor: hasMore ? String(after + 100) : null } },
    });
  });
  await messageBox(page).press("/");
  await picker(page).getByText("50 of 1,000 are shown. Type to find the others.").waitFor();
  expect(asked).toEqual(Array.from({ length: 10 }, (_, n) => String(100 * n)));
  expect(await violations(page)).toEqual([]);
  await page.keyboard.type("reply 1000");
  await options(page).first().getByText("Reply 1000").first().waitFor();
  await page.keyboard.press("Enter");
  await expect.poll(() => messageBox(page).inputValue()).toBe("Reply 1000");
});

describe.each([390, 1280])("at %i px", (width) => {
  test.each(["light", "dark"] as const)(
    "the picker is accessible and nothing of it is cut: %s",
    async (colorScheme) => {
      const chat = await desk.chat("Axel Axe");
      const page = await openChat(desk, chat.id, { viewport: { width, height: 800 }, colorScheme });
      await openPicker(page);
      expect(await violations(page)).toEqual([]);
      expect(await layoutFaults(page)).toEqual([]);
      await page.keyboard.press("Escape");
      await messageBox(page).fill("{{metadata.account}}");
      await messageBox(page).press("Control+Enter");
      await notice(page).waitFor();
      expect(await violations(page)).toEqual([]);
      expect(await layoutFaults(page)).toEqual([]);
    },
  );

  test("a name that runs from right to left begins where the others do", async () => {
    const chat = await desk.chat("שרה");
    const page = await openChat(desk, chat.id, { viewport: { width, height: 800 } });
    await openPicker(page);
    await options(page).filter({ hasText: "שלום שרה" }).waitFor();
    const starts = await picker(page)
      .locator("strong")
      .evaluateAll((names) =>
        names.map((name) => {
          const range = document.createRange();
          range.selectNodeContents(name);
          return Math.round(range.getBoundingClientRect().left);
        }),
      );
    expect(new Set(starts).size).toBe(1);
  });
});
