import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { reasonOf } from "../../command-error.ts";
import { bad, type Check, ok } from "./check.ts";

const WHAT = "migrations of the local database";

/** Checks that the database of `npm start` has all migrations. Only reads the database. */
export async function migrationsCheck(root: string, state: string): Promise<Check> {
  const names = (await readdir(join(root, "migrations"))).filter((name) => name.endsWith(".sql"));
  // The folder where wrangler stores databases.
  const folder = join(state, "v3", "d1", "miniflare-D1DatabaseObject");
  const files = (await readdir(folder).catch(() => [])).filter((name) => /^[0-9a-f]{64}\.sqlite$/.test(name));
  if (files.length === 0) return bad(WHAT, "unknown", `there is no database in ${state}`, "npm start creates it");
  let applied: string[] = [];
  try {
    for (const file of files) applied = [...applied, ...(await appliedIn(join(folder, file)))];
  } catch (error) {
    return bad(WHAT, "unknown", `it can't be read (${reasonOf(error)})`, "stop npm start and run doctor again");
  }
  const missing = names.filter((name) => !applied.includes(name));
  if (missing.length === 0) return ok(WHAT, `all ${names.length} applied`);
  return bad(WHAT, "fails", `not applied: ${missing.join(", ")}`, "restart npm start, which applies them");
}

async function appliedIn(path: string): Promise<string[]> {
  // Only here: older versions of Node warn when they load it.
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const has = database.prepare("select 1 from sqlite_master where name = 'd1_migrations'").get();
    return has
      ? database
          .prepare("select name from d1_migrations")
          .all()
          .map(({ name }) => String(name))
      : [];
  } finally {
    database.close();
  }
}
