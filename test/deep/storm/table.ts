import type { Row } from "./storm.ts";

const HEAD = ["test", "how many", "what held", "seed"];

/** The rows as one table of text. What did not hold says how often, in place of what would have held. */
export function table(rows: Row[], seed: number): string {
  const lines = [
    HEAD,
    ...rows.map(({ test, howMany, held, faults }) => [
      test,
      howMany,
      faults.length === 0 ? held : `DID NOT HOLD: ${faults.length} faults`,
      String(seed),
    ]),
  ];
  const widths = HEAD.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
