import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { buildPackage } from "../../../src/cli/package/build.ts";

const root = new URL("../../..", import.meta.url).pathname;
const run = promisify(execFile);

/** Makes a project that has the package of `npm run package` installed. Returns its folder. */
export async function installedProject(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "parley-package-"));
  const modules = join(folder, "node_modules");
  await buildPackage(join(modules, "parley"));
  for (const name of ["openapi-fetch", "openapi-typescript-helpers", "@types", "undici-types"]) {
    await symlink(join(root, "node_modules", name), join(modules, name));
  }
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  return { folder, remove: () => rm(folder, { recursive: true }) };
}

/** Checks the types of a project's files as a user with strict settings does. @throws Error with the faults */
export async function checkTypes(...paths: string[]): Promise<void> {
  const settings = "--noEmit --strict --exactOptionalPropertyTypes --module nodenext --target es2023 --types node";
  await tsc(...settings.split(" "), "--ignoreConfig", ...paths);
}

/** The code of the TypeScript blocks below a heading of the client's guide. */
export async function codeBelow(heading: string): Promise<string> {
  const guide = await readFile(join(root, "src/docs/client.md"), "utf8");
  const [, section = ""] = guide.split(`\n## ${heading}\n`);
  const [own = ""] = section.split("\n## ");
  return Array.from(own.matchAll(/^```ts(?: Client)?\n(.*?)^```$/gms), ([, code = ""]) => code).join("\n");
}

/** The code block with a label, such as `python Python`, below a heading of a guide. */
export async function codeOf(guide: string, heading: string, label: string): Promise<string> {
  const [, after = ""] = (await readFile(join(root, "src/docs", `${guide}.md`), "utf8")).split(`\n## ${heading}\n`);
  const [section = ""] = after.split("\n## ");
  const [, code] = new RegExp(`^\`\`\`${label}\\n(.*?)^\`\`\`$`, "ms").exec(section) ?? [];
  if (code === undefined) throw new Error(`${guide}.md has no code with the label ${label} below ${heading}`);
  return code;
}

async function tsc(...args: string[]): Promise<void> {
  await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), ...args]).catch(
    ({ stdout }: { stdout: string }) => {
      throw new Error(stdout);
    },
  );
}
