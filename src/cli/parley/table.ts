const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
/** What a terminal draws two columns wide. */
const WIDE =
  /\p{Extended_Pictographic}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\uff01-\uff60]/u;

/** Rows as lines with their cells one under the other, two spaces between them; the last cell has no end. */
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
 * Text of others, in one line that a terminal shows as it is: what moves its cursor, colours it or turns its direction
 * becomes a sign for it.
 */
export function printable(text: string): string {
  return text
    .replace(/\r?\n/g, "⏎")
    .replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "\u00b7")
    .toWellFormed();
}

/** How many columns of a terminal a text takes. */
export function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}
