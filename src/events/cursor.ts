import { readOpaque, writeOpaque } from "../model/opaque.ts";

/**
 * A place in an organization's feed, between two events. The feed is a list of bursts, each with a position: 1, 2, 3 …
 * Clients get a cursor as opaque text.
 */
export interface Cursor {
  /** The feed's life. A feed that was deleted or restored has another one. */
  life: string;
  /** The position of the next burst to read. */
  position: number;
  /** How many events of that burst were read. */
  offset: number;
}

const VERSION = 1;
/** In characters. */
export const MAX_CURSOR = 128;

export function writeCursor({ life, position, offset }: Cursor): string {
  return writeOpaque([VERSION, life, position, offset]);
}

/** Reads a cursor. @returns null if `writeCursor` did not write the text */
export function readCursor(text: string): Cursor | null {
  if (text.length > MAX_CURSOR) return null;
  const [version, life, position, offset] = readOpaque(text, 4);
  if (version !== VERSION || typeof life !== "string" || !isCount(position) || !isCount(offset)) return null;
  return position > 0 ? { life, position, offset } : null;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
