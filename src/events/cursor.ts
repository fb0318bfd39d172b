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

/** A cursor as text: base64url of JSON. */
export function writeCursor({ life, position, offset }: Cursor): string {
  const bytes = new TextEncoder().encode(JSON.stringify([VERSION, life, position, offset]));
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Reads a cursor. @returns null if `writeCursor` did not write the text */
export function readCursor(text: string): Cursor | null {
  if (text.length > MAX_CURSOR) return null;
  const [version, life, position, offset] = listIn(text);
  if (version !== VERSION || typeof life !== "string" || !isCount(position) || !isCount(offset)) return null;
  const cursor = { life, position, offset };
  // Base64 and JSON have many texts for the same value. Only ours is accepted.
  return position > 0 && writeCursor(cursor) === text ? cursor : null;
}

function listIn(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(text, { alphabet: "base64url" })));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
