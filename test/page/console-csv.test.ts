import { expect, test } from "vitest";
import { csv } from "../../src/web/console/parts/csv-file.ts";

/** The one cell of a file, without the byte order mark and the end of its line. */
const cell = (value: string | number | null) => csv([[value]]).slice(1, -2);

test("rows are CSV with a byte order mark, and cells with separators, quotes and lines are quoted", () => {
  const rows = csv([
    ["Id", "Name", "Chats"],
    ["chn_1", 'The "new", one', -2],
    ["chn_2", "two\nlines", null],
  ]);
  expect(rows).toBe('\ufeffId,Name,Chats\r\nchn_1,"The ""new"", one",-2\r\nchn_2,"two\nlines",\r\n');
});

test.each([
  ["=SUM(1,2)", `"'=SUM(1,2)"`],
  ["+1", "'+1"],
  ["-1", "'-1"],
  ["@SUM(A1)", "'@SUM(A1)"],
  ["\t=1", "'\t=1"],
  ["\r=1", `"'\r=1"`],
  ["\n=1", `"'\n=1"`],
  [" =1", "' =1"],
  ["＝1", "'＝1"],
  // A spreadsheet whose list separator is a semicolon begins a cell there.
  ["a;=1", "a;'=1"],
  ["a; +1;-1", "a;' +1;'-1"],
  ["Sales; Support", "Sales; Support"],
  ["a-b=c@d+e", "a-b=c@d+e"],
  ["\u202e=1", "\u202e=1"],
])("the name %j is the cell %j, which no spreadsheet runs", (name, expected) => {
  expect(cell(name)).toBe(expected);
});
