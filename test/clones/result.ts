import { stripVTControlCharacters } from "node:util";

/** What a run of the suite said at its end. */
export interface Result {
  files: number;
  /** Those that ran, whether they passed or failed. Skipped ones are not among them. */
  tests: number;
  /** The names of what failed: `|project| file > test`, or without a test if a whole file could not run. */
  red: string[];
}

/** ` Test Files  1 failed | 2 passed (3)` */
const SUMMARY = /^ *(Test Files|Tests|Errors) {2,}(.*)$/;
const FAILED = /^ *FAIL {2}(\S.*)$/;

/**
 * Reads the output of `npm test`.
 * @returns null without Vitest's summary, as when it was killed or never began, and for a summary of no test
 */
export function readResult(output: string): Result | null {
  const lines = stripVTControlCharacters(output).split(/\r?\n/);
  const summary = new Map<string, string>();
  const red = new Set<string>();
  for (const line of lines) {
    const [, what, counts] = SUMMARY.exec(line) ?? [];
    if (what !== undefined && counts !== undefined) summary.set(what, counts);
    const [, name] = FAILED.exec(line) ?? [];
    if (name !== undefined) red.add(name.trim());
  }
  const files = ran(summary.get("Test Files"));
  const tests = ran(summary.get("Tests"));
  if (files === 0 || tests === 0) return null;
  const errors = summary.get("Errors");
  if (errors !== undefined) red.add(`outside of tests: ${errors.trim()}`);
  return { files, tests, red: [...red] };
}

/** The sum of the passed and the failed of a line of the summary. */
function ran(counts = ""): number {
  const found = counts.matchAll(/(\d+) (?:passed|failed)/g);
  return [...found].reduce((sum, [, count]) => sum + Number(count), 0);
}
