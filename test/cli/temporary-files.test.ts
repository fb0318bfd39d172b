import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { requireRoom, watchRoom } from "../support/temporary-files.ts";

test("a folder with enough room is taken", () => {
  expect(() => requireRoom(tmpdir(), 1)).not.toThrow();
});

test("a folder without enough room is named, with the room needed and the room there is", () => {
  const folder = tmpdir();
  expect(() => requireRoom(folder, 4e18)).toThrow(
    new RegExp(
      `^The tests need 4000000000.0 GB for temporary files in ${folder}, where \\d+(\\.\\d)? [GM]B are free. `,
    ),
  );
});

test("a folder that is not there is named, with the room needed", () => {
  const folder = join(tmpdir(), "no-such-folder");
  expect(() => requireRoom(folder, 1e9)).toThrow(
    `The tests need 1.0 GB for temporary files in ${folder}, which is no folder that can be read. Make room there, or set TMPDIR to another folder.`,
  );
});

test("room that runs out while tests run is said once, and the least of it at the end", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const said: string[] = [];
  let free = 5e9;
  const atTheEnd = watchRoom(
    "/place",
    () => free,
    (text) => said.push(text),
  );
  const passes = (bytes: number) => {
    free = bytes;
    vi.advanceTimersByTime(1_000);
  };
  passes(100e6);
  expect([said, atTheEnd()]).toEqual([[], null]);
  passes(99e6);
  passes(0);
  passes(5e9);
  expect(said).toEqual([expect.stringContaining("/place had only 99 MB left.")]);
  expect(atTheEnd()).toContain("/place had only 0 MB left.");
});

test.each(["SIGTERM", "exit"])("the folder goes with its process: %s", async (end) => {
  const module = JSON.stringify(new URL("../support/temporary-files.ts", import.meta.url).href);
  const script = `
    const { keepTemporaryFilesInMemory } = await import(${module});
    keepTemporaryFilesInMemory();
    console.log(process.env.TMPDIR);
    ${end === "exit" ? "process.exit(3);" : "setInterval(() => {}, 1_000);"}
  `;
  const child = spawn(process.execPath, ["--no-warnings", "--input-type=module", "--eval", script]);
  const exited = once(child, "exit");
  const [printed] = await once(child.stdout.setEncoding("utf8"), "data");
  const folder = String(printed).trim();
  expect(basename(folder)).toMatch(/^parley-tests-/);
  if (end === "SIGTERM") child.kill();
  expect(await exited).toEqual([end === "exit" ? 3 : 143, null]);
  expect(existsSync(folder)).toBe(false);
});
