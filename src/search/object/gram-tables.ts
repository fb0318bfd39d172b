/** What one table of grams holds. A search reads a whole table in one step, so its size limits the step. */
export interface GramTable {
  number: number;
  /** How many messages were ever added, and what these and their later texts weigh, see `weightOf`. */
  messages: number;
  weight: number;
  /** How many of the messages were removed. */
  removed: number;
  /** All ids of its messages are from `low` to `high`. It has none if `low` is greater. */
  low: number;
  high: number;
  /** The id of a message may be of a later second than its time, by this many seconds at most. */
  shift: number;
}

/** The bounds of an index. */
export interface IndexLimits {
  /** A table of grams with as many messages, or with this weight, gets no other messages. */
  tableMessages: number;
  tableWeight: number;
  /** An index with as many messages or bytes says that it is full. */
  messages: number;
  bytes: number;
}

/** The ids of a table that has no messages yet, or was dropped. */
const NO_IDS: Pick<GramTable, "low" | "high"> = { low: Number.MAX_SAFE_INTEGER, high: Number.MIN_SAFE_INTEGER };

/** A table counts its work by the weight of what was written, and this for each message that came or went. */
const MESSAGE_WORK = 125;
/** A commit that ends another part of this work also merges. */
const WORK_BETWEEN_MERGES = 2_000;
/** How many pages a commit merges, and how much work of its own adds one. */
const MERGED_PAGES = 16;
const WORK_A_PAGE = 500;
/** The least share of the pages that a commit merges in a table that has lost most messages. */
const LEAST_SHARE = 0.1;

type Row = GramTable & Record<string, SqlStorageValue>;

/** The tables of grams, in which FTS5 finds messages. Only the last one gets new messages. */
export class GramTables {
  readonly #storage: DurableObjectStorage;
  readonly #limits: () => IndexLimits;
  #tables: GramTable[] | undefined;
  readonly #changed = new Set<GramTable>();
  readonly #reduced = new Set<GramTable>();
  /** How much work the tables had taken before the commit that writes to them, by their numbers. */
  readonly #workBefore = new Map<number, number>();

  constructor(storage: DurableObjectStorage, limits: () => IndexLimits) {
    this.#storage = storage;
    this.#limits = limits;
  }

  /** A write failed, so that memory and storage may differ. */
  forget(): void {
    this.#tables = undefined;
    this.#changed.clear();
    this.#reduced.clear();
    this.#workBefore.clear();
  }

  /** The tables that have messages, the oldest first. */
  get inUse(): GramTable[] {
    return this.#known.filter(({ number }) => this.isInUse(number));
  }

  /** Whether a table has messages. One that has none may be dropped. */
  isInUse(number: number): boolean {
    const { messages, removed } = this.#table(number);
    return removed < messages;
  }

  /** Whether there is more than one, so that the index has much storage. */
  get areMany(): boolean {
    return this.#known.length > 1;
  }

  get isFull(): boolean {
    const { messages, bytes } = this.#limits();
    const taken = this.#known.reduce((sum, table) => sum + table.messages, 0);
    return taken >= messages || this.#sql.databaseSize >= bytes;
  }

  /**
   * Adds a table if the last one takes no more messages, and drops one that has lost all of its own. It has a commit of its
   * own: if the commit that creates a table of FTS5 also wrote to it and failed, no later commit would succeed.
   */
  prepare(): void {
    const { tableMessages, tableWeight } = this.#limits();
    const last = this.#known.at(-1);
    if (!last || last.messages >= tableMessages || last.weight >= tableWeight) this.#create();
    const empty = this.#known.slice(0, -1).find(({ number, low, high }) => low <= high && !this.isInUse(number));
    if (empty) this.#drop(empty);
  }

