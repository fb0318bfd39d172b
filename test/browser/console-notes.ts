import type { Page } from "playwright-core";
import { PRESETS } from "../../src/model/permission.ts";
import type { Desk } from "./console.ts";
import { hasFocus, log, openChatAsMember } from "./console-conversation.ts";

export const AGENT = [...PRESETS.agent];
export const noteBox = (page: Page) => page.getByLabel("Note, seen by your team only");
export const notesIn = (page: Page) => log(page).locator(".note-line");

/** What the service has of a chat, newest first. */
export async function stored(desk: Desk, chatId: string) {
  const { messages } = await desk.api("GET", `/chats/${chatId}/messages`);
  const { notes } = await desk.api("GET", `/chats/${chatId}/notes`);
  return {
    messages: messages.map(({ text }: { text: string }) => text),
    notes: notes.map(({ content }: { content: string }) => content),
  };
}

/** An agent’s page of a new chat. */
export async function openAgent(desk: Desk, contact: string, agent = "Mel") {
  const chat = await desk.chat(contact);
  return { chat, page: await openChatAsMember(desk, chat.id, AGENT, agent) };
}

/** The same, with the box of a note open and in focus. */
export async function openNote(desk: Desk, contact: string, agent?: string) {
  const { chat, page } = await openAgent(desk, contact, agent);
  await page.keyboard.press("w");
  await hasFocus(page, noteBox(page));
  return { chat, page };
}
