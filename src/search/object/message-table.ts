import type { IndexChange, IndexedMessage } from "../../model/search-index.ts";
import type { GramTables } from "./gram-tables.ts";
import { firstIdOf, lastIdOf, secondOf } from "./places.ts";
import { storedWords, weightOf } from "./words.ts";

/** The cost of a message, in characters: at least that of its rows. */
const LEAST_WORK = 200;
/** So few are removed in a commit that the merge of each commit keeps up with them. */
const REMOVAL_WORK = 320;
/** A message to remove that is not there. */
const ABSENT_WORK = 5;

/** The work of a change. It writes as it is iterated, and each step yields its cost in characters. */
export type Steps = Iterator<number>;

type StoredChat = { number: number; life: number };

interface Stored {
  id: number;
  gram_table: number;
  [column: string]: SqlStorageValue;
}

/**
 * The messages of an index. A message gets an id of the second in which it was created, so that FTS5 finds the newest
 * messages first, also among those that came late. If all ids of the second are taken, it gets one of a later second.
 */
export class MessageTable {
  readonly #sql: SqlStorage;
  readonly #grams: GramTables;

  constructor(sql: SqlStorage, grams: GramTables) {
    this.#sql = sql;
    this.#grams = grams;
  }

  get isEmpty(): boolean {
    return this.#sql.exec("select 1 from messages limit 1").toArray().length === 0;
  }

  /** Does what changed in a chat. What an earlier life of it says late is ignored. */
  *change({ chatId, life, channelId, put, remove, removeUpTo }: IndexChange): Steps & Iterable<number> {
    yield* this.removeChat(chatId, life - 1);
    const known = this.#chat(chatId);
    if (known && known.life > life) return;
    if (known) {
      for (const seq of remove) yield this.#remove(this.#find(known.number, seq));
      yield* this.#removeUpTo(known.number, removeUpTo);
    }
    if (put.length === 0) return;
    const chat = known?.number ?? this.#addChat(chatId, life);
    for (const message of put) yield this.#put(chat, channelId, message);
  }

  /** Removes the messages of a chat, unless they are of a life after `life`. */
  *removeChat(chatId: string, life: number): Steps & Iterable<number> {
    const chat = this.#chat(chatId);
    if (!chat || chat.life > life) return;
    yield* this.#removeUpTo(chat.number, Number.MAX_SAFE_INTEGER);
    this.#sql.exec("delete from chats where number = ?", chat.number);
  }

  #put(chat: number, channelId: string, message: IndexedMessage): number {
    const { seq, direction, text } = message;
    const { id, gram_table: table } = this.#find(chat, seq) ?? this.#add(chat, message);
    const words = storedWords({ channelId, direction, text });
    this.#grams.write(table, id, words, weightOf(words));
    return Math.max(LEAST_WORK, text.length);
  }

  #add(chat: number, { seq, at }: IndexedMessage): Stored {
    const { id, shift } = this.#freeId(at);
    const table = this.#grams.add(id, shift);
    const insert = "insert into messages (id, chat, seq, at, gram_table) values (?, ?, ?, ?, ?)";
    this.#sql.exec(insert, id, chat, seq, at, table);
    return { id, gram_table: table };
  }

  #freeId(at: number): { id: number; shift: number } {
    for (let shift = 0; ; shift++) {
      const second = secondOf(at) + shift;
      const query = "select max(id) as last from messages where id between ? and ?";
      const { last } = this.#sql.exec<{ last: number | null }>(query, firstIdOf(second), lastIdOf(second)).one();
      if (last === null) return { id: firstIdOf(second), shift };
      if (last < lastIdOf(second)) return { id: last + 1, shift };
    }
  }

  *#removeUpTo(chat: number, seq: number): Generator<number> {
    const query = "select id, gram_table from messages where chat = ? and seq <= ? limit 1";
    for (;;) {
      const [first] = this.#sql.exec<Stored>(query, chat, seq).toArray();
      if (!first) return;
      yield this.#remove(first);
    }
  }

  #remove(stored: Stored | undefined): number {
    if (!stored) return ABSENT_WORK;
    this.#grams.remove(stored.gram_table, stored.id);
    this.#sql.exec("delete from messages where id = ?", stored.id);
    return REMOVAL_WORK;
  }

  #find(chat: number, seq: number): Stored | undefined {
    const query = "select id, gram_table from messages where chat = ? and seq = ?";
    return this.#sql.exec<Stored>(query, chat, seq).toArray()[0];
  }

  /** Undefined if nothing of the chat was ever stored. */
  #chat(id: string): StoredChat | undefined {
    return this.#sql.exec<StoredChat>("select number, life from chats where id = ?", id).toArray()[0];
  }

  #addChat(id: string, life: number): number {
    const insert = "insert into chats (id, life) values (?, ?) returning number";
    return this.#sql.exec<{ number: number }>(insert, id, life).one().number;
  }
}
