import { CommandError } from "../command-error.ts";

/** The account and database that `wrangler.toml` names. */
export interface Target {
  workerName: string;
  accountId: string | null;
  databaseName: string;
  /** Null if the file has the repository's placeholder. */
  databaseId: string | null;
}

export interface Bucket {
  name: string;
  /** Null for a bucket without one. */
  jurisdiction: string | null;
}

const PLACEHOLDER = "00000000-0000-0000-0000-000000000000";

// A table ends at the next table or at the end of the file.
const DATABASES = /^\[\[d1_databases\]\][\s\S]*?(?=^\[|(?![\s\S]))/gm;
const BUCKETS = /^\[\[r2_buckets\]\][\s\S]*?(?=^\[|(?![\s\S]))/gm;
const ID = /^(\s*database_id\s*=\s*")([^"\r\n]*)(")/m;

/** Parses `wrangler.toml`. @throws CommandError if it names no Worker or no database */
export function readTarget(text: string): Target {
  const workerName = /^name\s*=\s*"([^"\r\n]+)"/m.exec(text)?.[1];
  if (!workerName) throw new CommandError("wrangler.toml has no name. Restore the file: git checkout wrangler.toml.");
  const database = text.match(DATABASES)?.find(isServiceDatabase) ?? "";
  const databaseName = settingOf(database, "database_name");
  const databaseId = ID.exec(database)?.[2];
  if (!databaseName || !databaseId) {
    throw new CommandError(
      "wrangler.toml has no database DB with a database_name and a database_id. Restore the file: git checkout wrangler.toml.",
    );
  }
  const accountId = /^account_id\s*=\s*"([^"\r\n]+)"/m.exec(text)?.[1] ?? null;
  return { workerName, accountId, databaseName, databaseId: databaseId === PLACEHOLDER ? null : databaseId };
}

/** Replaces the database's id in the text of `wrangler.toml`, and changes nothing else. */
export function withDatabaseId(text: string, id: string): string {
  return text.replace(DATABASES, (database) =>
    isServiceDatabase(database) ? database.replace(ID, `$1${id}$3`) : database,
  );
}

/** The buckets that `wrangler.toml` names. */
export function readBuckets(text: string): Bucket[] {
  return (text.match(BUCKETS) ?? []).flatMap((bucket) => {
    const name = settingOf(bucket, "bucket_name");
    return name === undefined ? [] : [{ name, jurisdiction: settingOf(bucket, "jurisdiction") ?? null }];
  });
}

/** The text of `wrangler.toml` without its buckets. */
export function withoutBuckets(text: string): string {
  return text.replace(BUCKETS, "");
}

function settingOf(table: string, key: string): string | undefined {
  return new RegExp(`^\\s*${key}\\s*=\\s*"([^"\\r\\n]+)"`, "m").exec(table)?.[1];
}

function isServiceDatabase(database: string): boolean {
  return /^\s*binding\s*=\s*"DB"/m.test(database);
}
