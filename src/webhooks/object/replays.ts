import { parseEventId } from "../../model/event.ts";
import type { ReplayAnswer, ReplayLeft, ReplayProgress, ReplayRequest, WebhookAttempt } from "../../model/webhook.ts";
import type { DuePart } from "../../platform/object/due-work.ts";
import type { AttemptLog } from "./attempt-log.ts";
import { ReplayRun, type ReplayRunParts, type StoredReplay } from "./replay-run.ts";

/** How many events of a replay have ended, and how many were accepted. */
export interface ReplayCounts {
  ended: number;
  sent: number;
}

/** The parts of the webhook's object that replays use. */
interface Parts extends ReplayRunParts {
  log: AttemptLog;
}

/** The replays of a webhook, one at a time. The subscriptions send the events; this class counts them. */
export class Replays implements DuePart {
  readonly #parts: Parts;
  readonly #run: ReplayRun;
  /** Whether the chat of a replay's only event was asked and has not answered yet. */
  #isStarting = false;
  #counts: { replayId: string; counts: ReplayCounts } | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#run = new ReplayRun(parts);
  }

  /** Starts a replay. `run` must be called when `dueAt` says. @param id the id of the new replay */
  async start(request: ReplayRequest, id: string): Promise<ReplayAnswer> {
    const running = this.#run.stored();
    const now = this.#parts.clock.now();
    if (this.#isStarting) return { outcome: "replay_running" };
    if (running && this.#present(running).state === "running" && !this.#run.isStale(running)) {
      return { outcome: "replay_running" };
    }
    if ("eventId" in request) {
      // Another one that begins meanwhile would be replaced, with what it did not hand out yet.
      this.#isStarting = true;
      return this.#startOne(request.eventId, id, now).finally(() => {
        this.#isStarting = false;
      });
    }
    const search: StoredReplay["search"] =
      "failed" in request
        ? { kind: "failed", after: null }
        : { kind: "feed", since: request.since, until: request.until ?? now, after: null };
    return { outcome: "started", replay: this.#begin({ id, search, found: 0, createdAt: now }) };
  }

  /** The progress of a replay; null if it is not the last one. */
  progress(replayId: string): ReplayProgress | null {
    const stored = this.#run.stored();
    return stored?.id === replayId ? this.#present(stored) : null;
  }

  /** A subscription is gone, with what it had not sent. @param at when, Unix milliseconds */
  subscriptionGone(subscriptionId: string, at: number, replays: ReplayLeft[]): void {
    const current = this.#run.stored();
    for (const left of replays) if (left.id === current?.id) this.#parts.gone.add(subscriptionId, at, left);
    if (current) this.#present(current);
  }

  /** The counts of an attempt's replay with that attempt. Call `keep` with them once the log has them. */
  countsWith({ replayId, outcome }: Pick<WebhookAttempt, "replayId" | "outcome">): ReplayCounts {
    if (replayId === null) return { ended: 0, sent: 0 };
    const { ended, sent } = this.#countsOf(replayId);
    return { ended: ended + (outcome === "retry" ? 0 : 1), sent: sent + (outcome === "accepted" ? 1 : 0) };
  }

  /** The log has these counts. It forgets them after many attempts, so the end of the replay is stored at once. */
  keep(replayId: string, counts: ReplayCounts): void {
    this.#counts = { replayId, counts };
    const stored = this.#run.stored();
    if (stored?.id === replayId) this.#present(stored);
  }

  dueAt(now: number): number | null {
    return this.#run.dueAt(now);
  }

  async run(): Promise<void> {
    await this.#run.run();
    // The last event may have ended before the last subscription answered.
    const stored = this.#run.stored();
    if (stored) this.#present(stored);
  }

  async #startOne(eventId: string, id: string, now: number): Promise<ReplayAnswer> {
    const event = parseEventId(eventId);
    const organizationId = (await this.#parts.identity.config())?.organizationId ?? null;
    if (!event || organizationId === null) return { outcome: "event_not_found" };
    const subscriptionId = organizationId.endsWith(event.tail) ? organizationId : `cht_${event.tail}`;
    const found = await this.#run.ask(subscriptionId, id, [[event.number, event.number]]);
    if (!found) return { outcome: "event_not_found" };
    return { outcome: "started", replay: this.#begin({ id, search: { kind: "done" }, found, createdAt: now }) };
  }

  #begin(replay: StoredReplay): ReplayProgress {
    this.#run.begin(replay);
    return this.#present(replay);
  }

  #present(replay: StoredReplay): ReplayProgress {
    const { id, found, done } = replay;
    const { ended, sent } = this.#countsOf(id);
    const isOver = done !== undefined || (this.#run.isHandedOut(replay) && ended + this.#parts.gone.events() >= found);
    if (isOver && sent > (done?.sent ?? -1)) this.#run.end(replay, sent);
    return { id, state: isOver ? "done" : "running", found, sent: Math.max(sent, done?.sent ?? 0) };
  }

  #countsOf(replayId: string): ReplayCounts {
    if (this.#counts?.replayId !== replayId) {
      this.#counts = { replayId, counts: this.#parts.log.replayCounts(replayId) };
    }
    return this.#counts.counts;
  }
}
