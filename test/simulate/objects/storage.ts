import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";

type Row = Record<string, unknown>;

interface Prepared {
  statement: StatementSync;
  returnsRows: boolean;
}

/** SQLite in memory, with its statements prepared once. */
export class Database {
  readonly #db = new DatabaseSync(":memory:");
  readonly #statements = new Map<string, Prepared>();

  /** Runs statements that return nothing. */
  run(sql: string): void {
    this.#db.exec(sql);
  }

  query(sql: string, values: readonly unknown[]): { rows: Row[]; written: number } {
    const { statement, returnsRows } = this.#prepare(sql);
    const given = values as SQLInputValue[];
    if (returnsRows) return { rows: statement.all(...given) as Row[], written: 0 };
    return { rows: [], written: Number(statement.run(...given).changes) };
  }

  /** The rows as arrays of values. */
  arrays(sql: string, values: readonly unknown[]): unknown[][] {
    const { statement } = this.#prepare(sql);
    statement.setReturnArrays(true);
    try {
      return statement.all(...(values as SQLInputValue[])) as unknown as unknown[][];
    } finally {
      statement.setReturnArrays(false);
    }
  }

  close(): void {
    this.#db.close();
  }

  #prepare(sql: string): Prepared {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.#db.prepare(sql);
    const prepared = { statement, returnsRows: statement.columns().length > 0 };
    this.#statements.set(sql, prepared);
    return prepared;
  }
}

/**
 * The result of a statement. The platform's cursor reads a row when the one before it is asked for; this one has them all,
 * and is as open as the platform's.
 */
class Cursor implements IterableIterator<Row> {
  readonly rowsWritten: number;
  readonly #rows: Row[];
  #at = 0;

  constructor(rows: Row[], written: number) {
    this.#rows = rows;
    this.rowsWritten = written;
  }

  /** The statement has not ended. */
  get isOpen(): boolean {
    return this.#at < this.#rows.length;
  }

  get rowsRead(): number {
    return this.#rows.length;
  }

  next(): IteratorResult<Row> {
    const value = this.#rows[this.#at++];
    return value ? { done: false, value } : { done: true, value: undefined };
  }

  toArray(): Row[] {
    return [...this];
  }

  one(): Row {
    const [row, ...others] = this;
    if (!row || others.length > 0) throw new Error("Expected exactly one row");
    return row;
  }

  [Symbol.iterator](): this {
    return this;
  }
}

/** The key-value pairs and the alarm. Each change replaces them, so that it can be taken back. */
interface Pairs {
  kv: ReadonlyMap<string, unknown>;
  alarm: number | null;
}

/** SQLite drops no table while a statement is open. */
const DROPS_TABLE = /\bdrop\s+table\b/i;

const NONE: Pairs = { kv: new Map(), alarm: null };

/** The storage of an object, which outlives its instances. Writes can be taken back until they are committed. */
export class ObjectStorage {
  readonly #db = new Database();
  #pairs = NONE;
  #committed = NONE;
  /** In bytes, as the instance reads it. */
  databaseSize = 4_096;
  /** A transaction of SQLite has begun. */
  #hasBegun = false;
  #changes = 0;
  #known: string[] | null = null;

  get alarm(): number | null {
    return this.#pairs.alarm;
  }

  set alarm(alarm: number | null) {
    this.#pairs = { ...this.#pairs, alarm };
  }

  get<T>(key: string): T | undefined {
    return this.#pairs.kv.get(key) as T | undefined;
  }

  /** For judges: the rows of a query, none if a table is missing. */
  read<T>(table: string, query: string, ...values: unknown[]): T[] {
    return this.#tables().includes(table) ? (this.#db.query(query, values).rows as T[]) : [];
  }

  /** Grows whenever rows may have changed. */
  get changes(): number {
    return this.#changes;
  }

  get isEmpty(): boolean {
    return this.#pairs.kv.size === 0 && this.#tables().length === 0 && this.alarm === null;
  }

  get hasChanged(): boolean {
    return this.#hasBegun || this.#pairs !== this.#committed;
  }

