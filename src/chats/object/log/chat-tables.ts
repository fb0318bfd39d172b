import { CHAT_STEPS, CHAT_TABLES, type ChatTableName } from "./schema.ts";

/** The version of the tables that `ChatTables` creates. */
export const TABLES_VERSION = CHAT_STEPS.length + 1;

type Row = Record<string, SqlStorageValue>;

/** The tables of a chat. Each is created before its first row, here alone. */
export class ChatTables {
  readonly #storage: DurableObjectStorage;
  /** The tables that were there when this instance looked; undefined before. */
  #found: ReadonlySet<string> | undefined;
  /** What follows the transaction that runs; undefined if none does. */
  #effects: (() => void)[] | undefined;
  readonly messages = new LateTable(this, "messages");
  readonly events = new LateTable(this, "events");
  readonly scheduled = new LateTable(this, "scheduled");
  readonly unplaced = new LateTable(this, "unplaced");
  readonly files = new LateTable(this, "files");
  readonly uploads = new LateTable(this, "uploads");
  readonly held = new LateTable(this, "held");
  readonly notes = new LateTable(this, "notes");
  readonly reworded = new LateTable(this, "reworded");

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  get sql(): SqlStorage {
    return this.#storage.sql;
  }

  /**
   * Adds the columns that later versions added to the tables that are there. Each table is judged by its own statement:
   * an older Worker beside this one may have created it after this one knew the chat.
   * @param version that all tables have at least
   * @param note writes that they are up to date, in the same commit
   */
  upgrade(version: number, note?: () => void): void {
    const missing = this.#missingSince(version);
    if (missing.length === 0 && !note) return;
    this.transaction(() => {
      for (const { table, column } of missing) this.sql.exec(`alter table ${table} add column ${column}`);
      note?.();
    });
  }

  /** Creates the tables that versions before 0.3.0 expect in each chat. */
  createAll(): void {
    const later: ChatTableName[] = ["held", "reworded"];
    const expected = (Object.keys(CHAT_TABLES) as ChatTableName[]).filter((name) => !later.includes(name));
    for (const name of expected) this[name].create();
  }

  /** Writes what `work` writes, or nothing. Then the tables that it created are not there either. It can be part of another. */
  transaction(work: () => void): void {
    const outer = this.#effects;
    const effects = (this.#effects = outer ?? []);
    try {
      this.#storage.transactionSync(work);
    } catch (error) {
      this.#effects = undefined;
      this.forget();
      throw error;
    }
    if (outer) return;
    this.#effects = undefined;
    for (const effect of effects) effect();
  }

  /** Does something outside of the storage, once the transaction that runs is complete: now, if none runs. */
  onceWritten(effect: () => void): void {
    if (this.#effects) this.#effects.push(effect);
    else effect();
  }

  /** Whether a table was there when this instance looked. */
  wasThere(name: ChatTableName): boolean {
    this.#found ??= new Set(this.#statements().keys());
    return this.#found.has(name);
  }

  /** The storage was deleted, or a write failed. */
  forget(): void {
    this.#found = undefined;
    for (const name of Object.keys(CHAT_TABLES) as ChatTableName[]) this[name].forget();
  }

  #missingSince(version: number): { table: string; column: string }[] {
    const statements = this.#statements();
    this.#found = new Set(statements.keys());
    const added = CHAT_STEPS.slice(version - 1).flatMap((step) => Object.entries(step));
    return added
      .filter(([table, column]) => statements.has(table) && !statements.get(table)?.includes(` ${column}`))
      .map(([table, column]) => ({ table, column }));
  }

  /** By table, the statement that would create it as it is now. */
  #statements(): Map<string, string> {
    const query = "select name, sql from sqlite_master where type = 'table'";
    const rows = this.sql.exec<{ name: string; sql: string }>(query).toArray();
    return new Map(rows.map(({ name, sql }) => [name, sql]));
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
    this.#tables.sql.exec(CHAT_TABLES[this.#name]);
    this.#isNew = true;
  }

  forget(): void {
    this.#isNew = false;
  }
}
