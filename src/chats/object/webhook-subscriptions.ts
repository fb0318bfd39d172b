import type { ChatIdentity } from "../../model/chat-answers.ts";
import { EVENT_TYPES, type EventType, eventId, lifeDigits, parseEventId } from "../../model/event.ts";
import { matches } from "../../model/event-filter.ts";
import type { WebhookFilter } from "../../model/webhook.ts";
import type { StandingAlarm } from "../../platform/object/alarm.ts";
import type { SubscriptionHost } from "../../webhooks/subscription/host.ts";
import { subscriptionPorts } from "../../webhooks/subscription/ports.ts";
import type { ChatReporter } from "./chat-report.ts";
import type { Adoption } from "./identity.ts";
import type { MessageLog } from "./log/message-log.ts";
import type { ChatEvents } from "./rendered-events.ts";

interface Parts {
  ctx: Pick<DurableObjectState, "waitUntil">;
  env: Env;
  storage: DurableObjectStorage;
  alarm: StandingAlarm;
  log: MessageLog;
  events: ChatEvents;
  adoption: Adoption;
  report: ChatReporter;
}

/**
 * The owner of the subscriptions that deliver a chat's events to webhooks; null before the chat's adoption and after
 * its deletion.
 */
export function subscriptionHost(parts: Parts): SubscriptionHost | null {
  const { adoption, alarm, ctx, env, events, log, report, storage } = parts;
  const identity = adoption.identity();
  if (!identity) return null;
  const { chatId, channelId, life } = identity;
  const exists = () => adoption.exists(life);
  return {
    ...subscriptionPorts(env, alarm),
    kv: storage.kv,
    subscriptionId: chatId,
    exists,
    newest: () => log.events.newest,
    matching: (range, filter, limit) => log.events.matching(range, typesOf(filter, channelId), limit),
    count: (range, filter) => log.events.count(range, typesOf(filter, channelId)),
    eventId: (number) => eventId(chatId, lifeDigits(life), number),
    redactions: () => log.redactions,
    async render(fact, payload, previous) {
      const { data, ...event } = await events.render(identity, fact, payload);
      return exists() ? JSON.stringify({ ...event, previous, data }) : null;
    },
    waitChanged() {
      report.stateChanged();
      ctx.waitUntil(alarm.by(report.changed()));
    },
    standBy: (at) => alarm.by(at),
  };
}

/** The number of a chat's event; 0 if the id is of none of its events. */
export function eventNumber({ chatId, life }: ChatIdentity, id: string): number {
  const number = parseEventId(id)?.number ?? 0;
  return id === eventId(chatId, lifeDigits(life), number) ? number : 0;
}

function typesOf(filter: WebhookFilter, channelId: string): EventType[] {
  return EVENT_TYPES.filter((type) => matches(filter, type, channelId));
}
