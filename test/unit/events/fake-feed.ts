import { readCursor } from "../../../src/events/cursor.ts";
import { cursorAt, type FeedPort, FeedReader } from "../../../src/events/feed-reader.ts";
import type { EventType } from "../../../src/model/event.ts";
import { type FeedFilter, matches } from "../../../src/model/event-filter.ts";
import type { FeedPointer } from "../../../src/model/organization.ts";

/** The life of the feed: a cursor of another one is expired. */
export const LIFE = "0Vx3kQ2a";
/** The filter that leaves nothing out. */
export const ALL: FeedFilter = { types: null, channels: null };

/** A feed of bursts. An event is named by its chat and number. */
export class FakeFeed implements FeedPort {
  readonly bursts: FeedPointer[] = [];
  readonly types = new Map<string, EventType>();
  readonly deleted = new Set<string | null>();
  /** Chats that can't be read, and for how many milliseconds. */
  readonly broken = new Map<string | null, number>();
  /** Chats of which it was told that they work again. */
  readonly mended: string[] = [];
  failures = 0;
  life = LIFE;
  oldest = 1;
  exists = true;
  /** The ranges that were read at the same time. */
  readonly calls: string[] = [];
  /** How many calls of any kind a request may make, as on the platform. */
  allowed = Number.POSITIVE_INFINITY;
  #made = 0;
  #underWay = 0;
  most = 0;

  report(chatId: string | null, channelId: string | null, types: EventType[]): void {
    const first = (this.bursts.findLast((burst) => burst.chatId === chatId)?.last ?? 0) + 1;
    const last = first + types.length - 1;
    for (const [index, type] of types.entries()) this.types.set(`${chatId} ${first + index}`, type);
    const position = this.bursts.length + 1;
    this.bursts.push({ position, chatId, life: null, channelId, first, last, types: [...new Set(types)], at: 0 });
  }

  /** Every event that a reader must get, in order. */
  expected(filter: FeedFilter): string[] {
    return this.bursts.flatMap(({ chatId, channelId, first, last }) =>
      Array.from({ length: last - first + 1 }, (_, index) => `${chatId} ${first + index}`).filter(
        (name) => !this.deleted.has(chatId) && matches(filter, this.types.get(name) as EventType, channelId),
      ),
    );
  }

  /** A request begins. */
  begin(): void {
    this.#made = 0;
  }

  #count(): void {
    if (++this.#made > this.allowed) throw new Error("Too many subrequests by single Worker invocation.");
  }

  async pointers(after: number, limit: number) {
    this.#count();
    const { life, oldest } = this;
    const pointers = this.bursts.filter(({ position }) => position > after && position >= oldest).slice(0, limit);
    const unreadable = Object.fromEntries(this.known);
    return this.exists ? { life, oldest, newest: this.bursts.length, pointers, unreadable } : null;
  }

  /** What earlier readers told. */
  readonly known = new Map<string, number>();

  async failed(chatId: string): Promise<number | null> {
    this.#count();
    this.failures++;
    if (this.deleted.has(chatId)) return null;
    const ms = this.broken.get(chatId) ?? 0;
    this.known.set(chatId, ms);
    return ms;
  }

  async worked(chatId: string): Promise<void> {
    this.known.delete(chatId);
    this.mended.push(chatId);
  }

  standIn(life: string, { position, chatId }: FeedPointer, { first, last }: { first: number; last: number }): string {
    return `${life} ${position} ${chatId} ${first}-${last}`;
  }

  async events({ chatId }: FeedPointer, { first, last }: { first: number; last: number }) {
    this.#count();
    this.calls.push(`${chatId} ${first}-${last}`);
    this.most = Math.max(this.most, ++this.#underWay);
    await Promise.resolve();
    this.#underWay--;
    if (this.broken.has(chatId)) throw new Error(`${chatId} can't be read`);
    if (this.deleted.has(chatId)) return [];
    return Array.from({ length: last - first + 1 }, (_, index) => {
      const name = `${chatId} ${first + index}`;
      return { number: first + index, type: this.types.get(name) as EventType, doc: name };
    });
  }
}

/** A feed in which these chats reported this many events each, one burst after another. Null is the organization. */
export function feedOf(...bursts: [chatId: string | null, count: number][]): FakeFeed {
  const feed = new FakeFeed();
  for (const [chatId, count] of bursts) {
    feed.report(
      chatId,
      chatId && "chn_a",
      Array.from({ length: count }, () => "message.created" as const),
    );
  }
  return feed;
}

/** A reader that goes on after a cursor, or from the oldest event. */
export async function readerOf(feed: FakeFeed, { filter = ALL, after }: { filter?: FeedFilter; after?: string } = {}) {
  const cursor = after === undefined ? await cursorAt("oldest", feed) : readCursor(after);
  if (!cursor) throw new Error(`${after} is not a cursor`);
  return new FeedReader(feed, filter, cursor);
}
