import { withJitter } from "../../platform/backoff.ts";
import { unansweredStatus } from "../../platform/unanswered-status.ts";

/**
 * What a webhook's answer means, and when its event is tried again. Pure functions, for the subscriptions that make the
 * calls and for the webhook's object.
 */

/**
 * - `accepted`: the subscription continues with its next event.
 * - `unavailable`: the receiver does not work, whatever the event. Counts against the webhook.
 * - `refused`: the receiver does not want this event. Counts nothing.
 * - `gone`: the receiver wants no events at all. The webhook is disabled, and the event stays where it is.
 */
export type AnswerClass = "accepted" | "unavailable" | "refused" | "gone";

/** Why a call got no answer. `url_refused`: the URL was not called, because it may not be. */
export type CallFailure = keyof typeof FAILURES;

export interface Judgment {
  class: AnswerClass;
  /** Whether it counts as a failure of the webhook. */
  counts: boolean;
  /** Stable, for programs: `ok`, `timeout`, `connection`, `url_refused`, `redirect`, `http_<status>`. */
  code: string;
  /** For people. */
  message: string;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The waits between the tries of an event: 15 tries in three days. */
const UNAVAILABLE_WAITS = [
  ...[5, 30].map((seconds) => seconds * SECOND),
  ...[2, 10, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 4, 8, 12, 12, 12, 12, 8].map((hours) => hours * HOUR),
];
/** The waits between the tries of an event that the receiver refuses: 5 tries in 13 minutes. */
const REFUSED_WAITS = UNAVAILABLE_WAITS.slice(0, 4);

/** Client errors that say nothing of the event: a wrong URL, credentials, or a receiver that is busy. */
const UNAVAILABLE_STATUSES = new Set([401, 403, 404, 405, 408, 429]);

const FAILURES = {
  timeout: "The webhook did not answer within 30 seconds",
  connection: "The connection to the webhook failed",
  url_refused: "The webhook's URL may not be called",
} as const;

/**
 * Judges how a call ended. A status of Cloudflare itself means that the webhook did not answer.
 * @param httpStatus null if there was no answer
 * @param failure why there was no answer; ignored if there was one
 */
export function judgeAnswer(httpStatus: number | null, failure: CallFailure = "connection"): Judgment {
  if (httpStatus === null) return { class: "unavailable", counts: true, code: failure, message: FAILURES[failure] };
  const answerClass = classOf(httpStatus);
  const counts = answerClass === "unavailable";
  if (answerClass === "accepted") {
    return { class: answerClass, counts, code: "ok", message: `The webhook answered ${httpStatus}` };
  }
  if (httpStatus >= 300 && httpStatus < 400) {
    const message = `The webhook answered ${httpStatus}, and redirects are not followed`;
    return { class: answerClass, counts, code: "redirect", message };
  }
  const unanswered = unansweredStatus(httpStatus);
  if (unanswered) return { class: answerClass, counts, code: "connection", message: unanswered.message };
  return { class: answerClass, counts, code: `http_${httpStatus}`, message: `The webhook answered ${httpStatus}` };
}

/**
 * What a reported attempt's answer means.
 * @returns null if no call was made, for example because the event was too old
 */
export function reportedClass({ httpStatus, code }: { httpStatus: number | null; code: string }): AnswerClass | null {
  if (httpStatus !== null) return classOf(httpStatus);
  return Object.hasOwn(FAILURES, code) ? "unavailable" : null;
}

function classOf(httpStatus: number): AnswerClass {
  if (httpStatus >= 200 && httpStatus < 300) return "accepted";
  if (httpStatus === 410) return "gone";
  const isClientError = httpStatus >= 400 && httpStatus < 500;
  return isClientError && !UNAVAILABLE_STATUSES.has(httpStatus) ? "refused" : "unavailable";
}

/**
 * How long an event waits for its next try.
 * @param tries how many calls were made for the event, including the last one
 * @param answer how the last call ended
 * @param random from 0 to 1, for the jitter
 * @returns milliseconds; 0 if the webhook's object decides (`gone`); null if the event is given up
 */
export function nextTry(tries: number, answer: Exclude<AnswerClass, "accepted">, random: number): number | null {
  if (answer === "gone") return 0;
  const wait = (answer === "refused" ? REFUSED_WAITS : UNAVAILABLE_WAITS)[tries - 1];
  return wait === undefined ? null : withJitter(wait, random);
}
