import type { EventFact } from "../events/event.ts";
import type { StoredLine } from "./line.ts";
import type { LineHost } from "./line-host.ts";
import type { EventRange, WebhookFilter } from "./rpc.ts";

/** Finds the events that a line sends. Events that do not match the filter are read once. */
export class PendingEvents {
  readonly #host: Pick<LineHost, "newest" | "next">;
  #searchedTo = 0;
  #found: EventFact | null = null;

  constructor(host: Pick<LineHost, "newest" | "next">) {
    this.#host = host;
  }

  /** No event that waits has this number or a lower one. */
  get searchedTo(): number {
    return this.#searchedTo;
  }

  /** The first event after a line's cursor. */
  head({ cursor, filter }: Pick<StoredLine, "cursor" | "filter">): EventFact | null {
    if (this.#found && this.#found.number > cursor) return this.#found;
    const after = Math.max(cursor, this.#searchedTo);
    const newest = this.#host.newest();
    if (after >= newest) return null;
    this.#found = this.#host.next(after, filter);
    this.#searchedTo = this.#found ? this.#found.number - 1 : newest;
    return this.#found;
  }

  /** The first event of ascending ranges. */
  firstOf(ranges: EventRange[], filter: WebhookFilter): EventFact | null {
    for (const [first, last] of ranges) {
      const fact = this.#host.next(first - 1, filter);
      if (fact && fact.number <= last) return fact;
    }
    return null;
  }

  /** The filter has changed. */
  forget(): void {
    this.#searchedTo = 0;
    this.#found = null;
  }
}
