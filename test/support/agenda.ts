interface Planned {
  at: number;
  run: () => void;
}

/** What is to happen, by its time; what happens at the same time, in the order in which it was put there. */
export class Agenda {
  readonly #heap: (Planned & { order: number })[] = [];
  #order = 0;

  /** What comes first; undefined if nothing is left. */
  get first(): Planned | undefined {
    return this.#heap[0];
  }

  add(at: number, run: () => void): void {
    const heap = this.#heap;
    let i = heap.push({ at, run, order: this.#order++ }) - 1;
    for (let up = (i - 1) >> 1; i > 0 && this.#isBefore(i, up); up = (i - 1) >> 1) i = this.#swap(i, up);
  }

  /** Takes out what comes first. */
  removeFirst(): void {
    const heap = this.#heap;
    this.#swap(0, heap.length - 1);
    heap.pop();
    for (let i = 0, down = this.#nextBelow(0); this.#isBefore(down, i); down = this.#nextBelow(i)) {
      i = this.#swap(i, down);
    }
  }

  #nextBelow(i: number): number {
    const [left, right] = [2 * i + 1, 2 * i + 2];
    return this.#isBefore(right, left) ? right : left;
  }

  #isBefore(i: number, j: number): boolean {
    const [one, other] = [this.#heap[i], this.#heap[j]];
    return one !== undefined && other !== undefined && (one.at - other.at || one.order - other.order) < 0;
  }

  /** @returns `j` */
  #swap(i: number, j: number): number {
    const heap = this.#heap;
    const [one, other] = [heap[i], heap[j]];
    if (one && other) [heap[i], heap[j]] = [other, one];
    return j;
  }
}
