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

/** The `seq` of the oldest message that each chat of a server has on disk. */
export async function oldestOnDisk(state: string): Promise<number[]> {
  const folder = join(state, "v3/do/parley-ChatObject");
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sqlite"));
  const found = names.map((name) =>
    withCopy(join(folder, name), (database) => {
      const hasMessages = database.prepare("select 1 from sqlite_schema where name = 'messages'").get();
      return hasMessages ? Number(database.prepare("select min(seq) as seq from messages").get()?.seq) : Number.NaN;
    }),
  );
  return Promise.all(found);
}

/** Reads a copy of a database, with its log: the server can have the original open. */
async function withCopy<T>(path: string, read: (database: DatabaseSync) => T): Promise<T> {
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
