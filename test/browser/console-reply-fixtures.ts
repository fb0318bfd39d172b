import type { Page } from "playwright-core";
import type { Desk } from "./console.ts";
import { messageBox, openChat } from "./console-conversation.ts";

export const picker = (page: Page) => page.getByRole("dialog", { name: "Saved replies" });
export const search = (page: Page) => picker(page).getByRole("combobox", { name: "Find a saved reply" });
export const options = (page: Page) => picker(page).getByRole("option");
/** What asks about a placeholder that nobody filled. */
export const notice = (page: Page) => page.getByRole("alert").filter({ hasText: "is not filled in" });
export const isClosed = (page: Page) => picker(page).waitFor({ state: "detached" });

/** Opens the page of a new chat, and its composer with a text and a caret, or a selection, in it. */
export function textOpener(desk: Desk) {
  return async (name: string, text: string, from = text.length, to = from) => {
    const chat = await desk.chat(name);
    const page = await openChat(desk, chat.id);
    await setText(page, text, from, to);
    return { chat, page };
  };
}

async function setText(page: Page, text: string, from: number, to: number): Promise<void> {
  await messageBox(page).fill(text);
  await messageBox(page).evaluate(
    (box: HTMLTextAreaElement, at) => box.setSelectionRange(at[0] ?? 0, at[1] ?? 0),
    [from, to],
  );
}

/** What is selected in the composer, and what stands before it. */
export const selection = (page: Page) =>
  messageBox(page).evaluate(({ value, selectionStart, selectionEnd }: HTMLTextAreaElement) => [
    value.slice(0, selectionStart),
    value.slice(selectionStart, selectionEnd),
  ]);

export async function openPicker(page: Page): Promise<void> {
  await messageBox(page).press("Control+/");
  await options(page).first().waitFor();
}

/** Puts the reply with this name in, by the keyboard. */
export async function putIn(page: Page, name: string): Promise<void> {
  await openPicker(page);
  await page.keyboard.type(name);
  await options(page).first().getByText(name, { exact: true }).waitFor();
  await page.keyboard.press("Enter");
  await isClosed(page);
}
