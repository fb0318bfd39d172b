import { retryAfterMs } from "../../http/retry-after.ts";
import type { EventFact } from "../../model/event.ts";
import type { Payload, WebhookPermitAnswer } from "../../model/webhook.ts";
import type { Clock } from "../../platform/clock.ts";
import { withDeadline } from "../../platform/deadline.ts";
import { causeOf } from "../../platform/log.ts";
import { type CallFailure, type Judgment, judgeAnswer } from "./retry.ts";

/** The deadline of a call, including the body of its answer. */
export const CALL_TIMEOUT_MS = 30_000;
export const MAX_RESPONSE_BYTES = 1_024;
const USER_AGENT = "Parley-Webhooks/1";

/** What a call needs of the owner of its subscription. */
export interface CallHost {
  clock: Clock;
  /**
   * The JSON of an event, from the rows as they are now; null if nothing is left to send.
   * @param previous the number of the subscription's event before it
   */
  render(fact: EventFact, payload: Payload, previous: number | null): Promise<string | null>;
  /** How many messages were redacted. */
  redactions(): number;
  eventId(number: number): string;
  /** What is wrong with a URL; null if it may be called. */
  checkUrl(url: string): string | null;
  /** The headers that prove the call's origin. @param at Unix milliseconds */
  sign(secrets: readonly string[], id: string, at: number, body: string): Promise<Record<string, string>>;
  fetch(url: string, init: RequestInit): Promise<Response>;
}

export interface WebhookCall {
  webhookId: string;
  fact: EventFact;
  /** The number of the subscription's event before it; null for the first, and in a replay. */
  previous: number | null;
  replayId: string | null;
  /** 1 for the first. */
  attempt: number;
  permit: WebhookPermitAnswer & { outcome: "granted" };
}

/** How a call ended. Times are Unix milliseconds. */
export interface CallResult extends Judgment {
  startedAt: number;
  durationMs: number;
  httpStatus: number | null;
  retryAfterMs: number | null;
  /**
   * The beginning of the answer's body; null if there is none, or if it may quote a message redacted during the call.
   */
  response: string | null;
}

interface Answer {
  answer: Response | null;
  response: string | null;
  failure: CallFailure;
}

const REFUSED: Answer = { answer: null, response: null, failure: "url_refused" };

/** How the platform says that it makes no more calls for this run of the object. The receiver has no part in it. */
const PLATFORM_LIMIT = /too many subrequests|subrequest depth limit/i;

/** A signed request that was not sent yet. */
interface SignedRequest {
  body: string;
  headers: Record<string, string>;
}

/**
 * Makes one call.
 * @param mayStart asked at the last moment; nothing is awaited between its answer and the call
 * @returns `gone` if nothing is left to send; `stopped` if the call may not start
 * @throws if the event can't be rendered or signed, or the platform refuses the call; then no call was made
 */
export async function callWebhook(
  host: CallHost,
  call: WebhookCall,
  mayStart: () => boolean,
): Promise<CallResult | "gone" | "stopped"> {
  for (;;) {
    const redactions = host.redactions();
    const request = await signedRequest(host, call);
    if (!mayStart()) return "stopped";
    // A message that was redacted in the meantime must not leave with its text.
    if (host.redactions() !== redactions) continue;
    return request ? post(host, call.permit.url, request, redactions) : "gone";
  }
}

async function signedRequest(host: CallHost, call: WebhookCall): Promise<SignedRequest | null> {
  const { fact, permit, previous, replayId, attempt, webhookId } = call;
  const body = await host.render(fact, permit.payload, previous);
  if (body === null) return null;
  const signature = await host.sign(permit.secrets, host.eventId(fact.number), host.clock.now(), body);
  const headers = {
    ...signature,
    "content-type": "application/json",
    "user-agent": USER_AGENT,
    "parley-webhook": webhookId,
    "parley-attempt": String(attempt),
    ...(replayId !== null && { "parley-replay": replayId }),
  };
  return { body, headers };
}

async function post(
  host: CallHost,
  url: string,
  { body, headers }: SignedRequest,
  redactions: number,
): Promise<CallResult> {
  const { clock } = host;
  const startedAt = clock.now();
  const { answer, response, failure } =
    host.checkUrl(url) === null ? await answerOf(host, url, { method: "POST", body, headers }) : REFUSED;
  const now = clock.now();
  const httpStatus = answer?.status ?? null;
  return {
    ...judgeAnswer(httpStatus, failure),
    startedAt,
    durationMs: now - startedAt,
    httpStatus,
    retryAfterMs: answer ? retryAfterMs(answer.headers, now) : null,
    response: host.redactions() === redactions ? response : null,
  };
}

/**
 * Calls a URL. If the body ends late or breaks, the answer's status still counts.
 * @throws if the platform refuses the call
 */
async function answerOf(host: CallHost, url: string, init: RequestInit): Promise<Answer> {
  const result: Answer = { answer: null, response: null, failure: "connection" };
  try {
    await withDeadline(host.clock, CALL_TIMEOUT_MS, async (signal) => {
      const onDeadline = () => {
        result.failure = "timeout";
      };
      signal.addEventListener("abort", onDeadline, { once: true });
      result.answer = await host.fetch(url, { ...init, redirect: "manual", signal });
      result.response = await beginningOf(result.answer, signal);
    });
  } catch (error) {
    if (!result.answer && PLATFORM_LIMIT.test(causeOf(error))) throw error;
    // `failure` says why there is no answer.
  }
  return result;
}

/** At most 1 KB of a body, and what came of it until the deadline; null if it is empty. */
async function beginningOf({ body }: Response, signal: AbortSignal): Promise<string | null> {
  const reader = body?.getReader();
  if (!reader) return null;
  const stop = () => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", stop, { once: true });
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (let left = MAX_RESPONSE_BYTES; left > 0; ) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value.subarray(0, left), { stream: true });
      left -= value.byteLength;
    }
  } catch {
    // The connection broke. What came before is kept.
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
  return text === "" ? null : text;
}
