import { isId } from "../model/id.ts";
import { readOpaque, shortHashOf, writeOpaque } from "../model/opaque.ts";
import type { Candidate } from "../model/search-index.ts";

/**
 * A place in the results of a search as the cursor that the API shows. It names no index, so it outlives them. It is not
 * signed: a forged one only continues the caller's own search elsewhere.
 */
export function writeResultsCursor(search: readonly unknown[], { at, chatId, seq }: Candidate): string {
  return writeOpaque([shortHashOf(search), at, chatId, seq]);
}

/** The place in a cursor; null if it is not one of this search. @param search everything that selects the results */
export function readResultsCursor(search: readonly unknown[], cursor: string): Candidate | null {
  const [name, at, chatId, seq] = readOpaque(cursor, 4);
  const isPlace = Number.isSafeInteger(at) && Number.isSafeInteger(seq) && typeof chatId === "string";
  if (name !== shortHashOf(search) || !isPlace || !isId("cht", chatId)) return null;
  return { at: at as number, chatId, seq: seq as number };
}
