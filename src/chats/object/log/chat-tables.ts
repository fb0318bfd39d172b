import { CHAT_STEPS, CHAT_TABLES, type ChatTableName } from "./schema.ts";

/** The version of the tables that `ChatTables` creates. */
export const TABLES_VERSION = CHAT_STEPS.length + 1;

/** SQLite would store them in each chat, with the text of the statements. */
const COMMENTS = /^ *--.*\n/gm;

type Row = Record<string, SqlStorageValue>;

/** The tables of a chat. Each is created before its first row, here alone. */
export class ChatTables {
  readonly #storage: DurableObjectStorage;
  /** The tables that were there when this instance looked; undefined before. */
  #found: ReadonlySet<string> | undefined;
  readonly messages = new LateTable(this, "messages");
  readonly events = new LateTable(this, "events");
  readonly scheduled = new LateTable(this, "scheduled");
  readonly unplaced = new LateTable(this, "unplaced");
  readonly files = new LateTable(this, "files");
  readonly uploads = new LateTable(this, "uploads");
  readonly notes = new LateTable(this, "notes");

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  get sql(): SqlStorage {
    return this.#storage.sql;
  }

  /** Brings the tables that are there up to date. @param version of these tables */
  upgrade(version: number): void {
    for (const step of CHAT_STEPS.slice(version - 1)) {
      for (const [name, change] of Object.entries(step)) if (this[name as ChatTableName].exists) this.sql.exec(change);
    }
  }

  createAll(): void {
    for (const name of Object.keys(CHAT_TABLES) as ChatTableName[]) this[name].create();
  }

  /** Writes what `work` writes, or nothing. Then the tables that it created are not there either. */
  transaction(work: () => void): void {
    try {
      this.#storage.transactionSync(work);
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  /** Whether a table was there when this instance looked. */
  wasThere(name: ChatTableName): boolean {
    this.#found ??= new Set(this.#names());
    return this.#found.has(name);
  }

  /** The storage was deleted, or a write failed. */
  forget(): void {
    this.#found = undefined;
    for (const name of Object.keys(CHAT_TABLES) as ChatTableName[]) this[name].forget();
  }

  #names(): string[] {
    const query = "select name from sqlite_master where type = 'table'";
    const rows = this.sql.exec<{ name: string }>(query).toArray();
    return rows.map(({ name }) => name);
  }
}

/** A table of a chat. While the chat lacks it, it has no rows, and looking for some costs nothing. */
export class LateTable {
  readonly #tables: Pick<ChatTables, "sql" | "wasThere">;
  readonly #name: ChatTableName;
  /** This instance created it. */
  #isNew = false;

  constructor(tables: Pick<ChatTables, "sql" | "wasThere">, name: ChatTableName) {
    this.#tables = tables;
    this.#name = name;
  }

  get exists(): boolean {
    return this.#isNew || this.#tables.wasThere(this.#name);
  }

  /** Reads, changes or removes rows. @param query a statement on this table */
  run<T extends Row>(query: string, ...values: SqlStorageValue[]): T[] {
    return this.exists ? this.#tables.sql.exec<T>(query, ...values).toArray() : [];
  }

  /** Adds a row. @param query a statement on this table */
  insert(query: string, ...values: SqlStorageValue[]): void {
    if (!this.exists) this.create();
    this.#tables.sql.exec(query, ...values);
  }

  /** The chat must lack it. */
  create(): void {
    this.#tables.sql.exec(CHAT_TABLES[this.#name].replace(COMMENTS, ""));
    this.#isNew = true;
  }

  forget(): void {
    this.#isNew = false;
  }
}
