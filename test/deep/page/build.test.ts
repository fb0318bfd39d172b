import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { buildWeb } from "../../../src/web/build.ts";

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "parley-build-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

test("during two concurrent builds, no file of an earlier build is ever missing", async () => {
  const out = join(await newFolder(), "web");
  await buildWeb(out);
  const names = await readdir(out, { recursive: true });
  // Changed files, so that the builds have something to write.
  await writeFile(join(out, "widget.js"), "old");
  await writeFile(join(out, "docs.html"), "old");
  let areDone = false;
  const builds = Promise.all([buildWeb(out), buildWeb(out)]).finally(() => (areDone = true));
  const missing = new Set<string>();
  while (!areDone) {
    for (const name of names) if (!existsSync(join(out, name))) missing.add(name);
    await new Promise(setImmediate);
  }
  await builds;
  expect([...missing]).toEqual([]);
  expect(await readFile(join(out, "widget.js"), "utf8")).not.toBe("old");
});

test("a build removes files that it no longer creates, and leaves nothing outside its folder", async () => {
  const folder = await newFolder();
  const out = join(folder, "web");
  await buildWeb(out);
  await writeFile(join(out, "web-assets", "stale.js"), "");
  await buildWeb(out);
  expect(await readdir(join(out, "web-assets"))).not.toContain("stale.js");
  expect(await readdir(folder)).toEqual(["web"]);
});

test("two concurrent builds into a new folder both succeed", async () => {
  const folder = await newFolder();
  const out = join(folder, "dist", "web");
  await Promise.all([buildWeb(out), buildWeb(out)]);
  expect(await readdir(out)).toContain("widget.js");
});
