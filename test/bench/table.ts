import type { Row } from "./report.ts";

/** Above this share of a core, the driver may be what is measured. */
export const DRIVER_LIMIT = 0.85;

const COLUMNS: [string, (row: Row) => string][] = [
  ["case", ({ name, note }) => (note === null ? name : `${name} (${note})`)],
  ["requests/s", ({ rate }) => whole(rate)],
  ["±", ({ spread }) => `${whole(spread * 100)}%`],
  ["p50 ms", ({ p50 }) => p50.toFixed(2)],
  ["p99 ms", ({ p99 }) => p99.toFixed(2)],
  ["CPU µs", ({ cpu }) => (cpu === null ? "" : whole(cpu))],
  ["driver", ({ driverShare }) => `${whole(driverShare * 100)}%${driverShare > DRIVER_LIMIT ? "!" : ""}`],
  ["CPU to hello", ({ cpuToHello }) => ratio(cpuToHello)],
  ["to hello", ({ toHello }) => ratio(toHello)],
  ["to floor", ({ toFloor }) => ratio(toFloor)],
  ["to literal", ({ toLiteral }) => ratio(toLiteral)],
  ["D1 trips", ({ counts }) => count(counts?.trips)],
  ["statements", ({ counts }) => count(counts?.statements)],
  ["object calls", ({ counts }) => count(counts?.objectCalls)],
  ["rows read", ({ counts }) => count(counts?.read)],
  ["rows written", ({ counts }) => count(counts?.written)],
];

/** The rows as a table of text, the first column to the left and figures to the right. */
export function table(rows: Row[]): string {
  const lines = [COLUMNS.map(([title]) => title), ...rows.map((row) => COLUMNS.map(([, show]) => show(row)))];
  const widths = COLUMNS.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
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
