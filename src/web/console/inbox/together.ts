/** Hands on what comes: the first at once, and what comes right after it together, at most once in `everyMs`. */
export class Together<Item> {
  readonly #everyMs: number;
  readonly #take: (items: Item[]) => void;
  #waiting: Item[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(everyMs: number, take: (items: Item[]) => void) {
    this.#everyMs = everyMs;
    this.#take = take;
  }

  add(item: Item): void {
    this.#waiting.push(item);
    if (this.#timer === undefined) this.#handOn();
  }

  /** What waits is dropped. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting = [];
  }

  #handOn(): void {
    const items = this.#waiting;
    this.#waiting = [];
    this.#timer = items.length === 0 ? undefined : setTimeout(() => this.#handOn(), this.#everyMs);
    if (items.length > 0) this.#take(items);
  }
}
