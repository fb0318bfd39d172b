import type { Member } from "../api.ts";

type Named = Pick<Member, "id" | "name">;

/** A part of a note's text: who is mentioned in it, or null. */
export interface Piece<M extends Named> {
  text: string;
  member: M | null;
}

/** A member's name that is being written. */
export interface Query {
  /** Where its @ stands in the text. */
  from: number;
  /** What follows the @. */
  words: string;
}

const MAX_QUERY = 40;
const WORD = /[\p{L}\p{N}_]/u;

/** Splits a text at the mentions in it: an @ and a member's name. If several names match, the longest one counts. */
export function piecesOf<M extends Named>(text: string, members: readonly M[]): Piece<M>[] {
  const longestFirst = members.toSorted((one, other) => other.name.length - one.name.length);
  const pieces: Piece<M>[] = [];
  let from = 0;
  for (let at = text.indexOf("@"); at >= 0; at = text.indexOf("@", at + 1)) {
    if (WORD.test(text[at - 1] ?? "")) continue;
    const member = longestFirst.find(
      ({ name }) => text.startsWith(name, at + 1) && !WORD.test(text[at + 1 + name.length] ?? ""),
    );
    if (!member) continue;
    pieces.push({ text: text.slice(from, at), member: null }, { text: `@${member.name}`, member });
    from = at + 1 + member.name.length;
  }
  return [...pieces, { text: text.slice(from), member: null }].filter((piece) => piece.text !== "");
}

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
