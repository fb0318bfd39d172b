import { FOLDING_VERSION } from "../../model/folding.ts";
import type { SearchState, SearchTargets } from "../../model/search-index.ts";

const KEY = "search";
/** A fill asks every chat of the organization, so a client can begin one a day. */
const FILL_EVERY_MS = 86_400_000;

/** Where a fill is: behind a chat, in the order of their ids. */
export interface FillWalk {
  after: string;
  /** Chats before it of which only a part of the messages is indexed. */
  open: string[];
}

interface Stored {
  isOn: boolean;
  generation: number;
  live: number;
  fill: number;
  begunAt: number;
  /** The indexes of this generation have these numbers and all between. Those before `first` are erased. */
  first: number;
  last: number;
  /** The greatest number of an erased index; all before it are erased too. */
  erased: number;
  /** The folding of the texts in the indexes. */
  folding: number;
  /** When a client last began a fill, Unix milliseconds. */
  filledAt: number | null;
  walk: FillWalk | null;
  /** How many chats the last fill has asked, of how many. */
  done: number;
  total: number;
}

const NEVER_ON: Stored = {
  ...{ isOn: false, generation: 0, live: 0, fill: 0, begunAt: 0, first: 1, last: 0, erased: 0 },
  ...{ folding: FOLDING_VERSION, filledAt: null, walk: null, done: 0, total: 0 },
};

/**
 * The search indexes of an organization: which there are, and whether they have everything. The numbers of indexes are
 * never used twice, so that what comes late for an erased one is known as late.
 */
export class SearchIndexes {
  readonly #storage: DurableObjectStorage;
  #copy: Stored | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  forget(): void {
    this.#copy = undefined;
  }

  state(): SearchState {
    const { isOn, walk, done, total } = this.#stored;
    return { state: isOn ? (walk ? "filling" : "on") : "off", done, total };
  }

  /** Where chats put their messages. */
  targets(): SearchTargets {
    const { isOn, generation, live, fill, begunAt } = this.#stored;
    return { isOn, generation, live, fill, begunAt };
  }

  /** The numbers of the indexes that a search asks, the newest first; none while it is off. */
  numbers(): number[] {
    const { isOn, first, last } = this.#stored;
    return isOn ? range(first, last).reverse() : [];
  }

  /** Those whose search is over. */
  toErase(): number[] {
    const { erased, first } = this.#stored;
    return range(erased + 1, first - 1);
  }

  /** An index was erased, which stays so. They are erased in the order of their numbers. */
  erased(number: number): void {
    this.#change({ erased: Math.max(this.#stored.erased, number) });
  }

  /** Turns the search on. @param chats how many there are @returns false if a client has begun a fill within a day */
  turnOn(chats: number, now: number): boolean {
    const { isOn, filledAt } = this.#stored;
    if (isOn) return true;
    // The clock can go back.
    if (chats > 0 && filledAt !== null && Math.abs(now - filledAt) < FILL_EVERY_MS) return false;
    this.#begin(chats, now, chats > 0 ? now : filledAt);
    return true;
  }

  /** Turns the search off. Its indexes are erased later. */
  turnOff(): void {
    const { isOn, generation, last } = this.#stored;
    if (isOn) this.#change({ isOn: false, generation: generation + 1, first: last + 1, walk: null, done: 0, total: 0 });
  }

  /** Whether the texts in the indexes are folded in another way than searches are now. */
  get isOutdated(): boolean {
    const { isOn, folding } = this.#stored;
    return isOn && folding !== FOLDING_VERSION;
  }

  /** Begins with new indexes. */
  renew(chats: number, now: number): void {
    this.#begin(chats, now, this.#stored.filledAt);
  }

  /** An index is full: what comes from now on goes to the next one. Repeating it changes nothing. */
  full(number: number): SearchTargets {
    const { isOn, live, fill, last } = this.#stored;
    if (isOn && (number === live || number === fill)) {
      const next = last + 1;
      this.#change({ last: next, ...(number === live && { live: next }), ...(number === fill && { fill: next }) });
    }
    return this.targets();
  }

  /** The fill that is under way, with the generation that it is of; null if none is. */
  get fill(): { walk: FillWalk; targets: SearchTargets } | null {
    const { walk } = this.#stored;
    return walk && { walk, targets: this.targets() };
  }

  /** A step of a fill ended. @param walk null at its end @param done how many chats it has indexed */
  filled(generation: number, walk: FillWalk | null, done: number): void {
    const stored = this.#stored;
    if (stored.generation !== generation || !stored.walk) return;
    // Chats that were created since the fill began are not in the total, and deleted ones still are.
    this.#change({ walk, done: walk ? Math.min(stored.total, stored.done + done) : stored.total });
  }

  #begin(chats: number, begunAt: number, filledAt: number | null): void {
    const { generation, last } = this.#stored;
    const fill = last + 1;
    // Old messages have an index of their own, because their times are all mixed up.
    const live = chats > 0 ? fill + 1 : fill;
    const walk = chats > 0 ? { after: "", open: [] } : null;
    this.#change({
      ...{ isOn: true, generation: generation + 1, first: fill, fill, live, begunAt, last: live },
      ...{ folding: FOLDING_VERSION, filledAt, walk, done: 0, total: chats },
    });
  }

  #change(changes: Partial<Stored>): void {
    this.#copy = { ...this.#stored, ...changes };
    this.#storage.kv.put(KEY, this.#copy);
  }

  get #stored(): Stored {
    this.#copy ??= this.#storage.kv.get<Stored>(KEY) ?? NEVER_ON;
    return this.#copy;
  }
}

function range(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}
