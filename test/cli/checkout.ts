import { cp, mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";

const root = new URL("../..", import.meta.url).pathname;

/**
 * Copies what `parley` needs of the checkout into `<folder>/checkout`. A developer's own has what `npm start` wrote there,
 * which the command would read.
 */
export async function copyCheckout(folder: string): Promise<void> {
  const checkout = join(folder, "checkout");
  await mkdir(join(checkout, "src"), { recursive: true });
  for (const path of [
    "src/cli",
    "src/client",
    "src/model",
    "src/platform/backoff.ts",
    "migrations",
    "wrangler.toml",
    "package.json",
  ]) {
    await cp(join(root, path), join(checkout, path), { recursive: true });
  }
  await symlink(join(root, "node_modules"), join(checkout, "node_modules"));
}
