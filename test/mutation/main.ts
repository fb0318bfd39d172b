import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { PURE } from "./modules.ts";

const here = import.meta.dirname;
const root = join(here, "../..");
const REPORTS = "coverage/mutation";
/** What no test of a mutant reads, or what is linked to. */
const LEFT_BEHIND = ["node_modules", ".git", ".wrangler", ".dev.vars", "dist", "coverage"];

process.exitCode = main(process.argv.slice(2));

/**
 * `npm run test:long -- mutation`: 0 when enough mutants are killed. Stryker changes the files that it mutates in place, so
 * it is given a copy of the project; it has a folder of packages of its own, which `npm ci` here does not install.
 * @param options Stryker's own
 */
function main(options: string[]): number {
  const missing = PURE.filter((path) => !existsSync(join(root, path)));
  if (missing.length > 0) throw new Error(`test/mutation/modules.ts names ${missing.join(", ")}, which is not there`);
  if (!existsSync(join(here, "node_modules"))) {
    const code = run("npm", ["ci", "--no-audit", "--no-fund", "--prefix", here], root);
    if (code !== 0) return code;
  }
  const copy = mkdtempSync(join(tmpdir(), "parley-mutation-"));
  try {
    cpSync(root, copy, { recursive: true, filter: (path) => !LEFT_BEHIND.includes(basename(path)) });
    symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
    symlinkSync(join(here, "node_modules"), join(copy, "test/mutation/node_modules"));
    // What `--incremental` goes on from.
    if (existsSync(join(root, REPORTS))) cpSync(join(root, REPORTS), join(copy, REPORTS), { recursive: true });
    const stryker = join(here, "node_modules/@stryker-mutator/core/bin/stryker.js");
    const code = run(process.execPath, [stryker, "run", "test/mutation/stryker.config.ts", ...options], copy);
    if (existsSync(join(copy, REPORTS))) {
      cpSync(join(copy, REPORTS), join(root, REPORTS), { recursive: true });
      // Stryker has named those of the copy, which are gone.
      process.stdout.write(`Reports: ${REPORTS}\n`);
    }
    return code;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Runs a program to its end. An interrupt ends it too, as it has the same terminal; this process cleans up after it. */
function run(program: string, args: string[], cwd: string): number {
  const { status, error } = spawnSync(program, args, { cwd, stdio: "inherit" });
  if (error) throw error;
  return status ?? 130;
}
