/** Grows when `folded` returns something else for a text. Tables of folded words store it. */
export const FOLDING_VERSION = 3;

const ASCII = /^[\0-\x7f]*$/;
const IGNORABLE = /\p{Default_Ignorable_Code_Point}+/gu;
const MARK = /\p{M}/u;
/** The halfwidth sound marks are not combining marks, but become some. */
const RUN_OF_MARKS = /([\p{M}\uff9e\uff9f]{1,30})[\p{M}\uff9e\uff9f]*/gu;
/** The points of Arabic and Hebrew, without those that are a part of a letter, and the Greek iota below a letter. */
const POINTS = /[[\p{M}&&[\p{Script=Arabic}\p{Script=Hebrew}]]\u064b-\u0652\u0670\u0345]+/gv;
const ACCENTS = /([\p{Script=Latin}\p{Script=Greek}])\p{M}+/gu;
/** Letters whose accent Unicode takes for a part of them. */
const CROSSED: Readonly<Record<string, string>> = { Đ: "D", Ħ: "H", Ł: "L", Ø: "O", Ŧ: "T" };
const CROSSED_LETTER = /[ĐĦŁØŦ]/g;
/** The dots of a Cyrillic io, also behind marks that come before them in Unicode's order. */
const CYRILLIC_IO = /(?<=Е\p{M}*)\u0308/gu;

/**
 * A text in the form in which a search compares it. Case, width, compatibility forms, invisible characters, the accents
 * of Latin and Greek letters, and the points of Arabic and Hebrew make no difference; other marks do. `toLowerCase` alone
 * would keep ß apart from ss, and two forms of the Greek sigma apart.
 * @see https://www.unicode.org/reports/tr15/ NFKC_Casefold, which this follows, and the Stream-Safe Text Format
 */
export function folded(text: string): string {
  if (ASCII.test(text)) return text.toUpperCase();
  // `normalize` sorts a run of marks in the square of its length, so a run is cut at 30. No language has one as long.
  const decomposed = cut(text.replace(IGNORABLE, "")).normalize("NFKD");
  const plain = MARK.test(decomposed) ? cut(decomposed.replace(POINTS, "").replace(ACCENTS, "$1")) : decomposed;
  return plain
    .toLowerCase()
    .toUpperCase()
    .replace(CROSSED_LETTER, (letter) => CROSSED[letter] ?? letter)
    .replace(CYRILLIC_IO, "")
    .normalize("NFKC");
}

function cut(text: string): string {
  return text.replace(RUN_OF_MARKS, "$1");
}
