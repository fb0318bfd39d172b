import type { Result } from "./result.ts";

/** One run in a fresh clone. */
export interface Row {
  /** From 1. */
  run: number;
  isLoaded: boolean;
  /** Whether the machine's clock stepped. */
  isStepping: boolean;
  /** The order of the tests. */
  seed: number;
  /** Seconds. Null if it did not run. */
  installing: number | null;
  /** Seconds. Null if it did not run. */
  testing: number | null;
  /** Null without a readable result. */
  result: Result | null;
  /** Why the run is red although no test is: how it ended, for example. */
  fault: string | null;
}

type Column = [title: string, show: (row: Row) => string];

const COLUMNS: Column[] = [
  ["run", ({ run }) => String(run)],
  ["beside load", ({ isLoaded }) => (isLoaded ? "yes" : "no")],
  ["clock steps", ({ isStepping }) => (isStepping ? "yes" : "no")],
  ["seed", ({ seed }) => String(seed)],
  ["npm ci s", ({ installing }) => seconds(installing)],
  ["npm test s", ({ testing }) => seconds(testing)],
  ["files", ({ result }) => String(result?.files ?? "")],
  ["tests", ({ result }) => String(result?.tests ?? "")],
  ["red", (row) => reds(row).join("; ")],
];

/** What is red of a run: its failed tests, and how it ended if that was wrong. Empty for a green one. */
export function reds({ result, fault }: Row): string[] {
  return [...(result?.red ?? []), ...(fault === null ? [] : [fault])];
}

/** What is printed of a run when it has ended. */
export function line(row: Row, runs: number): string {
  const { run, isLoaded, isStepping, seed, installing, testing, result } = row;
  const red = reds(row);
  const facts = [
    `seed ${seed}`,
    ...(installing === null ? [] : [`npm ci ${seconds(installing)} s`]),
    ...(testing === null ? [] : [`npm test ${seconds(testing)} s`]),
    ...(result === null ? [] : [`${result.files} files`, `${result.tests} tests`]),
  ];
  const verdict = red.length === 0 ? "green" : `RED: ${red.join("; ")}`;
  const how = `${isLoaded ? " beside load" : ""}${isStepping ? " on a clock that steps" : ""}`;
  return `${run}/${runs}${how}: ${facts.join(", ")}: ${verdict}`;
}

/** The runs as a table of text. The names of red tests are to the left, all else to the right. */
export function table(rows: Row[]): string {
  const lines = [COLUMNS.map(([title]) => title), ...rows.map((row) => COLUMNS.map(([, show]) => show(row)))];
  const last = COLUMNS.length - 1;
  const widths = COLUMNS.map((_, at) => Math.max(...lines.map((cells) => cells[at]?.length ?? 0)));
  const pad = (cell: string, at: number) => (at === last ? cell : cell.padStart(widths[at] ?? 0));
  return lines.map((cells) => cells.map(pad).join("  ").trimEnd()).join("\n");
}

function seconds(value: number | null): string {
  return value === null ? "" : String(Math.round(value));
}
