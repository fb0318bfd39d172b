import type { CandidatesAsked, IndexChange, IndexedMessage } from "../../model/search-index.ts";

/** Units of a gram. */
const GRAM = 3;
/** Follows the last unit of a text: so its last two units begin a gram, too. */
const PAD = "\uffff";
/** More are not needed to find few messages, and each costs time: 64 common ones take about 40 ms in a full table. */
const MAX_ASKED = 64;

/**
 * The words that FTS5 stores for a message: its direction, its channel and its grams. A gram is three UTF-16 units of the
 * text in a row, so that any part of the text is found, in any script. No gram has ASCII, so none is like another word.
 * @param text as `folded` returns it
 */
export function storedWords(
  message: Pick<IndexChange, "channelId"> & Pick<IndexedMessage, "direction" | "text">,
): string {
  const { channelId, direction, text } = message;
  return [direction, channelWord(channelId), ...gramsOf(opaque(text) + PAD)].join(" ");
}

/** How much of a table's room each gram takes that begins with the same two units: a search for these reads all of them. */
const ALIKE_WEIGHT = 12;

/**
 * How much of a table's room a message takes. It is the number of its grams, unless most of them begin alike.
 * @param words as `storedWords` returns them
 */
export function weightOf(words: string): number {
  const grams = words.split(" ").slice(2);
  const alike = new Map<string, number>();
  for (const gram of grams) alike.set(gram.slice(0, 2), (alike.get(gram.slice(0, 2)) ?? 0) + 1);
  return Math.max(grams.length, ALIKE_WEIGHT * Math.max(...alike.values()));
}

/**
 * The query of FTS5 for messages that may contain a text. All of them have its grams, but perhaps in other places.
 * @param asked.search at least two units, as `folded` returns it
 */
export function queryOf({
  search,
  channelId,
  direction,
}: Pick<CandidatesAsked, "search" | "channelId" | "direction">): string {
  const words: string[] = [];
  if (direction !== null) words.push(`"${direction}"`);
  if (channelId !== null) words.push(`"${channelWord(channelId)}"`);
  const moved = opaque(search);
  if (moved.length < GRAM) words.push(`"${moved}"*`);
  else words.push(...someOf([...gramsOf(moved)]).map((gram) => `"${gram}"`));
  return words.join(" ");
}

function gramsOf(moved: string): Set<string> {
  const grams = new Set<string>();
  for (let at = 0; at + GRAM <= moved.length; at++) grams.add(moved.slice(at, at + GRAM));
  return grams;
}

/** The tokenizer makes no difference between `a` and `A`, and ids do. */
function channelWord(channelId: string): string {
  return `c${opaque(channelId)}`;
}

/**
 * Moves the units that FTS5's `ascii` tokenizer would divide at or fold, and surrogates, which UTF-8 can't have alone. Two
 * units may become the same: then a message is found that does not contain the text.
 */
function opaque(text: string): string {
  let moved = "";
  for (let at = 0; at < text.length; at++) moved += String.fromCharCode(movedUnit(text.charCodeAt(at)));
  return moved;
}

function movedUnit(unit: number): number {
  if (unit < 0x80) return unit + 0x80;
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x800 : unit;
}

/** At most `MAX_ASKED` of the grams, from all over the text. */
function someOf(grams: string[]): string[] {
  if (grams.length <= MAX_ASKED) return grams;
  const step = grams.length / MAX_ASKED;
  return Array.from({ length: MAX_ASKED }, (_, index) => grams[Math.floor(index * step)] as string);
}
