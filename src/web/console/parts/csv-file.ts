export type Cell = number | string | null;

/**
 * Rows as CSV. It begins with a byte order mark, because Excel takes it for Latin-1 otherwise. A text that a spreadsheet
 * would run as a formula begins with an apostrophe, also after a semicolon, which separates cells in some languages.
 * @see https://www.rfc-editor.org/rfc/rfc4180 @see https://owasp.org/www-community/attacks/CSV_Injection
 */
export function csv(rows: Cell[][]): string {
  return `\ufeff${rows.map((cells) => `${cells.map(csvCell).join(",")}\r\n`).join("")}`;
}

function csvCell(cell: Cell): string {
  if (typeof cell !== "string") return String(cell ?? "");
  const text = cell.replace(/(^|;)(?=\s*[=+\-@＝＋－＠])/g, "$1'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
