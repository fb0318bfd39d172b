import { CommandError } from "../command-error.ts";

/** What `wrangler.toml` says of where to deploy. */
export interface Target {
  accountId: string | null;
  databaseName: string;
  /** null while it is the placeholder of the repository. */
  databaseId: string | null;
}

const PLACEHOLDER = "00000000-0000-0000-0000-000000000000";

// A table ends where the next one begins, or the file does.
const DATABASES = /^\[\[d1_databases\]\][\s\S]*?(?=^\[|(?![\s\S]))/gm;
const ID = /^(\s*database_id\s*=\s*")([^"\r\n]*)(")/m;

/** @throws CommandError for a file that names no database */
export function readTarget(text: string): Target {
  const database = text.match(DATABASES)?.find(isOurs) ?? "";
  const databaseName = /^\s*database_name\s*=\s*"([^"\r\n]+)"/m.exec(database)?.[1];
  const databaseId = ID.exec(database)?.[2];
  if (!databaseName || !databaseId) {
    throw new CommandError(
      "wrangler.toml lacks the database DB with its database_name and database_id: git checkout wrangler.toml.",
    );
  }
  const accountId = /^account_id\s*=\s*"([^"\r\n]+)"/m.exec(text)?.[1] ?? null;
  return { accountId, databaseName, databaseId: databaseId === PLACEHOLDER ? null : databaseId };
}

/** The file with this database's id in place of the one that it has; nothing else of it changes. */
export function withDatabaseId(text: string, id: string): string {
  return text.replace(DATABASES, (database) => (isOurs(database) ? database.replace(ID, `$1${id}$3`) : database));
}

function isOurs(database: string): boolean {
  return /^\s*binding\s*=\s*"DB"/m.test(database);
}
