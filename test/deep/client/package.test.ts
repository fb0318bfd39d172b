import { spawnSync } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkTypes, installedProject } from "./package.ts";

const project = await installedProject();

afterAll(() => project.remove());

/** Runs the package's `parley` in the project, without the environment of the tests. */
function parley(...args: string[]) {
  const bin = join(project.folder, "node_modules/parley/dist/cli/parley/bin.js");
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: project.folder,
    PARLEY_URL: "http://127.0.0.1:9",
  } as unknown as NodeJS.ProcessEnv;
  return spawnSync(process.execPath, [bin, ...args], { cwd: project.folder, env, encoding: "utf8" });
}

test("the package depends on what the client imports, and on nothing of the service", async () => {
  const text = await readFile(join(project.folder, "node_modules/parley/package.json"), "utf8");
  const { dependencies, bin, exports } = JSON.parse(text);
  expect(Object.keys(dependencies)).toEqual(["openapi-fetch"]);
  expect([bin, Object.keys(exports)]).toEqual([{ parley: "dist/cli/parley/bin.js" }, ["./client"]]);
});

test("a CommonJS project can require the client, with correct types", async () => {
  const path = join(project.folder, "requires.cts");
  await writeFile(
    path,
    `import { Parley, ParleyError } from "parley/client";
const parley: Parley = new Parley({ url: "http://127.0.0.1:9", apiKey: "ply_test", retries: 0 });
parley.send("cht_1", { content: "Hi" }).catch((error) => console.log(error instanceof ParleyError && error.code));
`,
  );
  await checkTypes(path);
  const code = (await readFile(path, "utf8")).replace(/import (.*) from (".*")/, "const $1 = require($2)");
  const script = join(project.folder, "requires.cjs");
  await writeFile(script, code.replace(": Parley =", " ="));
  // Newer versions of Node can also require an ES module: the old ones can't.
  const { stdout, stderr } = spawnSync(process.execPath, ["--no-experimental-require-module", script], {
    encoding: "utf8",
  });
  expect({ stdout, stderr }).toEqual({ stdout: "unreachable\n", stderr: "" });
});

test("the package has its license and a README", async () => {
  const folder = join(project.folder, "node_modules/parley");
  expect((await readdir(folder)).sort()).toEqual(["LICENSE", "README.md", "dist", "package.json"]);
  expect(await readFile(join(folder, "README.md"), "utf8")).toContain('from "parley/client"');
  expect(JSON.parse(await readFile(join(folder, "package.json"), "utf8")).license).toBe("MIT");
  expect(await readFile(join(folder, "LICENSE"), "utf8")).toMatch(
    /^MIT License\n\nCopyright \(c\) \d{4} the Parley authors\n\nPermission is hereby granted/,
  );
});

test("the package's parley command works in a project without this repository", async () => {
  const { version } = JSON.parse(await readFile(join(import.meta.dirname, "../../../package.json"), "utf8"));
  expect(parley("--version")).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: "" });
  expect(parley("--help").stdout).toContain("Usage: parley <command> [options]");
});

test("doctor of the package checks the service and no files of a checkout", () => {
  const { status, stdout, stderr } = parley("doctor");
  expect({ status, stderr }).toEqual({ status: 1, stderr: "" });
  expect(stdout).toMatch(/^✗ service at http:\/\/127\.0\.0\.1:9: does not answer\. To do: .*\n$/);
});
