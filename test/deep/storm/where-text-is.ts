import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, sep } from "node:path";
import { DatabaseSync } from "node:sqlite";

/**
 * Where a text stands in the data of a server: the names of objects' files, whatever part of the file it is in, and of
 * D1's tables. Of D1 the rows alone count: SQLite leaves the bytes of a deleted row in the file until it needs the
 * room, and D1 knows neither VACUUM nor `secure_delete`.
 */
export async function placesOf(text: string, state: string): Promise<string[]> {
  const entries = await readdir(state, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    if (!path.includes(`${sep}d1${sep}`)) {
      // One that is being removed has nothing in it.
      const bytes = await readFile(path).catch(() => Buffer.alloc(0));
      if (bytes.includes(text)) found.push(path.slice(state.length + 1));
    } else if (entry.name.endsWith(".sqlite"))
      found.push(...(await tablesWith(text, path)).map((name) => `D1's table ${name}`));
  }
  return found;
}

/** The tables of a database that hold a text. */
async function tablesWith(text: string, path: string): Promise<string[]> {
  return withCopy(path, (database) => {
    const tables = database.prepare("select name from sqlite_schema where type = 'table'").all();
    return tables.flatMap(({ name }) => {
      const statement = database.prepare(`select * from "${String(name)}"`);
      // The runtime keeps the times of alarms in nanoseconds.
      statement.setReadBigInts(true);
      return JSON.stringify(statement.all(), textOf).includes(text) ? [String(name)] : [];
    });
  });
}

/** Reads a copy of a database, with its log: the server can have the original open. */
export async function withCopy<T>(path: string, read: (database: DatabaseSync) => T): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "parley-copy-"));
  try {
    const copy = join(folder, basename(path));
    await cp(path, copy);
    await cp(`${path}-wal`, `${copy}-wal`).catch(() => {});
    const database = new DatabaseSync(copy);
    try {
      return read(database);
    } finally {
      database.close();
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

function textOf(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  return value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value;
}
