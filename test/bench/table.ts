import type { FunctionSamples } from "./profile.ts";
import type { Row } from "./report.ts";

/** Above this share of a core, the driver may be the limit. */
export const DRIVER_LIMIT = 0.85;

export type Column<T> = [title: string, show: (row: T) => string];

const COLUMNS: Column<Row>[] = [
  ["case", ({ name }) => name],
  ["requests/s", ({ rate }) => whole(rate)],
  ["±", ({ spread }) => `${whole(spread * 100)}%`],
  ["p50 ms", ({ p50 }) => p50.toFixed(2)],
  ["p99 ms", ({ p99 }) => p99.toFixed(2)],
  ["CPU µs", ({ cpu }) => (cpu === null ? "" : whole(cpu))],
  ["after µs", ({ after }) => (after === null ? "" : whole(after))],
  ["driver", ({ driverShare }) => `${whole(driverShare * 100)}%${driverShare > DRIVER_LIMIT ? "!" : ""}`],
  ["CPU to bare", ({ cpuToBare }) => ratio(cpuToBare)],
  ["to bare", ({ toBare }) => ratio(toBare)],
  ["to floor", ({ toFloor }) => ratio(toFloor)],
  ["to literal", ({ toLiteral }) => ratio(toLiteral)],
  ["D1 trips", ({ counts }) => count(counts?.trips)],
  ["statements", ({ counts }) => count(counts?.statements)],
  ["object calls", ({ counts }) => count(counts?.objectCalls)],
  ["rows read", ({ counts }) => count(counts?.read)],
  ["rows written", ({ counts }) => count(counts?.written)],
];

type Measured = { name: string; goal: NonNullable<Row["goal"]> };

/** What a goal without another case is of. */
const FIGURES = { p50: "p50 ms", calls: "calls a request" };

const GOAL_COLUMNS: Column<Measured>[] = [
  ["goal", ({ name }) => name],
  ["compared to", ({ goal }) => goal.to ?? ""],
  ["of", ({ goal }) => (goal.to === null ? FIGURES[goal.of] : goal.of)],
  ["measured", ({ goal }) => goal.measured.toFixed(3)],
  ["by CPU", ({ goal }) => goal.byCpu?.toFixed(3) ?? ""],
  ["must", ({ goal }) => `${goal.of === "rate" ? "≥" : "≤"} ${goal.must}`],
  ["", ({ goal }) => (isReached(goal) ? "" : "missed")],
];

/** Functions of a profile that are shown. */
const SHOWN_FUNCTIONS = 25;

/** The rows as a table of text. A case that got a wrong response has no figures. */
export function table(rows: Row[]): string {
  const columns = COLUMNS.map(([title, show], column): Column<Row> => {
    const instead = title === "requests/s" ? "error" : "";
    return [title, (row) => (row.unexpected === null || column === 0 ? show(row) : instead)];
  });
  return textTable(columns, rows);
}

/** The goals of the rows and what was measured. Empty if no row has a goal. */
export function goalTable(rows: Row[]): string {
  const measured = rows.flatMap(({ name, goal }) => (goal ? [{ name, goal }] : []));
  return measured.length > 0 ? textTable(GOAL_COLUMNS, measured) : "";
}

/** The functions of a profile with the most samples, and their shares of all samples of the profile. */
export function profileTable(functions: FunctionSamples[]): string {
  const all = samplesOf(functions);
  const columns: Column<FunctionSamples>[] = [
    ["function", ({ name }) => name],
    ["self", ({ samples }) => `${((100 * samples) / all).toFixed(1)}%`],
    ["file", ({ file }) => file],
  ];
  return textTable(columns, functions.slice(0, SHOWN_FUNCTIONS));
}

export function samplesOf(functions: FunctionSamples[]): number {
  return functions.reduce((sum, { samples }) => sum + samples, 0);
}

function isReached({ of, measured, must }: Measured["goal"]): boolean {
  return of === "rate" ? measured >= must : measured <= must;
}

/** The first column is aligned left, the others right. */
export function textTable<T>(columns: Column<T>[], rows: T[]): string {
  const lines = [columns.map(([title]) => title), ...rows.map((row) => columns.map(([, show]) => show(row)))];
  const widths = columns.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0);
  return lines.map((line) => line.map(pad).join("  ").trimEnd()).join("\n");
}

function whole(value: number): string {
  return Math.round(value).toLocaleString("en");
}

function ratio(value: number | null): string {
  return value === null ? "" : value < 0.1 || value >= 10 ? value.toPrecision(2) : value.toFixed(2);
}

function count(value: number | undefined): string {
  return value === undefined ? "" : String(Number(value.toFixed(2)));
}
