import { toDigits } from "./id.ts";

/** A list of values as opaque text: base64url of its JSON. Clients pass such a text back unread. */
export function writeOpaque(values: readonly unknown[]): string {
  const bytes = new TextEncoder().encode(JSON.stringify(values));
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** A short hash (FNV-1a) of values, as JSON. It protects from mistakes alone. */
export function shortHashOf(values: readonly unknown[]): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(JSON.stringify(values))) hash = Math.imul(hash ^ byte, 0x01000193);
  return toDigits(hash >>> 0);
}

/** A place in a list of one owner, an organization or a chat, as a cursor. It is not signed, and must grant nothing. */
export function writeListCursor(ownerId: string, place: readonly unknown[]): string {
  return writeOpaque([endOf(ownerId), ...place]);
}

/** The place in a cursor of `writeListCursor`. Empty for one of another owner, or with another number of values. */
export function readListCursor(ownerId: string, cursor: string, count: number): unknown[] {
  const [owner, ...place] = readOpaque(cursor, count + 1);
  return owner === endOf(ownerId) ? place : [];
}

/** Enough of an id to refuse a cursor that was copied from the list of another owner. */
function endOf(ownerId: string): string {
  return ownerId.slice(-6);
}

/** The values of an opaque text. Empty if `writeOpaque` did not write the text, or with another number of values. */
export function readOpaque(text: string, count: number): unknown[] {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(text, { alphabet: "base64url" })));
    // Base64 and JSON have many texts for the same value. Only the one that `writeOpaque` writes is accepted.
    const isOurs = Array.isArray(value) && value.length === count && writeOpaque(value) === text;
    return isOurs ? value : [];
  } catch {
    return [];
  }
}