  #create(): void {
    const number = this.#known.length;
    this.#changed.add({ number, messages: 0, weight: 0, removed: 0, ...NO_IDS, shift: 0 });
    this.#storage.transactionSync(() => {
      // The texts are in the chats. `detail=none` stores which messages have a word, and not where.
      this.#sql.exec(`create virtual table ${nameOf(number)}
        using fts5(words, content='', contentless_delete=1, tokenize='ascii', detail=none)`);
      this.#store();
    });
    // FTS5 would merge in a few long steps, most of all after removals.
    this.#sql.exec(`insert into ${nameOf(number)} (${nameOf(number)}, rank) values ('automerge', 0)`);
    this.#tables = undefined;
  }

  /** Its row stays, because the numbers of tables are their places. */
  #drop(table: GramTable): void {
    this.#changed.add(Object.assign(table, NO_IDS));
    this.#storage.transactionSync(() => {
      this.#sql.exec(`drop table ${nameOf(table.number)}`);
      this.#store();
    });
  }

  /**
   * Adds a new message to the last table.
   * @param shift how many seconds its id is later than its time
   * @returns the table's number
   */
  add(id: number, shift: number): number {
    const table = this.#written(this.#known.length - 1);
    table.messages++;
    table.low = Math.min(table.low, id);
    table.high = Math.max(table.high, id);
    table.shift = Math.max(table.shift, shift);
    this.#changed.add(table);
    return table.number;
  }

  /** Stores the words of a message that a table has, instead of those it had. @param weight see `weightOf` */
  write(number: number, id: number, words: string, weight: number): void {
    this.#sql.exec(`insert or replace into ${nameOf(number)} (rowid, words) values (?, ?)`, id, words);
    const table = this.#written(number);
    table.weight += weight;
    this.#changed.add(table);
  }

  /** Removes a message. FTS5 ignores its words until a merge, or until the table is dropped. */
  remove(number: number, id: number): void {
    this.#sql.exec(`delete from ${nameOf(number)} where rowid = ?`, id);
    const table = this.#written(number);
    table.removed++;
    this.#reduced.add(table);
  }

  /**
   * Merges parts of the tables that were written to, and stores what changed in memory. The last part of each commit. FTS5
   * merges for a search that is fast, and to lose the words of removed messages.
   */
  endCommit(): void {
    for (const [number, before] of this.#workBefore) {
      const table = this.#table(number);
      const work = workOf(table);
      if (Math.floor(work / WORK_BETWEEN_MERGES) === Math.floor(before / WORK_BETWEEN_MERGES)) continue;
      const name = nameOf(number);
      // The fewer messages are left, the more pages are read for each that is written.
      const share = Math.max(LEAST_SHARE, 1 - table.removed / table.messages);
      const pages = Math.ceil(share * (MERGED_PAGES + (work - before) / WORK_A_PAGE));
      this.#sql.exec(`insert into ${name} (${name}, rank) values ('merge', ?)`, pages);
    }
    this.#workBefore.clear();
    this.#store();
  }

  #store(): void {
    const statement = "insert or replace into gram_tables values (?, ?, ?, ?, ?, ?)";
    for (const { number, messages, weight, low, high, shift } of this.#changed) {
      this.#sql.exec(statement, number, messages, weight, low, high, shift);
    }
    this.#changed.clear();
    for (const { number, removed } of this.#reduced) {
      this.#sql.exec("insert or replace into removals values (?, ?)", number, removed);
    }
    this.#reduced.clear();
  }

  /** SQL for the ids of messages in a table that a query finds: those between two ids, the greatest first. */
  idsIn({ number }: GramTable): string {
    const name = nameOf(number);
    return `select rowid as id from ${name} where ${name} match ? and rowid between ? and ? order by rowid desc limit ?`;
  }

  /** A table that the commit writes to. */
  #written(number: number): GramTable {
    const table = this.#table(number);
    if (!this.#workBefore.has(number)) this.#workBefore.set(number, workOf(table));
    return table;
  }

  #table(number: number): GramTable {
    const table = this.#known[number];
    if (!table) throw new Error(`There is no table ${number}`);
    return table;
  }

  get #known(): GramTable[] {
    const query = `select number, gram_tables.messages, characters as weight, low, high, shift, coalesce(removals.messages, 0) as removed
      from gram_tables left join removals on gram_table = number order by number`;
    this.#tables ??= this.#sql.exec<Row>(query).toArray();
    return this.#tables;
  }

  get #sql(): SqlStorage {
    return this.#storage.sql;
  }
}

function nameOf(number: number): string {
  return `grams_${number}`;
}

function workOf({ weight, messages, removed }: GramTable): number {
  return weight + MESSAGE_WORK * (messages + removed);
}
