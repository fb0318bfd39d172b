import { folded } from "./folding.ts";

/** A part of a text. */
export interface TextPart {
  text: string;
  /** Whether it is what was searched for. */
  isMatch: boolean;
}

interface Range {
  from: number;
  to: number;
}

/** A letter with its marks: what is folded together. */
const LETTERS = /\P{M}[\p{M}\uff9e\uff9f\p{Default_Ignorable_Code_Point}]*|\p{M}+/gu;
const LOW_SURROGATE = /^[\udc00-\udfff]/;
/** What a cut text begins or ends with. */
const MORE = "…";

/**
 * The part of a text around what a search found in it, as the search compares texts.
 * @param before how many characters are shown before the first match, at most
 * @param most how many characters are shown, at most. A longer match is shown as a whole
 * @returns the beginning of the text without a match, if the search found something else of the message
 */
export function excerptOf(text: string, search: string, before: number, most: number): TextPart[] {
  const matches = matchesIn(text, search);
  const [first = { from: 0, to: 0 }] = matches;
  const from = first.from <= before ? 0 : wordAt(text, whole(text, first.from - before), first.from);
  const to = whole(text, Math.min(text.length, Math.max(from + most, first.to)));
  const parts: TextPart[] = [{ text: from > 0 ? MORE : "", isMatch: false }];
  let at = from;
  for (const match of matches.filter((one) => one.to <= to)) {
    parts.push(
      { text: text.slice(at, match.from), isMatch: false },
      { text: text.slice(match.from, match.to), isMatch: true },
    );
    at = match.to;
  }
  parts.push({ text: text.slice(at, to) + (to < text.length ? MORE : ""), isMatch: false });
  return parts.filter((part) => part.text !== "");
}

/** Where a text contains another one, from left to right, none within another. */
function matchesIn(text: string, search: string): Range[] {
  const wanted = folded(search);
  const letters: Range[] = [];
  let plain = "";
  for (const { 0: letter, index } of text.matchAll(LETTERS)) {
    const one = folded(letter);
    plain += one;
    for (let unit = 0; unit < one.length; unit++) letters.push({ from: index, to: index + letter.length });
  }
  const matches: Range[] = [];
  if (wanted === "") return matches;
  for (let at = plain.indexOf(wanted); at >= 0; at = plain.indexOf(wanted, at + wanted.length)) {
    const range = { from: letters[at]?.from ?? 0, to: letters[at + wanted.length - 1]?.to ?? 0 };
    // Both halves of a letter such as ß can be matches.
    if (range.from >= (matches.at(-1)?.to ?? 0)) matches.push(range);
  }
  return matches;
}

/** The beginning of the next word from a place on, if there is one before `end`. */
function wordAt(text: string, at: number, end: number): number {
  const space = text.slice(at, end).search(/\s\S/u);
  return space < 0 ? at : at + space + 1;
}

/** A place that does not cut a character in two. */
function whole(text: string, at: number): number {
  return LOW_SURROGATE.test(text.slice(at, at + 1)) ? at - 1 : at;
}
