const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu;
const ASCII = /^[\0-\x7f]*$/;

/**
 * A text in the form in which a search compares it: compatibility characters, case and invisible characters make no
 * difference. `toLowerCase` alone would keep ß apart from ss, and two forms of the Greek sigma apart.
 * @see https://www.unicode.org/reports/tr15/ NFKC_Casefold, which this follows
 */
export function folded(text: string): string {
  if (ASCII.test(text)) return text.toUpperCase();
  return text.normalize("NFKC").replace(IGNORABLE, "").toLowerCase().toUpperCase().normalize("NFKC");
}
