import type { EventFact } from "../../model/event.ts";
import type { WebhookFilter } from "../../model/webhook.ts";
import type { LineHost } from "./host.ts";
import { PendingEvents, type SEARCH } from "./pending-events.ts";
import { type Next, type StoredLine, withFilter } from "./subscription.ts";

/** The line of one webhook as it is stored, and the events that wait in it. */
export class KeptLine {
  readonly pending: PendingEvents;
  readonly #host: LineHost;
  readonly #id: string;
  #line: StoredLine;
  #isDeleted = false;

  /** @param id the webhook's */
  constructor(host: LineHost, id: string, line: StoredLine) {
    this.#host = host;
    this.#id = id;
    this.#line = line;
    this.pending = new PendingEvents(host);
  }

  get line(): StoredLine {
    return this.#line;
  }

  /** Whether the webhook was deleted, and the line with it. */
  get isDeleted(): boolean {
    return this.#isDeleted;
  }

  /** False after the deletion of the line or of its owner. */
  get exists(): boolean {
    return !this.#isDeleted && this.#host.exists();
  }

  /** Stores the line, if it has changed. After the owner's deletion nothing is stored. */
  save(line: StoredLine): void {
    if (line === this.#line) return;
    this.#line = line;
    if (this.exists) this.#host.kv.put(lineKey(this.#id), line);
  }

  delete(): void {
    this.#isDeleted = true;
    this.#host.kv.delete(lineKey(this.#id));
  }

  /** Applies a new version of the filter. */
  refilter(filter: WebhookFilter): void {
    if (filter.version <= this.#line.filter.version) return;
    const head = this.head();
    // The new filter applies to all events that were not looked at yet.
    const newest = head === undefined ? this.pending.searchedTo : this.#host.newest();
    this.save(withFilter(this.#line, filter, head?.number ?? null, newest));
    this.pending.forget();
  }

  /** What to do next, at its time. */
  next(now: number): Next | typeof SEARCH | null {
    const next = this.pending.next(this.#line, now);
    this.save(this.pending.remembered(this.#line));
    return next;
  }

  /** The first event after the cursor; null if none waits. Undefined if it must be searched for. */
  head(): EventFact | null | undefined {
    const fact = this.pending.head(this.#line);
    this.save(this.pending.remembered(this.#line));
    return fact;
  }

  /** Looks for the next event, for one step. */
  search(): void {
    this.save(this.pending.search(this.#line));
  }
}

export function lineKey(webhookId: string): string {
  return `line ${webhookId}`;
}
