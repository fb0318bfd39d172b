const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
/** Characters that are two columns wide in a terminal. */
const WIDE =
  /\p{Extended_Pictographic}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\uff01-\uff60]/u;

/** How a table shows that there is no value. */
export const EMPTY = "–";
const GAP = "  ";
const MIN_WIDTH = 8;

/** Formats rows as lines with aligned columns, two spaces apart. The last column is not padded. */
export function aligned(rows: string[][]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, widthOf(cell));
  }
  return rows.map((row) =>
    row
      .map((cell, at) => (at === row.length - 1 ? cell : cell + " ".repeat((widths[at] ?? 0) - widthOf(cell))))
      .join(GAP)
      .trimEnd(),
  );
}

/**
 * Makes rows with a head fit on a terminal. Leaves out columns without a value, then shortens the widest columns. The
 * first column, an id that people copy, stays whole.
 * @param width the terminal's columns
 */
export function fitted(rows: string[][], width: number): string[][] {
  const [head = [], ...body] = rows;
  const kept = head.flatMap((_, at) => (body.some((row) => row[at] !== EMPTY) ? [at] : []));
  const table = rows.map((row) => kept.map((at) => row[at] ?? ""));
  const widths = kept.map((_, at) => Math.max(...table.map((row) => widthOf(row[at] ?? ""))));
  const least = kept.map((at) => Math.max(MIN_WIDTH, widthOf(head[at] ?? "")));
  for (let excess = sumOf(widths) + GAP.length * (widths.length - 1) - width; excess > 0; excess--) {
    const shrinkable = widths.keys().filter((at) => at > 0 && (widths[at] ?? 0) > (least[at] ?? 0));
    const widest = shrinkable.toArray().sort((one, other) => (widths[other] ?? 0) - (widths[one] ?? 0))[0];
    if (widest === undefined) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return table.map((row) => row.map((cell, at) => shortened(cell, widths[at] ?? 0)));
}

function shortened(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = "";
  for (const { segment } of graphemes.segment(text)) {
    if (widthOf(kept) + widthOf(segment) > width - 1) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}

function sumOf(numbers: number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

/**
 * Makes foreign text safe for one line of a terminal. Replaces characters that move the cursor, set colors or change
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
