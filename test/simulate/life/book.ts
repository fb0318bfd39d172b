import type { MessageChange } from "../../../src/model/chat-answers.ts";
import type { EventType } from "../../../src/model/event.ts";
import type { ShownMessage } from "../../../src/model/message.ts";
import type { NetworkAct } from "../../../src/model/network.ts";
import type { WorkStatus } from "../../../src/model/work-state.ts";
import type { ObjectStorage } from "../objects/storage.ts";

type Table = "messages" | "scheduled" | "unplaced";
type Columns = Record<string, unknown> & { doc: string };

/** A stored message, with all columns of its row. */
export interface Row {
  table: Table;
  message: ShownMessage;
  columns: Columns;
}

/** A stored event. `note`: JSON. */
export interface EventRow {
  n: number;
  type: string;
  seq: number | null;
  note: string | null;
}

/** What the key of a contact's message begins with. */
export const INBOUND = "in:";

/** A scheduled message that is due within this time counts for `ifSeq`. */
const SOON_MS = 15_000;

const TABLES: readonly Table[] = ["messages", "scheduled", "unplaced"];
const KEY = { messages: "seq", scheduled: "id", unplaced: "n" } as const;

/** The messages that one life of a chat stores, and what happened to them. */
export class Book {
  readonly life: number;
  /** The chat is of a website's visitor. */
  readonly isWeb: boolean;
  /** By the message's id, as of the last commit, and as of the one before. */
  rows: ReadonlyMap<string, Row> = new Map();
  before: ReadonlyMap<string, Row> = new Map();
  /** The rows of the last commit, by their table and key. */
  #read = new Map<string, Row>();
  /** The storage's count of changes when its rows were read. */
  #changes = -1;
  /** The ids of messages that were sent to the network at least once. */
  readonly onWire = new Set<string>();
  /** Those of them that the network may have sent to the contact. */
  readonly mayBeOut = new Set<string>();
  /** The seq of the last message that was sent to the network. */
  lastSent = 0;
  /** All words that each message ever had, by id. */
  readonly words = new Map<string, readonly string[]>();
  /** In how many parts each message is sent, by id. */
  readonly parts = new Map<string, number>();
  /** The changes of messages that its network told the chat of, in the order of their arrival. */
  readonly heard: MessageChange[] = [];
  /** The latest edit that a network told of, and the latest reaction of each side, by the message's id. */
  readonly changedAt = new Map<string, number>();
  /** How many events there must be, by their type and the message's seq. */
  readonly expected = new Map<string, number>();
  /** The company's reactions that the network has shown. */
  readonly shown: Extract<NetworkAct, { act: "react" }>[] = [];
  /** The calls of clients that react, or that mark messages as read: the message's id, and the emoji. */
  readonly acts: { method: string; messageId: string; emoji?: string | null }[] = [];
  /** The company's reactions that failed, each with its time, when the chat was told so. */
  readonly failed = new Set<string>();
  /** The seq up to which a client has read. */
  readUpTo = 0;
  /** The last message as the list of chats shows it. */
  listed: { id: string; text: string } | null = null;
  /** The ids of messages whose redaction was answered. */
  readonly redacted = new Set<string>();
  /** The message that each idempotency key returned first, by the key's hash. */
  readonly keys = new Map<string, string>();
  /** The ids of messages that were ever scheduled, and of those that ended without a place. */
  readonly scheduled = new Set<string>();
  readonly ended = new Set<string>();
  /** The latest time that the chat's clock showed. */
  latest = 0;
  /** The message at the head of the queue, since when, and the losses and changes of the clock until then. */
  head = { seq: 0, since: 0, losses: 0, clockChanges: 0 };
  /** A due message waits until this time of the chat's clock, after a fault or for room in the queue. */
  restsUntil = 0;
  /** How many messages failed in the last commit although they could be queued. */
  justFailed = 0;
  /** The seq of the newest message that retention deleted, and of the newest message ever; 0 if there is none. */
  floor = 0;
  newest = 0;
  /** The ids of messages that retention deleted. */
  readonly purged = new Set<string>();
  /** The messages that were written elsewhere and are held, by their ids: since when, by the chat's clock. */
  held: ReadonlyMap<string, number> = new Map();
  /** The ids of those whose call was answered, and of those that took their places. */
  readonly acknowledged = new Set<string>();
  readonly placed = new Set<string>();
  /** The last event that was read. */
  #lastEvent = 0;
  /** The handler as the events tell it. */
  handler: "bot" | "people" | undefined;
  /** How often the chat changed hands, behind which message it last did, and since when the contact waits for people. */
  hands: { count: number; after: number; wait: { waitsSince: number; after: number } | null } | undefined;
  /** The state of the work as the events tell it, and the seq of the newest message when the chat was last closed. */
  work: WorkStatus = { state: "open", snoozedUntil: null };
  closedAfter: number | null = null;
  /** The labels as of the last commit. */
  labels: readonly string[] = [];
  /** The channel allows no attempt before this time of the world. */
  heldUntil = 0;

