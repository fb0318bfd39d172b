import { readdir } from "node:fs/promises";
import { join } from "node:path";

/**
 * The migrations of a checkout, in order, and those that the database of `npm start` has; null if there is no database.
 * Only reads the database.
 * @throws if it can't be read
 */
export async function localMigrations(
  root: string,
  state: string,
): Promise<{ all: string[]; applied: string[] | null }> {
  const all = (await readdir(join(root, "migrations"))).filter((name) => name.endsWith(".sql")).sort();
  // The folder where wrangler stores databases.
  const folder = join(state, "v3", "d1", "miniflare-D1DatabaseObject");
  const files = (await readdir(folder).catch(() => [])).filter((name) => /^[0-9a-f]{64}\.sqlite$/.test(name));
  const applied = await Promise.all(files.map((file) => appliedIn(join(folder, file))));
  return { all, applied: files.length > 0 ? applied.flat() : null };
}

async function appliedIn(path: string): Promise<string[]> {
  // Only here: older versions of Node warn when they load it.
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const has = database.prepare("select 1 from sqlite_master where name = 'd1_migrations'").get();
    const rows = has ? database.prepare("select name from d1_migrations").all() : [];
    return rows.map(({ name }) => String(name));
  } finally {
    database.close();
  }
}
