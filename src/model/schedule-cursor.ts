import type { Due } from "./chat-calls.ts";
import { fromBase62, toDigits } from "./id.ts";

const CURSOR = /^([1-9A-Za-z][0-9A-Za-z]{0,7})_([1-9A-Za-z][0-9A-Za-z]{0,5})_([0-9A-Za-z]+)$/;

/** A position in a chat's list of scheduled messages. It stays valid after its message moved or took its place. */
export function scheduleCursor(chatId: string, { dueAt, turn }: Due): string {
  return `${toDigits(dueAt)}_${toDigits(turn)}_${chatId.replace("cht_", "")}`;
}

/** The position of a cursor; null if the text is not a cursor of this chat's list. */
export function parseScheduleCursor(chatId: string, text: string): Due | null {
  const [, dueAt, turn, owner] = CURSOR.exec(text) ?? [];
  if (!dueAt || !turn || chatId !== `cht_${owner}`) return null;
  return { dueAt: fromBase62(dueAt), turn: fromBase62(turn) };
}
