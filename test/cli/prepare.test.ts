import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readVariables } from "../../src/cli/dev-vars.ts";
import { prepareSecrets } from "../../src/cli/local/prepare.ts";

const NAMES = ["ADMIN_TOKEN", "KEY_SECRET", "CREDENTIALS_KEY"];

async function folderWith(files: Record<string, string> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "parley-prepare-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

const readVars = (folder: string) => readFile(join(folder, ".dev.vars"), "utf8");

test("the build step of wrangler dev creates the secrets, for their owner alone, and only once", async () => {
  const folder = await folderWith();
  expect(await prepareSecrets(folder)).toEqual(NAMES);
  expect((await stat(join(folder, ".dev.vars"))).mode & 0o777).toBe(0o600);
  const text = await readVars(folder);
  expect(Object.keys(readVariables(text)).toSorted()).toEqual(NAMES.toSorted());
  expect(await prepareSecrets(folder)).toEqual([]);
  expect(await readVars(folder)).toBe(text);
});

test("a developer's own .dev.vars keeps each of its bytes, and gets what it lacks", async () => {
  const own = '# mine\nADMIN_TOKEN="dev"\nTELEGRAM_API_BASE=http://127.0.0.1:1';
  const folder = await folderWith({ ".dev.vars": own });
  await chmod(join(folder, ".dev.vars"), 0o644);
  expect(await prepareSecrets(folder)).toEqual(["KEY_SECRET", "CREDENTIALS_KEY"]);
  const text = await readVars(folder);
  expect(text.startsWith(`${own}\n`)).toBe(true);
  expect(readVariables(text)).toMatchObject({ ADMIN_TOKEN: "dev", TELEGRAM_API_BASE: "http://127.0.0.1:1" });
  expect((await stat(join(folder, ".dev.vars"))).mode & 0o777).toBe(0o600);
});

test.for([".env", ".env.local"])("secrets in %s are not hidden by a new .dev.vars", async (name) => {
  const folder = await folderWith({ [name]: "ADMIN_TOKEN=dev\n" });
  expect(await prepareSecrets(folder)).toEqual([]);
  await expect(readVars(folder)).rejects.toThrow("ENOENT");
});
