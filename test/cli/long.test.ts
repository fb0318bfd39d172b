import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LONG_TESTS } from "../long/tests.ts";

const root = join(import.meta.dirname, "../..");
const NAMES = Object.keys(LONG_TESTS);

/** `npm run test:long -- <args>`. */
function long(...args: string[]) {
  const program = join(root, "test/long/main.ts");
  return spawnSync(process.execPath, ["--no-warnings", program, ...args], { cwd: root, encoding: "utf8" });
}

test("without a name, the long tests are listed, one a line", () => {
  const { status, stdout } = long();
  const listed = stdout.split("\n").filter((line) => line.startsWith("  "));
  expect([status, listed.map((line) => line.trim().split(/ {2,}/)[0])]).toEqual([0, NAMES]);
});

test("a name runs the test with the options after it, and its exit code is the test's", () => {
  const help = long("simulate", "--help");
  expect(help).toMatchObject({ status: 0, stderr: "" });
  expect(help.stdout).toMatch(/^npm run test:long -- simulate \[options\]\n/);
  expect(long("simulate", "--trace", "x")).toMatchObject({ status: 2, stdout: "" });
});

test("an unknown name is a mistake, and the message has the known ones", () => {
  const { status, stderr } = long("simulated");
  expect([status, stderr]).toEqual([2, expect.stringContaining(NAMES.join(", "))]);
});

test("the contributors' guide describes each long test", async () => {
  const guide = await readFile(join(root, "src/docs/contributing.md"), "utf8");
  const [, after = ""] = guide.split("\n## Long tests\n");
  const [section = ""] = after.split("\n## ");
  expect(Array.from(section.matchAll(/^\| `([\w-]+)` \|/gm), ([, name]) => name)).toEqual(NAMES);
});
