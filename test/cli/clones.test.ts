import { expect, onTestFinished, test, vi } from "vitest";
import { readArguments } from "../clones/arguments.ts";
import { readResult } from "../clones/result.ts";
import { line, type Row, reds, table } from "../clones/row.ts";
import { Mistake } from "../support/mistake.ts";
import { beginSteps } from "../support/stepping-clock.ts";

const GREEN: Row = {
  run: 1,
  isLoaded: false,
  isStepping: false,
  seed: 7,
  installing: 61.4,
  testing: 300.6,
  result: { files: 3, tests: 40, red: [] },
  fault: null,
};

test("twenty runs, the last five of them beside four busy processes, with a new seed", () => {
  expect(readArguments([])).toEqual({
    runs: 20,
    loaded: 5,
    load: 4,
    stepping: 0,
    seed: expect.any(Number),
    help: false,
  });
});

test("each option has its value", () => {
  const given = ["--runs", "9", "--loaded=0", "--load", "2", "--stepping", "3", "--seed", "123"];
  expect(readArguments(given)).toEqual({ runs: 9, loaded: 0, load: 2, stepping: 3, seed: 123, help: false });
});

test("of fewer runs than five, all are loaded", () => {
  expect(readArguments(["--runs", "2"])).toMatchObject({ runs: 2, loaded: 2 });
});

test.for([
  ["--runs", "0"],
  ["--runs", "many"],
  ["--load", "0"],
  ["--load", "1.5"],
  ["--loaded=-1"],
  ["--runs", "2", "--loaded", "3"],
  ["--runs", "2", "--loaded", "2", "--stepping", "3"],
  ["--stepping", "often"],
  ["--seed", "x"],
])("%j is a mistake", (argv) => {
  expect(() => readArguments(argv)).toThrow(Mistake);
});

test("an unknown option is an error of the parser", () => {
  expect(() => readArguments(["--run", "3"])).toThrow(
    expect.objectContaining({ code: "ERR_PARSE_ARGS_UNKNOWN_OPTION" }),
  );
});

test("a green run has its numbers, and no skipped test counts", () => {
  const output =
    "\n Test Files  3 passed | 1 skipped (4)\n      Tests  40 passed | 2 skipped (42)\n   Start at  08:00:00\n";
  expect(readResult(output)).toEqual({ files: 3, tests: 40, red: [] });
});

test("a red run has the names of its tests and files once, in color too", () => {
  const output = [
    "2/3 test/cli/a.test.ts (3 tests): 1 failed",
    " FAIL  |cli| test/cli/b.test.ts [ test/cli/b.test.ts ]",
    "Error: There is no such module",
    "\u001b[41m\u001b[1m FAIL \u001b[22m\u001b[49m |cli| test/cli/a.test.ts\u001b[2m > \u001b[22ma list\u001b[2m > \u001b[22mis empty",
    " FAIL  |cli| test/cli/a.test.ts > a list > is empty",
    "\u001b[2m Test Files \u001b[22m \u001b[1m\u001b[31m2 failed\u001b[39m\u001b[22m\u001b[2m | \u001b[22m1 passed (3)",
    "      Tests  1 failed | 4 passed | 1 skipped (6)",
    "     Errors  1 error",
  ].join("\n");
  expect(readResult(output)).toEqual({
    files: 3,
    tests: 5,
    red: [
      "|cli| test/cli/b.test.ts [ test/cli/b.test.ts ]",
      "|cli| test/cli/a.test.ts > a list > is empty",
      "outside of tests: 1 error",
    ],
  });
});

test.for([
  ["nothing", ""],
  ["a start that failed", "Startup Error\nError: The tests need 2 GB\n"],
  ["no test", " Test Files  no tests\n      Tests  no tests\n"],
  ["only skipped tests", " Test Files  1 skipped (1)\n      Tests  2 skipped (2)\n"],
  ["a run that was killed", "408 test files\n  1/408 test/cli/a.test.ts (25 tests)\n"],
] as const)("%s is no result", ([, output]) => {
  expect(readResult(output)).toBeNull();
});

test("a run is red for a test that failed, and for an end that was wrong", () => {
  expect(reds(GREEN)).toEqual([]);
  expect(reds({ ...GREEN, result: { files: 3, tests: 40, red: ["a > b"] } })).toEqual(["a > b"]);
  expect(reds({ ...GREEN, result: null, fault: "no readable result" })).toEqual(["no readable result"]);
});

test("a run is one line", () => {
  expect(line(GREEN, 20)).toBe("1/20: seed 7, npm ci 61 s, npm test 301 s, 3 files, 40 tests: green");
  const red = { ...GREEN, run: 20, isLoaded: true, testing: null, result: null, fault: "npm ci ended with code 1" };
  expect(line(red, 20)).toBe("20/20 beside load: seed 7, npm ci 61 s: RED: npm ci ended with code 1");
});

test("what disturbed a run is in its line", () => {
  const disturbed = { ...GREEN, isLoaded: true, isStepping: true };
  expect(line(disturbed, 20)).toMatch(/^1\/20 beside load on a clock that steps: seed 7, /);
});

test("a clock steps ahead and behind by a second, and is right in the end, whenever that is", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  for (const steps of [0, 1, 2, 3, 4, 9]) {
    const seen: number[] = [];
    let ahead = 0;
    const end = beginSteps((seconds) => seen.push((ahead += seconds)));
    vi.advanceTimersByTime(steps * 3_700);
    expect(seen, `${steps} steps`).toEqual([1, 0, -1, 0, 1, 0, -1, 0, 1, 0].slice(0, steps + 1));
    end();
    vi.advanceTimersByTime(60_000);
    expect(ahead, `${steps} steps`).toBe(0);
  }
});

test("the runs are a table", () => {
  const red = {
    ...GREEN,
    run: 2,
    isLoaded: true,
    isStepping: true,
    seed: 1234,
    result: { files: 3, tests: 41, red: ["a > b", "c"] },
  };
  expect(table([GREEN, red])).toBe(
    [
      "run  beside load  clock steps  seed  npm ci s  npm test s  files  tests  red",
      "  1           no           no     7        61         301      3     40",
      "  2          yes          yes  1234        61         301      3     41  a > b; c",
    ].join("\n"),
  );
});
