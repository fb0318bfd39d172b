import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { Round } from "./arguments.ts";

const MAX_PLACES = 6;
const LAST_LINES = 40;

/** The part of Vitest's JSON report that is read here. */
export interface Report {
  testResults: {
    name: string;
    status: string;
    message?: string;
    assertionResults: { fullName: string; status: string; failureMessages?: string[] | null }[];
  }[];
}

/** A round of Vitest: its report, its exit code and its output. */
export interface Ran {
  report: Report;
  code: number | null;
  output: string;
}

/** A test that failed in a round. `test` is empty if its whole file failed, and `file` too if the run did. */
export interface Red extends Round {
  file: string;
  test: string;
  /** The first line of its error, and where it was thrown. */
  error: string;
}

/** The tests of a round that failed, and what failed outside all tests. File paths are relative to `root`. */
export function redsOf({ report, code, output }: Ran, round: Round, root: string): Red[] {
  const reds = redTestsOf(report, round, root);
  const text = stripVTControlCharacters(output);
  const [outside] = /Unhandled Errors.*?(?=\n⎯+\n|$)/s.exec(text) ?? [];
  if (code === 0 || (reds.length > 0 && outside === undefined)) return reds;
  const [, file = ""] = /This error originated in "([^"]+)"/.exec(text) ?? [];
  // Vitest's report has neither an error outside all tests nor a runtime that ended. Its exit code and output have.
  return [...reds, { ...round, file, test: "", error: outside ?? lastLines(text) }];
}

/** The end of Vitest's output, for a run that failed as a whole. */
export function lastLines(output: string): string {
  return output.trimEnd().split("\n").slice(-LAST_LINES).join("\n");
}

function redTestsOf(report: Report, round: Round, root: string): Red[] {
  return report.testResults.flatMap(({ name, status, message = "", assertionResults }) => {
    const file = relative(root, name);
    const failed = assertionResults.filter((each) => each.status === "failed");
    if (failed.length > 0) {
      return failed.map(({ fullName, failureMessages }) => ({
        ...round,
        file,
        test: fullName,
        error: headOf(failureMessages?.[0] ?? ""),
      }));
    }
    return status === "passed" ? [] : [{ ...round, file, test: "", error: headOf(message) }];
  });
}

/** Each red test once, with how often it was red and the first round in which it was, the most frequent first. */
export function tableOf(reds: readonly Red[]): string {
  const byTest = Object.groupBy(reds, ({ file, test }) => `${file} ${test}`);
  const rows = Object.values(byTest)
    .flatMap((of = []) => (of[0] ? [{ ...of[0], count: of.length }] : []))
    .sort((a, b) => b.count - a.count);
  const lines = rows.map(({ count, seed, way, file, test, error }) =>
    [
      `${count} times red: ${file || "no file"}`,
      `  ${titleOf({ file, test })}`,
      `  ${error}`,
      `  ${repeatOf({ seed, way }, file)}`,
    ].join("\n"),
  );
  return lines.join("\n\n");
}

/** What to call a red that may be no single test. */
export function titleOf({ file, test }: Pick<Red, "file" | "test">): string {
  return test || (file ? "the whole file" : "the whole run");
}

/** The command that repeats a file as a round ran it. */
export function repeatOf({ seed, way }: Round, file: string): string {
  const browser = file.includes("/browser/") ? " --browser" : "";
  return `npm run test:jitter -- --times 1 --seed ${seed} --way ${way}${browser} ${file}`.trimEnd();
}

/** The first line of an error, and the places in the tests and the service that it names. */
function headOf(text: string): string {
  const [first = "", ...lines] = stripVTControlCharacters(text).split("\n");
  // A path of the bundle has the root twice.
  const places = lines.flatMap((line) => /.*\b((?:test|src)\/[\w./-]+\.tsx?:\d+:\d+)/.exec(line)?.[1] ?? []);
  return [first.slice(0, 1_000), ...places.slice(0, MAX_PLACES)].join("\n    at ");
}
