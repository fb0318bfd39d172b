import { Button } from "./button.tsx";
import { saveFile } from "./save-file.ts";

type Cell = number | string | null;

interface CsvProps {
  /** What the rows are about, as the file's name. */
  name: string;
  /** The first row has the names of the columns. */
  rows: () => Cell[][];
}

/** Downloads rows as a file for a spreadsheet. */
export function CsvButton({ name, rows }: CsvProps) {
  return <Button onClick={() => saveFile(`${name}.csv`, [csv(rows())])}>Download as CSV</Button>;
}

/**
 * Rows as CSV. It begins with a byte order mark, because Excel takes it for Latin-1 otherwise. A text that a spreadsheet
 * would run as a formula begins with an apostrophe.
 * @see https://www.rfc-editor.org/rfc/rfc4180 @see https://owasp.org/www-community/attacks/CSV_Injection
 */
function csv(rows: Cell[][]): string {
  return `\ufeff${rows.map((cells) => `${cells.map(csvCell).join(",")}\r\n`).join("")}`;
}

function csvCell(cell: Cell): string {
  if (typeof cell !== "string") return String(cell ?? "");
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
