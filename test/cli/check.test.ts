import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CHECKS, NAMED_ONLY } from "../check/checks.ts";
import { runChecks } from "../check/run.ts";

const root = join(import.meta.dirname, "../..");
const NAMES = [...CHECKS, ...NAMED_ONLY].map(({ name }) => name);

/** A check that only exits. */
const exits = (name: string, ...codes: number[]) => ({
  name,
  about: "",
  commands: codes.map((code) => `node --eval process.exit(${code})`),
});

test("checks run in their order up to the first command that fails, which is named", () => {
  const lines: string[] = [];
  const checks = [exits("one", 0), exits("two", 0, 3, 0), exits("three", 0)];
  expect(runChecks(checks, (line) => lines.push(line))).toBe(3);
  expect(lines).toEqual([
    "one: node --eval process.exit(0)",
    "two: node --eval process.exit(0)",
    "two: node --eval process.exit(3)",
    "✗ The check two failed: node --eval process.exit(3)",
  ]);
});

test("a program that is not there is a failed check", () => {
  const lines: string[] = [];
  expect(runChecks([{ name: "one", about: "", commands: ["no-such-program"] }], (line) => lines.push(line))).toBe(1);
  expect(lines.at(-1)).toMatch(/^✗ The check one failed: .*no-such-program/);
});

test("an unknown name is a mistake, and the message has the known ones", () => {
  const program = join(root, "test/check/main.ts");
  const { status, stderr } = spawnSync(process.execPath, ["--no-warnings", program, "typos"], { encoding: "utf8" });
  expect([status, stderr]).toEqual([2, expect.stringContaining(NAMES.join(", "))]);
});

test("the contributors' guide names each check", async () => {
  const guide = await readFile(join(root, "src/docs/contributing.md"), "utf8");
  const row = guide.split("\n").find((line) => line.startsWith("| `npm run check` |")) ?? "";
  const words = new Set(row.match(/\w+/g));
  expect(NAMES.filter((name) => !words.has(name))).toEqual([]);
});
