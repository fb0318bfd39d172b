import { mkdir, readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";

/** The SQLite files of the directory and the objects, by their paths in a server's data. */
export async function databases(state: string): Promise<string[]> {
  const entries = await readdir(state, { recursive: true });
  return entries.filter((path) => /^v3\/(d1|do)\/.*\.sqlite$/.test(path)).sort();
}

/** A database as text: its schema as it lies, and its rows. */
export function dumpOf(path: string): string {
  const database = new DatabaseSync(path);
  const lines: string[] = [];
  const schema = all<Made>(database, "select type, name, sql from sqlite_schema order by rowid");
  for (const { sql, name } of schema) if (sql && !isSqlites(name)) lines.push(`${sql};`);
  for (const { type, name } of schema) {
    if (type !== "table" || isSqlites(name)) continue;
    const columns = all<Column>(database, `pragma table_xinfo("${name}")`);
    const stored = columns.filter(({ hidden }) => hidden === 0).map((column) => `"${column.name}"`);
    const rows = database.prepare(`select ${stored.join(", ")} from "${name}"`);
    rows.setReadBigInts(true);
    for (const row of rows.all()) {
      lines.push(
        `insert into "${name}" (${stored.join(", ")}) values (${Object.values(row).map(literal).join(", ")});`,
      );
    }
  }
  database.close();
  return `${lines.join("\n")}\n`;
}

/** Makes a database of its text. */
async function restore(dump: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  // Rows lie in the dump table by table, before those that they name.
  const database = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  database.exec("pragma journal_mode = wal");
  database.exec(`begin;\n${dump}commit;`);
  database.close();
}

/** Makes a server's data of a folder of dumps. */
export async function restoreAll(folder: string, state: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql"));
  if (names.length === 0) throw new Error(`${folder} has no dumps`);
  for (const name of names) await restore(await readFile(join(folder, name), "utf8"), join(state, pathOf(name)));
}

/** The file of a database's dump, and back. */
export const fileOf = (path: string) => `${path.replaceAll("/", "__").replace(/\.sqlite$/, "")}.sql`;
const pathOf = (name: string) => `${name.replaceAll("__", "/").replace(/\.sql$/, "")}.sqlite`;

/** What a database is made of, column by column and index by index: the same however it came to be so. */
export function shapeOf(of: string | DatabaseSync): Record<string, string[]> {
  const database = typeof of === "string" ? new DatabaseSync(of, { readOnly: true }) : of;
  const shape: Record<string, string[]> = {};
  for (const { name } of all<Made>(database, "select name from sqlite_schema where type = 'table'")) {
    if (isSqlites(name) || isPlatforms(name)) continue;
    const columns = all<Column>(database, `pragma table_xinfo("${name}")`).map(
      (column) =>
        `column ${column.name} ${column.type} ${column.notnull} ${column.dflt_value} ${column.pk} ${column.hidden}`,
    );
    const made = all<Made>(database, "select name, tbl_name as owner, sql from sqlite_schema where type = 'index'");
    const indexes = made.filter((index) => index.owner === name).map((index) => `index ${index.name} ${index.sql}`);
    shape[name] = [...columns.sort(), ...indexes.sort()];
  }
  database.close();
  return shape;
}

/** The file of an object, by the name that it was called by. */
export async function fileOfObject(state: string, name: string): Promise<string> {
  for (const path of await databases(state)) {
    if (path.includes("metadata") || path.includes("/d1/")) continue;
    const database = new DatabaseSync(join(state, path), { readOnly: true });
    const isIt = database.prepare("select 1 from __miniflare_do_name where name = ?").get(name) !== undefined;
    database.close();
    if (isIt) return join(state, path);
  }
  throw new Error(`${name} has no file`);
}

interface Made {
  type: string;
  name: string;
  owner: string;
  sql: string | null;
}

interface Column {
  name: string;
  type: string;
  notnull: number;
  dflt_value: string | null;
  pk: number;
  hidden: number;
}

function all<Row>(database: DatabaseSync, statement: string): Row[] {
  return database.prepare(statement).all() as Row[];
}

const isPlatforms = (name: string) => /^(_|d1_)/.test(name);
const isSqlites = (name: string) => name.startsWith("sqlite_");

function literal(value: SQLOutputValue): string {
  if (value === null) return "null";
  if (value instanceof Uint8Array) return `x'${Buffer.from(value).toString("hex")}'`;
  return typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : String(value);
}
