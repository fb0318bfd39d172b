import { type ContactCard, isEmoji, type Location, type Tap } from "../../model/content.ts";
import { MAX_CARD_NAME, MAX_CARDS, MAX_PHONE, MAX_PHONES, MAX_PLACE_TEXT } from "../../model/content-schema.ts";
import { isPlainFileName, MAX_FILE_NAME } from "../../model/file.ts";
import type { ReceivedMarks } from "../../model/received.ts";

/** What networks report of a contact's message, within the API's limits. A value of another type counts as absent. */

/** Longer than any emoji that apps offer. */
const MAX_EMOJI = 32;
/** A pictograph that is text by default, without the selector that makes it an emoji. */
const BARE_PICTOGRAPH = /(?!\p{Emoji_Presentation})\p{Extended_Pictographic}(?![\uFE0F\p{Emoji_Modifier}])/gu;
const MAX_TAP = 256;
const MAX_TERM = 256;
/** Network times are in seconds. An earlier value is not a time. */
const FIRST_SECOND = 1_000_000_000;
/** A value further ahead is not a time: nothing later would ever count. */
const MAX_AHEAD_MS = 86_400_000;

/** A text as one line of at most `max` UTF-16 units; undefined if nothing is left. */
export function lineOf(value: unknown, max: number): string | undefined {
  if (typeof value !== "string") return undefined;
  const line = value.replace(/\p{Cc}+/gu, " ").trim();
  return line.slice(0, max).toWellFormed().trim() || undefined;
}

/**
 * A file's name as uploads accept it: what follows the last slash, without characters that change how others are shown.
 * @returns null if nothing is left
 */
export function receivedFileName(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const name = value.slice(Math.max(value.lastIndexOf("/"), value.lastIndexOf("\\")) + 1);
  const line = lineOf(name.replace(/[\p{Bidi_Control}\u2028\u2029]/gu, ""), MAX_FILE_NAME);
  return line !== undefined && isPlainFileName(line) ? line : null;
}

/** A location; undefined without valid coordinates, which may come as text. */
export function receivedLocation(place: {
  latitude?: unknown;
  longitude?: unknown;
  name?: unknown;
  address?: unknown;
}): Location | undefined {
  const [latitude, longitude] = [degrees(place.latitude, 90), degrees(place.longitude, 180)];
  if (latitude === null || longitude === null) return undefined;
  const [name, address] = [lineOf(place.name, MAX_PLACE_TEXT), lineOf(place.address, MAX_PLACE_TEXT)];
  return { latitude, longitude, ...(name && { name }), ...(address && { address }) };
}

function degrees(value: unknown, max: number): number | null {
  const isNumber = typeof value === "number" || (typeof value === "string" && /^-?\d{1,3}(\.\d{1,20})?$/.test(value));
  return isNumber && Math.abs(Number(value)) <= max ? Number(value) : null;
}

/** The cards that have a phone number, at most 5; undefined if none has. A card without a name has its number. */
export function receivedCards(cards: { name: unknown; phones: unknown[] }[]): ContactCard[] | undefined {
  const found: ContactCard[] = [];
  for (const { name, phones: given } of cards) {
    const lines = given.map((phone) => lineOf(phone, MAX_PHONE)).filter((phone) => phone !== undefined);
    const [first] = lines;
    if (first === undefined) continue;
    found.push({ name: lineOf(name, MAX_CARD_NAME) ?? first, phones: lines.slice(0, MAX_PHONES) });
    if (found.length === MAX_CARDS) break;
  }
  return found.length > 0 ? found : undefined;
}

/** The tap on a choice; undefined without its data. */
export function receivedTap(data: unknown, title: unknown): Tap | undefined {
  if (typeof data !== "string") return undefined;
  return { data: data.slice(0, MAX_TAP).toWellFormed(), title: lineOf(title, MAX_TAP) ?? "" };
}

/** An emoji; null if there is none, or if it is too long to be one. */
export function receivedEmoji(value: unknown): string | null {
  if (typeof value !== "string" || value.length > MAX_EMOJI) return null;
  const emoji = lineOf(value, MAX_EMOJI);
  if (emoji === undefined) return null;
  // Some networks leave the variation selectors out, and a client must be able to send back what it read.
  const whole = emoji.replace(BARE_PICTOGRAPH, "$&\uFE0F");
  return isEmoji(whole) ? whole : emoji;
}

/** A time in Unix milliseconds from one in seconds, which may come as text; the time now if it is not valid. */
export function receivedAt(value: unknown): number {
  return timeIn(value) ?? Date.now();
}

/** The same as RFC 3339, in a field of its own; nothing if it is not valid. */
export function receivedTime(value: unknown): ReceivedMarks {
  const at = timeIn(value);
  return at === null ? {} : { networkTime: new Date(at).toISOString() };
}

function timeIn(value: unknown): number | null {
  const seconds = typeof value === "string" && /^\d{10}$/.test(value) ? Number(value) : value;
  const isTime = Number.isInteger(seconds) && Number(seconds) >= FIRST_SECOND;
  return isTime && Number(seconds) * 1_000 <= Date.now() + MAX_AHEAD_MS ? Number(seconds) * 1_000 : null;
}

/** A short text or a number, as text; null if there is none. */
export function receivedTerm(value: unknown, max = MAX_TERM): string | null {
  const isTerm = typeof value === "string" || Number.isFinite(value);
  return isTerm ? String(value).slice(0, max).toWellFormed() || null : null;
}

/** A decimal number as text, such as a price; null for anything else. */
export function receivedDecimal(value: unknown): string | null {
  const text = receivedTerm(value)?.trim() ?? "";
  return /^-?\d{1,20}(\.\d{1,20})?$/.test(text) ? text : null;
}
