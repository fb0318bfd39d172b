import { type Named, piecesOf, WORD } from "./mentions.ts";

/** A member's name that is being written. */
export interface Query {
  /** Where its @ stands in the text. */
  from: number;
  /** What follows the @. */
  words: string;
}

const MAX_QUERY = 40;

/** The ids of the members that a text mentions, each once. */
export function mentionsIn(text: string, members: readonly Named[]): string[] {
  return [...new Set(piecesOf(text, members).flatMap(({ member }) => (member ? [member.id] : [])))];
}

/** The name that is being written before the caret; null if none is. */
export function queryAt(text: string, caret: number): Query | null {
  const from = text.lastIndexOf("@", caret - 1);
  const words = text.slice(from + 1, caret);
  const isQuery = from >= 0 && caret > from && words.length <= MAX_QUERY && !words.includes("\n");
  return isQuery && !WORD.test(text[from - 1] ?? "") ? { from, words } : null;
}

/** The members that the words can mean: those with a word of the name that begins like this. */
export function matchesOf<M extends Named>(words: string, members: readonly M[], most: number): M[] {
  const wanted = words.toLowerCase();
  const begins = ({ name }: M) => {
    const all = name.toLowerCase();
    return all.startsWith(wanted) || all.split(/\s+/).some((word) => word.startsWith(wanted));
  };
  return members.filter((member) => begins(member)).slice(0, most);
}
