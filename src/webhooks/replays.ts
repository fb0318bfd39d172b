import { parseEventId } from "../events/event.ts";
import type { FailedRange } from "./failed-events.ts";
import type { EventRange, ReplayAnswer, ReplayProgress, ReplayRequest, WebhookAttempt } from "./rpc.ts";

/** Events of one line in an organization's feed. `pos` is their position in it. */
export interface LinePointer {
  pos: number;
  lineId: string;
  first: number;
  last: number;
}

/** Where the search for events stands. `done` if all lines have their events. */
type ReplaySearch =
  | { kind: "failed"; after: FailedRange | null }
  | { kind: "feed"; since: number; until: number; after: number | null }
  | { kind: "done" };

interface StoredReplay {
  id: string;
  search: ReplaySearch;
  found: number;
  createdAt: number;
}

/** How many events of a replay have ended, and how many were accepted. */
export interface ReplayCounts {
  ended: number;
  sent: number;
}

export interface ReplayPorts {
  kv: Pick<SyncKvStorage, "get" | "put">;
  now(): number;
  /** The id of the webhook's organization. */
  organizationId(): Promise<string | null>;
  failedRanges(after: FailedRange | null, limit: number): FailedRange[];
  /** Events of the organization's feed in a time, in order. @param after a position; null to begin */
  pointers(since: number, until: number, after: number | null, limit: number): Promise<LinePointer[]>;
  /** Hands events to a line. A repeated call changes nothing. @returns how many events the line will send again */
  replayLine(lineId: string, replayId: string, ranges: EventRange[]): Promise<number>;
  /** The counts of a replay in the log of attempts. */
  countsInLog(replayId: string): ReplayCounts;
}

/** How many ranges are handed out in one step. */
const PER_STEP = 200;
const LINES_AT_ONCE = 20;
/** After this time, another replay may start even if events of this one are missing, for example of an erased chat. */
const STALE_AFTER_MS = 4 * 86_400_000;

/** The replays of a webhook, one at a time. The lines send the events; this class finds them and counts. */
export class Replays {
  readonly #ports: ReplayPorts;
  #counts: { replayId: string; counts: ReplayCounts } | undefined;

  constructor(ports: ReplayPorts) {
    this.#ports = ports;
  }

  /** Starts a replay. `step` must be called after that. @param id the id of the new replay */
  async start(request: ReplayRequest, id: string): Promise<ReplayAnswer> {
    const running = this.#stored();
    const now = this.#ports.now();
    if (running && this.#present(running).state === "running" && now - running.createdAt < STALE_AFTER_MS) {
      return { outcome: "replay_running" };
    }
    if ("eventId" in request) return this.#startOne(request.eventId, id, now);
    const search: ReplaySearch =
      "failed" in request
        ? { kind: "failed", after: null }
        : { kind: "feed", since: request.since, until: request.until ?? now, after: null };
    return { outcome: "started", replay: this.#store({ id, search, found: 0, createdAt: now }) };
  }

  /** The progress of a replay; null if it is not the last one. */
  progress(replayId: string): ReplayProgress | null {
    const stored = this.#stored();
    return stored?.id === replayId ? this.#present(stored) : null;
  }

  /** The counts of an attempt's replay with that attempt. Call `keep` with them once the log has them. */
  countsWith({ replayId, outcome }: Pick<WebhookAttempt, "replayId" | "outcome">): ReplayCounts {
    if (replayId === null) return { ended: 0, sent: 0 };
    const { ended, sent } = this.#countsOf(replayId);
    return { ended: ended + (outcome === "retry" ? 0 : 1), sent: sent + (outcome === "accepted" ? 1 : 0) };
  }

  /** The log has these counts. */
  keep(replayId: string, counts: ReplayCounts): void {
    this.#counts = { replayId, counts };
  }

  /** Whether `step` has more to do. */
  get isSearching(): boolean {
    const stored = this.#stored();
    return stored !== undefined && stored.search.kind !== "done";
  }

  /** Hands out the next events of the replay. @throws if a line or the organization does not answer; then try again */
  async step(): Promise<void> {
    const stored = this.#stored();
    if (!stored || stored.search.kind === "done") return;
    const { ranges, search } = await this.#nextRanges(stored.search);
    const byLine = Map.groupBy(ranges, ({ lineId }) => lineId);
    let found = 0;
    const lines = [...byLine];
    for (let from = 0; from < lines.length; from += LINES_AT_ONCE) {
      const batch = lines.slice(from, from + LINES_AT_ONCE);
      const counts = await Promise.all(
        batch.map(([lineId, of]) =>
          this.#ports.replayLine(
            lineId,
            stored.id,
            of.map(({ range }) => range),
          ),
        ),
      );
      found += counts.reduce((sum, count) => sum + count, 0);
    }
    // The object may have been erased in the meantime.
    if (this.#stored()?.id === stored.id) this.#store({ ...stored, search, found: stored.found + found });
  }

  async #nextRanges(search: Exclude<ReplaySearch, { kind: "done" }>) {
    if (search.kind === "failed") {
      const ranges = this.#ports.failedRanges(search.after, PER_STEP);
      const last = ranges.at(-1);
      const next: ReplaySearch = last && ranges.length === PER_STEP ? { ...search, after: last } : { kind: "done" };
      return { ranges, search: next };
    }
    const { since, until, after } = search;
    const pointers = await this.#ports.pointers(since, until, after, PER_STEP);
    const last = pointers.at(-1);
    const next: ReplaySearch = last && pointers.length === PER_STEP ? { ...search, after: last.pos } : { kind: "done" };
    const ranges = pointers.map(({ lineId, first, last: end }): FailedRange => ({ lineId, range: [first, end] }));
    return { ranges, search: next };
  }

  async #startOne(eventId: string, id: string, now: number): Promise<ReplayAnswer> {
    const event = parseEventId(eventId);
    const organizationId = await this.#ports.organizationId();
    if (!event || organizationId === null) return { outcome: "event_not_found" };
    const lineId = organizationId.endsWith(event.tail) ? organizationId : `cht_${event.tail}`;
    const found = await this.#ports.replayLine(lineId, id, [[event.number, event.number]]);
    if (found === 0) return { outcome: "event_not_found" };
    return { outcome: "started", replay: this.#store({ id, search: { kind: "done" }, found, createdAt: now }) };
  }

  #store(stored: StoredReplay): ReplayProgress {
    this.#ports.kv.put("replay", stored);
    return this.#present(stored);
  }

  #stored(): StoredReplay | undefined {
    return this.#ports.kv.get<StoredReplay>("replay");
  }

  #present({ id, search, found }: StoredReplay): ReplayProgress {
    const { ended, sent } = this.#countsOf(id);
    return { id, state: search.kind === "done" && ended >= found ? "done" : "running", found, sent };
  }

  #countsOf(replayId: string): ReplayCounts {
    if (this.#counts?.replayId !== replayId) {
      this.#counts = { replayId, counts: this.#ports.countsInLog(replayId) };
    }
    return this.#counts.counts;
  }
}