  constructor(life: number, isWeb: boolean) {
    this.life = life;
    this.isWeb = isWeb;
  }

  /** A change of a message was made at this time, by the name of what changed. */
  upTo(name: string, at: number): void {
    this.changedAt.set(name, Math.max(at, this.changedAt.get(name) ?? 0));
  }

  /**
   * A message has changed, and an event must tell it.
   * @param told how many events of this type the message has
   * @returns whether there is one more than before. Several frames of a page's visitor may be handled in one commit.
   */
  expect(type: EventType, { seq }: ShownMessage, told: number): boolean {
    const name = `${type} ${seq}`;
    const before = this.expected.get(name) ?? 0;
    this.expected.set(name, told);
    return this.isWeb ? told > before : told === before + 1;
  }

  /** The rows of a storage, in the order of their tables. A row that did not change is the same object as before. */
  read(storage: ObjectStorage): Row[] {
    if (storage.changes === this.#changes) return [...this.#read.values()];
    this.#changes = storage.changes;
    const before = this.#read;
    this.#read = new Map();
    for (const table of TABLES) {
      for (const columns of storage.read<Columns>(table, `select * from ${table} order by ${KEY[table]}`)) {
        const key = `${table} ${String(columns[KEY[table]])}`;
        const known = before.get(key);
        const row = known && isSame(known.columns, columns) ? known : rowOf(table, columns);
        this.#read.set(key, row);
      }
    }
    return [...this.#read.values()];
  }

  /** The events since the last call. */
  newEvents(storage: ObjectStorage): EventRow[] {
    const query = "select n, type, seq, note from events where n > ? order by n";
    const events = storage.read<EventRow>("events", query, this.#lastEvent);
    this.#lastEvent = events.at(-1)?.n ?? this.#lastEvent;
    return events;
  }

  /** The messages of a table. */
  in(table: Table): Row[] {
    return [...this.rows.values()].filter((row) => row.table === table);
  }

  /** The messages in the queue. */
  queued(): Row[] {
    return this.in("messages").filter(({ message }) => message.status === "QUEUED");
  }

  /** The scheduled messages, soonest first. */
  soonest(): Row[] {
    return this.in("scheduled").sort((one, other) => bySoonest(one, other));
  }

  /** Whether a message that was written elsewhere waits for its place. */
  get holds(): boolean {
    return this.held.size > 0;
  }

  /** Whether a scheduled message is about to take its place. @param now the chat's clock */
  hasSoon(now: number): boolean {
    return this.in("scheduled").some((row) => dueAt(row) <= now + SOON_MS);
  }
}

/** The network's ids of a message: of the contact's own, or of its parts. */
export function networkIdsOf({ columns: { dedupe, delivery } }: Pick<Row, "columns">): string[] {
  const own = typeof dedupe === "string" && dedupe.startsWith(INBOUND) ? [dedupe.slice(INBOUND.length)] : [];
  const parts = delivery == null ? [] : (JSON.parse(delivery as string) as { parts: string[] }).parts;
  return [...own, ...parts];
}

/** The message that an event tells of. */
export function placedAt(book: Book, seq: number | null): Row | undefined {
  return book.in("messages").find(({ message }) => message.seq === seq);
}

export function dueAt({ columns }: Row): number {
  return columns.due_at as number;
}

/** The order in which scheduled messages take their places. */
export function bySoonest(one: Row, other: Row): number {
  return dueAt(one) - dueAt(other) || (one.columns.turn as number) - (other.columns.turn as number);
}

/** Unix milliseconds. */
export function timeOf(time: string | undefined): number | null {
  return time === undefined ? null : Date.parse(time);
}

function rowOf(table: Table, columns: Columns): Row {
  return { table, columns, message: JSON.parse(columns.doc) as ShownMessage };
}

function isSame(one: Columns, other: Columns): boolean {
  return Object.keys(one).every((name) => one[name] === other[name]);
}
