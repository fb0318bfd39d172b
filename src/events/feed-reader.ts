import { ApiError } from "../model/error.ts";
import type { EventType } from "../model/event.ts";
import { type FeedFilter, matches } from "../model/event-filter.ts";
import type { FeedAnswer, FeedPointer } from "../model/organization.ts";
import { MAX_CONCURRENT } from "../platform/concurrency.ts";
import { type Cursor, writeCursor } from "./cursor.ts";
import { HOLD_MS } from "./held-up.ts";
import type { EventPage, EventReader, ReadEvent } from "./reader.ts";

/** A range of event numbers, both ends included. */
export interface NumberRange {
  first: number;
  last: number;
}

/** An event as its log renders it. */
export interface LoggedEvent {
  number: number;
  type: EventType;
  doc: string;
}

/** Where a feed's events are. */
export interface FeedPort {
  /** The bursts after a position, oldest first, at most `limit`. Null before the organization's first chat. */
  pointers(after: number, limit: number): Promise<FeedAnswer | null>;
  /** A burst's events in a range, in order. None if the chat was deleted. May leave out events that don't match the filter. */
  events(pointer: FeedPointer, range: NumberRange): Promise<LoggedEvent[]>;
  /**
   * The events of a chat could not be read.
   * @returns for how many milliseconds the chat can't be read; null if it was deleted
   */
  failed(chatId: string, error: unknown): Promise<number | null>;
  /** A chat that could not be read was read. */
  worked(chatId: string): Promise<void>;
  /** The event that stands for events that can't be read. @param life that of the feed */
  standIn(life: string, pointer: FeedPointer, range: NumberRange): string;
}

/** A part of a burst that is read in one call. */
interface Chunk extends NumberRange {
  pointer: FeedPointer;
}

/** The events of a part, or why they could not be read. */
type ChunkRead = { logged: LoggedEvent[]; error?: never } | { logged?: never; error: unknown };

/** The feed of an organization without a chat. */
const NO_FEED: FeedAnswer = { life: "", oldest: 1, newest: 0, pointers: [] };
const POINTERS_AT_ONCE = 200;
/** The maximum number of events that one call to a chat reads. */
const MAX_CHUNK = 100;
/** The maximum number of bursts that a page reads, even if the filter matched nothing. */
const MAX_BURSTS = 2_000;
/** The maximum number of calls to chats in a page. On its free plan the platform allows 1,000 calls in a request. */
export const MAX_READS = 800;

/** The cursor at an end of a feed. */
export async function cursorAt(end: "oldest" | "now", port: FeedPort): Promise<Cursor> {
  const { life, oldest, newest } = (await port.pointers(0, 0)) ?? NO_FEED;
  return { life, position: end === "oldest" ? oldest : newest + 1, offset: 0 };
}

/**
 * Reads an organization's feed: pages of pointers from the organization's object, and the events that they point to
 * from the chats. The order is that of the pointers. Events of chats that were deleted meanwhile are left out. Events
 * that can't be read for minutes are replaced by one event that says which they are.
 */
export class FeedReader implements EventReader {
  readonly #port: FeedPort;
  readonly #filter: FeedFilter;
  #cursor: Cursor;
  /** Bursts that were found and not read to their end, oldest first. Without those that the filter leaves out. */
  #pointers: FeedPointer[] = [];
  /** The position up to which bursts were found. */
  #found = 0;
  /** The newest position of the feed at the last look. */
  #newest = 0;
  /** The chats of these bursts that could not be read, and for how many milliseconds. */
  #unreadable: Record<string, number> = {};

  constructor(port: FeedPort, filter: FeedFilter, cursor: Cursor) {
    this.#port = port;
    this.#filter = filter;
    this.#cursor = cursor;
  }

  get readUpTo(): number {
    return this.#cursor.position - 1;
  }

