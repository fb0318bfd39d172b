import type { EventFact } from "../events/event.ts";
import { causeOf } from "../log.ts";
import { type AttemptEnd, attemptRecord } from "./attempt-record.ts";
import { callWebhook } from "./call-webhook.ts";
import { EXPIRED, GONE, type LineDescription, type Next, SKIPPED, type StoredLine, type Work } from "./line.ts";
import type { LineDecisions } from "./line-decisions.ts";
import type { LineHost } from "./line-host.ts";
import { PendingEvents } from "./pending-events.ts";
import type { EventRange, WebhookAttempt, WebhookFilter, WebhookPermitAnswer } from "./rpc.ts";

type Granted = WebhookPermitAnswer & { outcome: "granted" };

/** An attempt that is this old was lost with its object. */
export const LEASE_MS = 35_000;
const AFTER_FAULT_MS = 30_000;
/** Events that are too old are given up in batches of this size. */
const BATCH = 1_000;
/** The cursor is stored after this many events that do not match, so that a new instance does not read them again. */
const SEARCHED_BATCH = 100;

/**
 * The line of one webhook. It sends events in order, one at a time. At each `await` the object may be lost, the owner be
 * erased, and the line be skipped, woken or deleted. So the line is read again after each call, and changed without an
 * `await` in between. The permit is the attempt's lease: until it is reported or old, the webhook's object grants this
 * line no other.
 */
export class LineSender {
  readonly #host: LineHost;
  readonly #id: string;
  readonly #decisions: LineDecisions;
  #line: StoredLine;
  #isBusy = false;
  #isDeleted = false;
  readonly #pending: PendingEvents;
  /** The line asks for no permit before this time. */
  #askAt = 0;
  /** How often in a row the webhook's object did not answer. */
  #aways = 0;
  /** The highest refusal that the webhook's object has ended. */
  #woken = 0;
  /** How the last attempt ended, until the webhook's object knows. */
  #report: WebhookAttempt | null = null;
  /** A permit that was not used, until the webhook's object knows. */
  #unused: string | null = null;

  constructor(host: LineHost, id: string, line: StoredLine, decisions: LineDecisions) {
    this.#host = host;
    this.#id = id;
    this.#line = line;
    this.#decisions = decisions;
    this.#pending = new PendingEvents(host);
  }

