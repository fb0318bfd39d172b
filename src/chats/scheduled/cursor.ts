import { fromBase62, toDigits } from "../../ids.ts";
import type { Due } from "./decisions.ts";

const CURSOR = /^([1-9A-Za-z][0-9A-Za-z]{0,7})_([1-9A-Za-z][0-9A-Za-z]{0,5})$/;

/** A position in the list of scheduled messages. It stays valid after its message moved or took its place. */
export function scheduleCursor({ dueAt, turn }: Due): string {
  return `${toDigits(dueAt)}_${toDigits(turn)}`;
}

/** The position of a cursor; null if the text is no cursor. */
export function parseScheduleCursor(text: string): Due | null {
  const [, dueAt, turn] = CURSOR.exec(text) ?? [];
  return dueAt && turn ? { dueAt: fromBase62(dueAt), turn: fromBase62(turn) } : null;
}
