import { discard } from "../channels/network-response.ts";
import type { Event } from "../events/event.ts";
import { retryAfterMs } from "../http/retry-after.ts";
import type { Clock } from "../platform/clock.ts";
import { withDeadline } from "../platform/deadline.ts";
import type { WebhookAttempt } from "./rpc.ts";
import { type CallFailure, judgeAnswer } from "./schedule.ts";
import { signatureHeaders } from "./signature.ts";
import { webhookUrlFault } from "./url.ts";

const TIMEOUT_MS = 30_000;

/** What a ping calls. */
export interface PingTarget {
  webhookId: string;
  organizationId: string;
  url: string;
  secrets: readonly string[];
  /** Whether URLs of this machine may be called. */
  allowLocal: boolean;
}

/** Calls a webhook once with an event, and waits for its answer. Never throws because of the receiver. */
export async function pingWebhook(
  { webhookId, organizationId, url, secrets, allowLocal }: PingTarget,
  event: Event,
  clock: Clock,
): Promise<WebhookAttempt> {
  const startedAt = clock.now();
  const body = JSON.stringify(event);
  const headers = {
    ...(await signatureHeaders(secrets, event.id, startedAt, body)),
    "content-type": "application/json",
    "user-agent": "Parley-Webhooks/1",
    "parley-webhook": webhookId,
    "parley-attempt": "1",
  };
  let failure: CallFailure = "connection";
  let answer: Response | null = null;
  if (webhookUrlFault(url, { ownHosts: [], allowLocal }) !== null) failure = "url_refused";
  else {
    answer = await withDeadline(clock, TIMEOUT_MS, (signal) => {
      const onDeadline = () => {
        failure = "timeout";
      };
      signal.addEventListener("abort", onDeadline, { once: true });
      return fetch(url, { method: "POST", headers, body, redirect: "manual", signal });
    }).catch(() => null);
  }
  if (answer) discard(answer);
  const now = clock.now();
  const httpStatus = answer?.status ?? null;
  const { class: answerClass, code, message } = judgeAnswer(httpStatus, failure);
  return {
    permit: "",
    lineId: organizationId,
    number: 1,
    eventId: event.id,
    eventType: event.type,
    replayId: null,
    startedAt,
    durationMs: now - startedAt,
    outcome: answerClass === "accepted" ? "accepted" : "given_up",
    httpStatus,
    code,
    message,
    retryAfterMs: answer && retryAfterMs(answer.headers, now),
  };
}
