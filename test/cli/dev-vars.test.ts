import { appendFile, chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { malformedSecret, missingSecrets, newSecrets, prepareDevVars, readVariables } from "../../src/cli/dev-vars.ts";

const KEY = Buffer.alloc(32, 7).toString("base64");
const NAMES = ["ADMIN_TOKEN", "KEY_SECRET", "CREDENTIALS_KEY"];

async function newPath(text?: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "parley-dev-vars-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, ".dev.vars");
  if (text !== undefined) await writeFile(path, text);
  return path;
}

test("the last line of a name wins, and wrangler's colon form is supported", () => {
  expect(readVariables("A=1\nA=\"2\"\nB: 3\nexport C: 'x y'\n")).toEqual({ A: "2", B: "3", C: "x y" });
});

test("an empty secret counts as missing", () => {
  expect(missingSecrets({ ADMIN_TOKEN: "", KEY_SECRET: KEY })).toEqual(["ADMIN_TOKEN", "CREDENTIALS_KEY"]);
});

test.for([
  ["ADMIN_TOKEN", "two words"],
  ["ADMIN_TOKEN", "жетон"],
  ["KEY_SECRET", "short"],
  ["KEY_SECRET_PREVIOUS", KEY.slice(1)],
  ["CREDENTIALS_KEY", `${KEY}=`],
  ["CREDENTIALS_KEY_PREVIOUS", KEY.replace("=", "!")],
] as const)("%s=%s is malformed", ([name, value]) => {
  expect(malformedSecret({ [name]: value })?.name).toBe(name);
});

test("secrets that are well formed, empty or absent are not malformed", () => {
  expect(malformedSecret({ ADMIN_TOKEN: "dev", KEY_SECRET: KEY, KEY_SECRET_PREVIOUS: "", OTHER: "a b" })).toBeNull();
});

test("secrets that are appended to any text can be read again", () => {
  const line = fc.oneof(
    fc.string(),
    fc.constantFrom(...NAMES.map((name) => `${name}=""`), "A='open", 'B="open', "C=`open", "# '", "export", "\r"),
  );
  fc.assert(
    fc.property(fc.array(line), fc.boolean(), (lines, ends) => {
      const text = lines.join("\n") + (ends ? "\n" : "");
      const missing = missingSecrets(readVariables(text));
      const after = readVariables(text + newSecrets(missing, text, () => KEY));
      for (const name of missing) expect(after[name]).toBe(KEY);
    }),
  );
});

test("without a file, a private one with three secrets is created", async () => {
  const path = await newPath();
  const { created, variables } = await prepareDevVars(path, {});
  expect(created).toEqual(NAMES);
  expect(new Set(NAMES.map((name) => variables[name])).size).toBe(3);
  expect(malformedSecret(variables)).toBeNull();
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(readVariables(await readFile(path, "utf8"))).toEqual(variables);
});

test("an existing file keeps its values and gets the missing ones", async () => {
  const mine = `# mine\nADMIN_TOKEN="dev"\nKEY_SECRET=${KEY}`;
  const path = await newPath(mine);
  const { created, variables } = await prepareDevVars(path, {});
  expect(created).toEqual(["CREDENTIALS_KEY"]);
  expect(variables).toMatchObject({ ADMIN_TOKEN: "dev", KEY_SECRET: KEY });
  expect((await readFile(path, "utf8")).startsWith(`${mine}\n`)).toBe(true);
});

test("a file that other users can read is made private before a secret is added", async () => {
  const path = await newPath("ADMIN_TOKEN=dev\n");
  await chmod(path, 0o644);
  await prepareDevVars(path, {});
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test("a complete file is not changed", async () => {
  const path = await newPath();
  await prepareDevVars(path, {});
  await appendFile(path, "# end");
  const before = await readFile(path, "utf8");
  expect((await prepareDevVars(path, {})).created).toEqual([]);
  expect(await readFile(path, "utf8")).toBe(before);
});

test("--var replaces even a malformed value, and is not saved", async () => {
  const path = await newPath("KEY_SECRET=short\n");
  const { variables } = await prepareDevVars(path, { KEY_SECRET: KEY, ADMIN_TOKEN: "given" });
  expect(variables).toMatchObject({ KEY_SECRET: KEY, ADMIN_TOKEN: "given" });
  expect(await readFile(path, "utf8")).not.toContain("given");
});

test("an error about a malformed secret names its source but not its value, and nothing is written", async () => {
  const path = await newPath("KEY_SECRET=hunter2\n");
  const sentence = "KEY_SECRET in .dev.vars is malformed: it must be 32 bytes in base64.";
  await expect(prepareDevVars(path, {})).rejects.toThrow(expect.objectContaining({ message: sentence, exitCode: 1 }));
  await expect(prepareDevVars(path, { KEY_SECRET: "x" })).rejects.toThrow("KEY_SECRET in --var is malformed");
  expect(await readFile(path, "utf8")).toBe("KEY_SECRET=hunter2\n");
});

test("a file that can't be read or written is an error of one sentence", async () => {
  await expect(prepareDevVars(tmpdir(), {})).rejects.toThrow(`${tmpdir()} can't be read: EISDIR`);
  await expect(prepareDevVars("/proc/.dev.vars", {})).rejects.toThrow("/proc/.dev.vars can't be written: ENOENT");
});