  commit(): void {
    if (this.#hasBegun) this.#db.run("commit");
    this.#hasBegun = false;
    this.#committed = this.#pairs;
  }

  rollBack(): void {
    if (this.#hasBegun) {
      this.#db.run("rollback");
      this.#changed();
    }
    this.#hasBegun = false;
    this.#pairs = this.#committed;
  }

  close(): void {
    this.#db.close();
  }

  /**
   * The storage as an instance sees it. It throws once `isOver` returns true. A cursor that is left open stays open as long
   * as the instance.
   * @param fails whether a statement fails, for example because the disk is full
   */
  handle(isOver: () => boolean, fails: (query: string) => boolean = () => false): DurableObjectStorage {
    const cursors = new Set<Cursor>();
    const use = () => {
      if (isOver()) throw new Error("The instance is lost");
    };
    const size = () => this.databaseSize;
    const sql = {
      get databaseSize() {
        return size();
      },
      exec: (query: string, ...values: unknown[]) => {
        use();
        for (const cursor of cursors) if (!cursor.isOpen) cursors.delete(cursor);
        if (cursors.size > 0 && DROPS_TABLE.test(query)) throw new Error("database table is locked: SQLITE_LOCKED");
        if (fails(query)) throw new Error("database or disk is full: SQLITE_FULL");
        const cursor = this.#exec(query, values);
        cursors.add(cursor);
        return cursor;
      },
    };
    const handle = {
      sql,
      kv: this.#kv(use),
      transactionSync: <T>(work: () => T): T => {
        use();
        return this.#transaction(work);
      },
      getAlarm: async () => {
        use();
        return this.alarm;
      },
      setAlarm: async (at: number) => {
        use();
        this.alarm = at;
      },
      deleteAlarm: async () => {
        use();
        this.alarm = null;
      },
      deleteAll: async () => {
        use();
        this.#begin();
        for (const table of this.#tables()) this.#db.run(`drop table "${table}"`);
        this.#changed();
        this.#pairs = NONE;
      },
    };
    return handle as unknown as DurableObjectStorage;
  }

  #kv(use: () => void) {
    return {
      get: (key: string) => {
        use();
        return structuredClone(this.#pairs.kv.get(key));
      },
      put: (key: string, value: unknown) => {
        use();
        this.#change((kv) => kv.set(key, structuredClone(value)));
      },
      delete: (key: string) => {
        use();
        const isKnown = this.#pairs.kv.has(key);
        if (isKnown) this.#change((kv) => kv.delete(key));
        return isKnown;
      },
      list: ({ prefix = "" }: { prefix?: string } = {}) => {
        use();
        return structuredClone([...this.#pairs.kv].filter(([key]) => key.startsWith(prefix)));
      },
    };
  }

  #change(change: (kv: Map<string, unknown>) => void): void {
    const kv = new Map(this.#pairs.kv);
    change(kv);
    this.#pairs = { ...this.#pairs, kv };
  }

  #exec(query: string, values: unknown[]): Cursor {
    if (/^\s*select/.test(query)) return new Cursor(this.#db.query(query, values).rows, 0);
    this.#begin();
    this.#changes++;
    if (values.length > 0) {
      const { rows, written } = this.#db.query(query, values);
      return new Cursor(rows, written);
    }
    // Statements without values may be several, and may change the schema.
    this.#db.run(query);
    this.#changed();
    return new Cursor([], 0);
  }

  #transaction<T>(work: () => T): T {
    this.#begin();
    const before = this.#pairs;
    this.#db.run("savepoint nested");
    try {
      const result = work();
      this.#db.run("release nested");
      return result;
    } catch (error) {
      this.#db.run("rollback to nested");
      this.#db.run("release nested");
      this.#changed();
      this.#pairs = before;
      throw error;
    }
  }

  #begin(): void {
    if (!this.#hasBegun) this.#db.run("begin");
    this.#hasBegun = true;
  }

  /** Rows may have changed, and tables too. */
  #changed(): void {
    this.#changes++;
    this.#known = null;
  }

  #tables(): string[] {
    const query = "select name from sqlite_master where type = 'table' and name not like 'sqlite%'";
    this.#known ??= this.#db.query(query, []).rows.map(({ name }) => name as string);
    return this.#known;
  }
}