  /**
   * Reads a page. If a call fails in the middle, the page ends before it, so that a repetition that would fail at the same
   * place goes on behind what was read: the platform limits the calls of a request.
   * @throws the error if nothing was read before it
   */
  async read(limit: number): Promise<EventPage> {
    const { position, offset } = this.#cursor;
    const events: ReadEvent[] = [];
    try {
      return await this.#fill(events, limit);
    } catch (error) {
      if (this.#cursor.position === position && this.#cursor.offset === offset) throw error;
      return this.#page(events);
    }
  }

  async #fill(events: ReadEvent[], limit: number): Promise<EventPage> {
    let bursts = 0;
    let reads = 0;
    for (let round = 0; events.length < limit && bursts < MAX_BURSTS && reads < MAX_READS; round++) {
      if (this.#pointers.length === 0) {
        const found = await this.#findPointers();
        if (found === 0) break;
        bursts += found;
      }
      // More each time, for chats that were deleted and filters that let little through.
      const chunks = this.#nextChunks((limit - events.length) * 2 ** round);
      reads += chunks.length;
      const found = await Promise.all(chunks.map((chunk) => this.#readChunk(chunk)));
      for (const [index, chunk] of chunks.entries()) {
        if (events.length === limit) break;
        const { logged, error } = found[index] as ChunkRead;
        if (logged) this.#take(chunk, logged, events, limit);
        else if (await this.#mustHold(chunk, error)) return this.#page(events, error);
        else this.#passOver(chunk, events);
      }
    }
    return this.#page(events);
  }

  #page(events: ReadEvent[], error?: unknown): EventPage {
    const page = { events, cursor: writeCursor(this.#cursor), hasMore: this.#newest > this.readUpTo };
    return error !== undefined && events.length === 0 ? { ...page, heldBy: error } : page;
  }

  async #readChunk(chunk: Chunk): Promise<ChunkRead> {
    const { chatId } = chunk.pointer;
    try {
      const logged = await this.#port.events(chunk.pointer, chunk);
      if (chatId !== null && this.#unreadable[chatId] !== undefined) {
        delete this.#unreadable[chatId];
        await this.#port.worked(chatId);
      }
      return { logged };
    } catch (error) {
      // The organization's object has its own events: it does not answer.
      if (chatId === null) throw error;
      return { error };
    }
  }

  /** Whether to wait for a chat that can't be read. */
  async #mustHold({ pointer }: Chunk, error: unknown): Promise<boolean> {
    const chatId = pointer.chatId as string;
    if ((this.#unreadable[chatId] ?? 0) >= HOLD_MS) return false;
    const ms = await this.#port.failed(chatId, error);
    if (ms === null) delete this.#unreadable[chatId];
    else this.#unreadable[chatId] = ms;
    return ms !== null && ms < HOLD_MS;
  }

  /** Reports the rest of a burst that can't be read, unless its chat was deleted, and moves the cursor past it. */
  #passOver({ pointer, first }: Chunk, events: ReadEvent[]): void {
    const range = { first, last: pointer.last };
    const isDeleted = this.#unreadable[pointer.chatId as string] === undefined;
    const doc = this.#port.standIn(this.#cursor.life, pointer, range);
    this.#moveInto(pointer, pointer.last);
    if (!isDeleted) events.push({ type: "chat.unreadable", doc, cursor: writeCursor(this.#cursor) });
  }

  /** Looks for bursts after the cursor. @returns how many there are, with those that the filter leaves out */
  async #findPointers(): Promise<number> {
    const feed = (await this.#port.pointers(this.readUpTo, POINTERS_AT_ONCE)) ?? NO_FEED;
    // A cursor from before the first chat.
    if (this.#cursor.life === NO_FEED.life && this.#cursor.position === 1)
      this.#cursor = { ...this.#cursor, life: feed.life };
    const { life, oldest, newest, pointers } = feed;
    const isInFeed = this.#cursor.position >= oldest && this.#cursor.position <= newest + 1;
    if (life !== this.#cursor.life || !isInFeed) throw new ApiError("cursor_expired");
    this.#newest = newest;
    this.#unreadable = { ...feed.unreadable };
    this.#found = pointers.at(-1)?.position ?? newest;
    const { chat } = this.#filter;
    this.#pointers = pointers.filter(
      ({ types, channelId, chatId }) =>
        (chat === undefined || chat === chatId) && types.some((type) => matches(this.#filter, type, channelId)),
    );
    if (this.#pointers.length === 0) this.#moveTo(this.#found + 1);
    return pointers.length;
  }

  /** The next parts of bursts: enough for `target` events, or as many as 20 calls at once can read. */
  #nextChunks(target: number): Chunk[] {
    const chunks: Chunk[] = [];
    let planned = 0;
    for (const pointer of this.#pointers) {
      if (chunks.length === MAX_CONCURRENT || planned >= target) break;
      const offset = pointer.position === this.#cursor.position ? this.#cursor.offset : 0;
      const first = pointer.first + offset;
      const last = Math.min(pointer.last, first + Math.min(MAX_CHUNK, target - planned) - 1);
      chunks.push({ pointer, first, last });
      planned += last - first + 1;
      // The rest of this burst comes before the next one.
      if (last < pointer.last) break;
    }
    return chunks;
  }

  /** Adds the events of a part, up to `limit`, and moves the cursor past them. */
  #take({ pointer, last }: Chunk, found: LoggedEvent[], events: ReadEvent[], limit: number): void {
    for (const { number, type, doc } of found) {
      if (events.length === limit) return;
      if (!matches(this.#filter, type, pointer.channelId)) continue;
      this.#moveInto(pointer, number);
      events.push({ type, doc, cursor: writeCursor(this.#cursor) });
    }
    if (events.length < limit) this.#moveInto(pointer, last);
  }

  /** Moves the cursor past an event of a burst. */
  #moveInto(pointer: FeedPointer, number: number): void {
    if (number < pointer.last) {
      this.#cursor = { ...this.#cursor, position: pointer.position, offset: number - pointer.first + 1 };
      return;
    }
    this.#pointers = this.#pointers.filter(({ position }) => position > pointer.position);
    this.#moveTo((this.#pointers.length > 0 ? pointer.position : this.#found) + 1);
  }

  #moveTo(position: number): void {
    this.#cursor = { ...this.#cursor, position, offset: 0 };
  }
}
