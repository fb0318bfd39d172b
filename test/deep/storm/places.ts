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

/** The tables that hold a text, of a server's objects and of D1. */
export async function tablesWithText(text: string, state: string): Promise<string[]> {
  const entries = await readdir(state, { recursive: true, withFileTypes: true });
  const paths = entries.filter(({ name }) => name.endsWith(".sqlite")).map((each) => join(each.parentPath, each.name));
  const found: string[] = [];
  for (const path of paths) {
    const tables = await tablesWith(text, path);
    found.push(...tables.map((name) => `${name} in ${path.slice(state.length + 1)}`));
  }
  return found;
}

/** The tables of a database that hold a text. A copy is read, with its log: the server has the original open. */
async function tablesWith(text: string, path: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), "parley-copy-"));
  try {
    const copy = join(folder, basename(path));
    await cp(path, copy);
    await cp(`${path}-wal`, `${copy}-wal`).catch(() => {});
    const database = new DatabaseSync(copy);
    const tables = database.prepare("select name from sqlite_schema where type = 'table'").all();
    const found = tables.flatMap(({ name }) => {
      const statement = database.prepare(`select * from "${String(name)}"`);
      // The runtime keeps the times of alarms in nanoseconds.
      statement.setReadBigInts(true);
      const rows = statement.all();
      return JSON.stringify(rows, textOf).includes(text) ? [String(name)] : [];
    });
    database.close();
    return found;
  } finally {
    await rm(folder, { recursive: true });
  }
}

function textOf(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  return value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value;
}
