import type { Member } from "../api.ts";

/** A member, as far as a mention needs one. */
export type Named = Pick<Member, "id" | "name">;

/** A part of a note's text: who is mentioned in it, or null. */
export interface Piece<M extends Named> {
  text: string;
  member: M | null;
}

/** What stands around a mention is not a letter. */
export const WORD = /[\p{L}\p{N}_]/u;

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
