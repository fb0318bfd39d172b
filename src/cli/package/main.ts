/** `npm run package`: makes `dist/parley-<version>.tgz`, which other projects install. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { buildPackage } from "./build.ts";

const dist = join(import.meta.dirname, "../../../dist");
const folder = await mkdtemp(join(tmpdir(), "parley-package-"));
try {
  await Promise.all([buildPackage(folder), mkdir(dist, { recursive: true })]);
  const { stdout } = await promisify(execFile)("npm", ["pack", "--pack-destination", dist], { cwd: folder });
  console.log(join(dist, stdout.trim()));
} finally {
  await rm(folder, { recursive: true });
}