  /** Whether a turn is under way. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** When the line must take a turn; null if nothing waits. */
  dueAt(now: number): number | null {
    const hasReport = this.#report !== null || this.#line.unreported.length > 0;
    return hasReport ? Math.max(now, this.#askAt) : this.#workAt(now);
  }

  /** When the line may ask for its next permit; null if no event waits. */
  #workAt(now: number): number | null {
    const next = this.#next(now);
    return next && Math.max(next.nextAt, this.#askAt, this.#line.waiting?.until ?? 0);
  }

  /** Applies a new version of the filter. */
  refilter(filter: WebhookFilter): void {
    if (filter.version <= this.#line.filter.version) return;
    const next = this.#head()?.number ?? null;
    this.#save(this.#decisions.withFilter(this.#line, filter, next, this.#host.newest()));
    this.#pending.forget();
  }

  wake(number: number): void {
    this.#woken = Math.max(this.#woken, number);
    this.#askAt = 0;
    this.#save(this.#decisions.lineAfterWake(this.#line, number));
  }

  /** Gives up the first event that waits. @returns false if another event is the first */
  skip(number: number): boolean {
    const fact = this.#head();
    if (fact?.number !== number) return false;
    this.#giveUp(fact, null, SKIPPED);
    return true;
  }

  /** Sends events again. @returns how many */
  replay(id: string, ranges: EventRange[]): number {
    const { filter } = this.#line;
    const countOf = ([first, last]: EventRange) => this.#host.count(first - 1, filter) - this.#host.count(last, filter);
    const found = ranges.reduce((sum, range) => sum + countOf(range), 0);
    if (found > 0) this.#save(this.#decisions.withReplay(this.#line, id, ranges));
    return found;
  }

  describe(): LineDescription {
    const host = this.#host;
    const { cursor, filter, head, recent, waiting } = this.#line;
    const fact = this.#head();
    const tries = head?.number === fact?.number ? head : null;
    return {
      pending: fact ? host.count(cursor, filter) : 0,
      head: fact && {
        eventId: host.eventId(fact.number),
        number: fact.number,
        eventType: fact.type,
        tries: tries?.tries ?? 0,
      },
      nextAttemptAt: fact && !waiting ? Math.max(host.clock.now(), tries?.nextAt ?? 0, this.#askAt) : null,
      attempts: recent.toReversed(),
    };
  }

  forgetResponses(): void {
    this.#save(this.#decisions.withoutResponses(this.#line));
  }

  /**
   * Takes the line one step further; never throws.
   * @param isNext whether the line may take its next turn at once. Then its report is part of the next question
   * @returns false if the webhook was deleted, and the line with it
   */
  async turn(isNext: () => boolean): Promise<boolean> {
    this.#isBusy = true;
    try {
      await this.#step();
      if (!(this.#goesOn() && isNext())) await this.#sendReports();
    } catch (error) {
      this.#askAt = this.#host.clock.now() + AFTER_FAULT_MS;
      this.#log("error", "line_interrupted", { error: causeOf(error) });
    } finally {
      this.#isBusy = false;
    }
    return !this.#isDeleted;
  }

  /** Whether an event is due. */
  #goesOn(): boolean {
    const now = this.#host.clock.now();
    const at = this.#exists ? this.#workAt(now) : null;
    return at !== null && at <= now;
  }

  async #step(): Promise<void> {
    const askedAt = this.#host.clock.now();
    const next = this.#next(askedAt);
    if (!next || !this.#goesOn()) return;
    if (next.replayId === null && this.#decisions.isExpired(next.fact, askedAt)) return this.#expire(next.fact);
    await this.#host.standBy(askedAt + LEASE_MS);
    if (!this.#exists) return;
    const answer = await this.#ask(next);
    if (!answer || !this.#exists) return;
    if (answer.outcome === "gone") return this.#delete();
    if (answer.outcome === "changed") return this.#change(answer.filter);
    if (answer.outcome === "later") return this.#hold(answer);
    if (answer.outcome === "skip") return this.#skipBefore(answer.before);
    return this.#attempt(next, answer, askedAt);
  }

  /** Asks for a permit. @returns null if the webhook's object did not answer */
  async #ask({ number, replayId, fact }: Next): Promise<WebhookPermitAnswer | null> {
    const report = this.#report ?? this.#line.unreported[0] ?? null;
    const unused = this.#unused;
    // Only a wake-up that comes before the answer to this question can belong to it.
    this.#woken = 0;
    try {
      const answer = await this.#host.webhook(this.#id).permit({
        webhookId: this.#id,
        lineId: this.#host.lineId,
        number,
        at: fact.at,
        version: this.#line.filter.version,
        replayId,
        report,
        ...(unused !== null && { unused }),
      });
      this.#aways = 0;
      this.#unused = null;
      if (report) this.#reported(report);
      return answer;
    } catch (error) {
      this.#away(error);
      return null;
    }
  }

  #change(filter: WebhookFilter): void {
    // The webhook's object has an older version than this line, and will get the new one soon.
    if (filter.version <= this.#line.filter.version) this.#askAt = this.#host.clock.now() + AFTER_FAULT_MS;
    this.refilter(filter);
  }

  #hold(answer: WebhookPermitAnswer & { outcome: "later" }): void {
    // The wake-up came before this answer.
    if (answer.isWaiting && answer.number <= this.#woken) return;
    const { line, askAt } = this.#decisions.afterLater(this.#line, answer, this.#host.clock.now());
    this.#askAt = askAt;
    this.#save(line);
  }

  async #attempt(next: Next, permit: Granted, askedAt: number): Promise<void> {
    const { clock } = this.#host;
    const { fact, replayId, tries } = next;
    const mayStart = () => this.#exists && this.#isCurrent(next) && this.#decisions.isPermitFresh(askedAt, clock.now());
    const previous = replayId === null ? this.#line.previous : null;
    const call = { webhookId: this.#id, fact, previous, replayId, attempt: tries + 1, permit };
    this.#unused = permit.permit;
    const result = await callWebhook(this.#host, call, mayStart);
    if (result === "stopped") return;
    this.#unused = null;
    if (result === "gone") return this.#giveUp(fact, replayId, GONE, permit.permit);
    const { outcome, nextAt } = this.#decisions.judgedAttempt(
      next,
      result,
      result.retryAfterMs,
      clock.now(),
      clock.random(),
    );
    const attempt = this.#attemptOf(fact, replayId, { ...result, outcome, permit: permit.permit });
    const { eventId, code, durationMs: ms } = attempt;
    this.#log("log", "webhook_attempt", { eventId, attempt: call.attempt, outcome, code, ms });
    // Also after the owner's deletion: the webhook's object waits for the report.
    this.#report = attempt;
    if (!this.#exists) return;
    this.#save(this.#decisions.lineAfterAttempt(this.#line, next, { attempt, response: result.response, nextAt }));
  }

  #isCurrent({ number, replayId }: Work): boolean {
    const next = this.#next(this.#host.clock.now());
    return next?.number === number && next.replayId === replayId;
  }

  /** Gives up the events that are too old. */
  #expire(first: EventFact): void {
    const { clock } = this.#host;
    let last = first;
    for (let count = 1; count < BATCH; count++) {
      const fact = this.#host.next(last.number, this.#line.filter);
      if (!fact || !this.#decisions.isExpired(fact, clock.now())) break;
      last = fact;
    }
    this.#giveUp(last, null, EXPIRED, "", first.number);
  }

  /** Moves the cursor past the events before a time. */
  #skipBefore(before: number): void {
    let { cursor } = this.#line;
    for (;;) {
      const fact = this.#host.next(cursor, this.#line.filter);
      if (!fact || fact.at >= before) break;
      cursor = fact.number;
    }
    this.#save(this.#decisions.skippedTo(this.#line, cursor));
  }

  #giveUp(
    fact: EventFact,
    replayId: string | null,
    reason: { code: string; message: string },
    permit = "",
    first = fact.number,
  ): void {
    const { number } = fact;
    const ended = { startedAt: this.#host.clock.now(), durationMs: 0, httpStatus: null, retryAfterMs: null, ...reason };
    const report = this.#attemptOf(fact, replayId, { ...ended, outcome: "given_up", permit });
    const ranged = first < number ? { ...report, first } : report;
    this.#save(this.#decisions.afterGivingUp(this.#line, { number, replayId }, ranged));
  }

  #attemptOf(fact: EventFact, replayId: string | null, ended: AttemptEnd): WebhookAttempt {
    const { lineId } = this.#host;
    return attemptRecord({ lineId, eventId: this.#host.eventId(fact.number), fact, replayId }, ended);
  }

  /** Sends what the webhook's object does not know yet. */
  async #sendReports(): Promise<void> {
    // The object did not answer a moment ago.
    if (this.#aways > 0 && this.#askAt > this.#host.clock.now()) return;
    while (!this.#isDeleted) {
      const report = this.#report ?? this.#line.unreported[0];
      if (!report) return;
      try {
        await this.#host.webhook(this.#id).report(report);
      } catch (error) {
        return this.#away(error);
      }
      this.#aways = 0;
      this.#reported(report);
    }
  }

  #reported(report: WebhookAttempt): void {
    if (this.#report === report) this.#report = null;
    this.#save(this.#decisions.afterReport(this.#line, report));
  }

  #away(error: unknown): void {
    this.#askAt = this.#host.clock.now() + this.#decisions.awayMs(this.#aways++);
    this.#log("warn", "webhook_away", { cause: causeOf(error) });
  }

  /** The event to send next, at its time. */
  #next(now: number): Next | null {
    const head = this.#head();
    const replays = this.#line.replays.flatMap((replay) => {
      const fact = this.#pending.firstOf(replay.ranges, this.#line.filter);
      return fact ? [this.#decisions.replayWork(replay, fact)] : [];
    });
    return this.#decisions.nextWork(this.#line, head, replays, now);
  }

  /** The first event after the cursor. */
  #head(): EventFact | null {
    const fact = this.#pending.head(this.#line);
    const { searchedTo } = this.#pending;
    if (searchedTo - this.#line.cursor >= SEARCHED_BATCH) this.#save({ ...this.#line, cursor: searchedTo });
    return fact;
  }

  get #exists(): boolean {
    return !this.#isDeleted && this.#host.exists();
  }

  /** Stores the line, if it has changed. After the owner's deletion nothing is stored. */
  #save(line: StoredLine): void {
    if (line === this.#line) return;
    this.#line = line;
    if (this.#exists) this.#host.kv.put(lineKey(this.#id), line);
  }

  #delete(): void {
    this.#isDeleted = true;
    this.#host.kv.delete(lineKey(this.#id));
  }

  #log(level: "log" | "warn" | "error", event: string, fields: Record<string, unknown>): void {
    this.#host.logger[level]({ event, lineId: this.#host.lineId, webhookId: this.#id, ...fields });
  }
}

/** The key of a line's row. */
export function lineKey(webhookId: string): string {
  return `line ${webhookId}`;
}
