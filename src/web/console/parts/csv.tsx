import { Button } from "./button.tsx";
import { type Cell, csv } from "./csv-file.ts";
import { saveFile } from "./save-file.ts";

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
