import type { Event } from "../../model/event.ts";
import type { Payload, WebhookAttempt } from "../../model/webhook.ts";
import { attemptRecord } from "../line/attempt-record.ts";
import { type CallHost, callWebhook } from "../line/call-webhook.ts";

/** What a ping calls. */
export interface PingTarget {
  webhookId: string;
  organizationId: string;
  url: string;
  secrets: string[];
  payload: Payload;
}

/** Calls a webhook once with an event, and waits for its answer. Never throws because of the receiver. */
export async function pingWebhook(
  ports: Omit<CallHost, "render" | "redactions" | "eventId">,
  { webhookId, organizationId, ...target }: PingTarget,
  event: Event,
): Promise<WebhookAttempt> {
  const fact = { number: 1, type: event.type, seq: null, note: null, at: ports.clock.now() };
  const host = { ...ports, render: async () => JSON.stringify(event), redactions: () => 0, eventId: () => event.id };
  const permit = { outcome: "granted", permit: "", ...target } as const;
  const call = { webhookId, fact, previous: null, replayId: null, attempt: 1, permit };
  const result = await callWebhook(host, call, () => true);
  // Not for a sample, which is always there, and may always start.
  if (result === "gone" || result === "stopped") throw new Error(`a ping of ${webhookId} was ${result}`);
  const outcome = result.class === "accepted" ? "accepted" : "given_up";
  const sample = { lineId: organizationId, eventId: event.id, fact, replayId: null };
  return attemptRecord(sample, { ...result, outcome, permit: "" });
}
