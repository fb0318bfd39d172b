const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
/** Characters that are two columns wide in a terminal. */
const WIDE =
  /\p{Extended_Pictographic}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\uff01-\uff60]/u;

/** Formats rows as lines with aligned columns, two spaces apart. The last column is not padded. */
export function aligned(rows: string[][]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, widthOf(cell));
  }
  return rows.map((row) =>
    row
      .map((cell, at) => (at === row.length - 1 ? cell : cell + " ".repeat((widths[at] ?? 0) - widthOf(cell))))
      .join("  ")
      .trimEnd(),
  );
}

/**
 * Makes foreign text safe for one line of a terminal. Replaces characters that move the cursor, set colours or change
 * the text's direction.
 */
export function printable(text: string): string {
  return text
    .replace(/\r?\n/g, "⏎")
    .replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "\u00b7")
    .toWellFormed();
}

/** The width of a text in terminal columns. */
export function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}
