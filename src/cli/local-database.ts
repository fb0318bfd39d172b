import { createHash, createHmac } from "node:crypto";
import { access, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * The migrations of a checkout, in order, and those that its local database has; null if there is no database. Only
 * reads the database.
 * @param state the folder of the local data
 * @throws if it can't be read
 */
export async function localMigrations(
  root: string,
  state: string,
): Promise<{ all: string[]; applied: string[] | null }> {
  const all = (await readdir(join(root, "migrations"))).filter((name) => name.endsWith(".sql")).sort();
  const database = join(state, await databasePath(root));
  const isThere = await access(database).then(
    () => true,
    () => false,
  );
  return { all, applied: isThere ? await appliedIn(database) : null };
}

/** Where wrangler stores the database of `wrangler.toml`, below the folder of the local data. */
export async function databasePath(root: string): Promise<string> {
  const configuration = await readFile(join(root, "wrangler.toml"), "utf8");
  const [, id = ""] = /^\s*database_id\s*=\s*"([^"\r\n]*)"/m.exec(configuration) ?? [];
  const kind = "miniflare-D1DatabaseObject";
  // The name of a Durable Object's file: the runtime derives it from the class and the name of the object.
  const key = createHash("sha256").update(kind).digest();
  const hash = (data: string | Buffer) => createHmac("sha256", key).update(data).digest().subarray(0, 16);
  const name = hash(id);
  return join("v3", "d1", kind, `${Buffer.concat([name, hash(name)]).toString("hex")}.sqlite`);
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
