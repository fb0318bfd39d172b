import { cp, mkdtemp, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

const root = new URL("../../..", import.meta.url).pathname;
const NOT_COPIED = ["node_modules", ".git", ".wrangler", ".dev.vars", ".deploy.vars", "coverage", "dist", "test"];

/** Copies the checkout to a new temporary folder, without secrets, data and builds. @returns the folder */
export async function copyCheckout(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "parley-checkout-"));
  await cp(root, folder, { recursive: true, filter: (path) => !NOT_COPIED.includes(basename(path)) });
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  return folder;
}
