/** Hands on what comes: the first few at once, and what else comes in the same `everyMs` together. */
export class Together<Item> {
  readonly #everyMs: number;
  readonly #atOnce: number;
  readonly #take: (items: Item[]) => void;
  /** How many were handed on since the timer began. */
  #count = 0;
  #waiting: Item[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor({ everyMs, atOnce }: { everyMs: number; atOnce: number }, take: (items: Item[]) => void) {
    this.#everyMs = everyMs;
    this.#atOnce = atOnce;
    this.#take = take;
  }

  /** Whether something waits that matches. */
  isWaiting(matches: (item: Item) => boolean): boolean {
    return this.#waiting.some(matches);
  }

  add(item: Item): void {
    this.#timer ??= setTimeout(() => this.#end(), this.#everyMs);
    if (this.#count++ < this.#atOnce) this.#take([item]);
    else this.#waiting.push(item);
  }

  /** What waits is dropped. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting = [];
  }

  #end(): void {
    const items = this.#waiting;
    this.#waiting = [];
    this.#timer = undefined;
    this.#count = 0;
    if (items.length > 0) this.#take(items);
  }
}
