import { backoffMs } from "../../platform/backoff.ts";
import { isRecent } from "../../platform/clock.ts";

/** A change is reported after this time, unless the organization's object asked for longer pauses. */
export const REPORT_AFTER_MS = 2_000;
/** The first change of a quiet chat is reported after this time, with what follows it at once, such as "delivered". */
const SOON_AFTER_MS = 150;
/** For how long an answer says whether somebody listens. */
const KNOWN_FOR_MS = 60_000;
const RETRY = { firstMs: 15_000, maxMs: 600_000 };

/**
 * When a chat reports to its organization, as this instance knows it from the answers. Times are Unix milliseconds.
 *
 * One rule says it. The chat rests after a report for as long as the answer says, which is not at all unless many chats
 * report, and after a failure until its back-off ends. When it does not rest, it reports at once while a client waits for
 * events, and repeats this until nothing is left to report. Otherwise the alarm reports what was collected: soon, if the
 * chat has not heard for a minute whether somebody listens, else after two seconds. A request whose response needs the
 * report ends the rest, unless the organization's object said that it is overloaded.
 */
export class ReportTimes {
  #failures = 0;
  #notBefore = 0;
  /** The pause that the organization's object asked for. */
  #pauseMs = 0;
  /** Since when and for how long the chat rests, because many chats report. */
  #rest = { since: 0, ms: 0 };
  #listeningUntil = 0;
  /** When the organization last said whether somebody listens. */
  #heardAt = Number.NEGATIVE_INFINITY;

  /** A report goes out. It has failed until it is answered. */
  begun(): void {
    this.#failures++;
  }

  /** The organization's object answered. */
  answered(): void {
    this.#failures = 0;
  }

  /** @param listeningForMs for how long a client waits for events; 0 if none does */
  heard(listeningForMs: number): void {
    this.#heardAt = Date.now();
    this.#listeningUntil = this.#heardAt + listeningForMs;
  }

  /**
   * The organization's object asks for pauses.
   * @param pauseMs for how long changes are collected
   * @param restMs for how long nothing is reported
   */
  rest(pauseMs: number, restMs: number): void {
    const now = Date.now();
    this.#pauseMs = pauseMs;
    this.#notBefore = now + pauseMs;
    this.#rest = { since: now, ms: restMs };
  }

  /** For how long changes are collected. @param isQuiet whether a change is the first after a quiet time */
  delayMs(now: number, isQuiet: boolean): number {
    const least = isQuiet ? SOON_AFTER_MS : REPORT_AFTER_MS;
    // The clock can go back. The alarm of a report also serves messages that wait, so it must not be late.
    return Math.max(least, Math.min(this.#notBefore - now, this.#pauseMs));
  }

  /** After how long a failed report is repeated, in milliseconds. */
  get retryMs(): number {
    return backoffMs(RETRY, this.#failures - 1, Math.random());
  }

  /** Until when nothing is reported, because many chats report; null if it may be. */
  restsUntil(now: number): number | null {
    const { since, ms } = this.#rest;
    return isRecent(since, ms, now) ? since + ms : null;
  }

  /** Whether a client waits for events. */
  isListened(now: number): boolean {
    return now < this.#listeningUntil;
  }

  /** Whether the organization said lately if somebody listens. */
  knowsListeners(now: number): boolean {
    return isRecent(this.#heardAt, KNOWN_FOR_MS, now);
  }

  /** All storage was deleted. */
  forget(): void {
    this.#failures = 0;
    this.#notBefore = 0;
    this.#pauseMs = 0;
    this.#rest = { since: 0, ms: 0 };
    this.#listeningUntil = 0;
    this.#heardAt = Number.NEGATIVE_INFINITY;
  }
}
