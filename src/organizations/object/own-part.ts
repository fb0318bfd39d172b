import { eventId } from "../../model/event.ts";
import { renderEvent } from "../../model/event-json.ts";
import type { SubscriptionHost } from "../../webhooks/subscription/host.ts";
import { ObjectSubscriptions, type SubscriptionsObject } from "../../webhooks/subscription/object-subscriptions.ts";
import { subscriptionPorts } from "../../webhooks/subscription/ports.ts";
import type { Existence } from "./existence.ts";
import type { Feed } from "./feed.ts";
import { OwnEvents } from "./own-events.ts";

export interface OwnSubscriptionParts extends SubscriptionsObject {
  env: Env;
  storage: DurableObjectStorage;
  existence: Existence;
  feed: Feed;
}

/** `notices`: the events about webhooks themselves. `events`: all others. */
type PartName = "events" | "notices";

/** In front of the keys of the notices' subscriptions. */
const NOTICES = "notices ";
const NOTICE_SUBSCRIPTION = ".notices";

/** Whether a subscription's id is that of notices. */
export function isNoticeSubscription(subscriptionId: string): boolean {
  return subscriptionId.endsWith(NOTICE_SUBSCRIPTION);
}

/** The subscriptions of a part of the organization's own events. */
export function ownPart(parts: OwnSubscriptionParts, name: PartName): ObjectSubscriptions {
  const subscriptions: ObjectSubscriptions = new ObjectSubscriptions(parts, () => {
    const { deletions } = subscriptions;
    return subscriptionHost(parts, name, () => subscriptions.deletions === deletions);
  });
  return subscriptions;
}

function subscriptionHost(parts: OwnSubscriptionParts, name: PartName, exists: () => boolean): SubscriptionHost | null {
  const { alarm, env, existence, feed, storage } = parts;
  const organizationId = existence.id;
  if (organizationId === undefined) return null;
  // Read once: after the organization's deletion, a read would store a new one.
  let life: string | undefined;
  const lifeOf = () => (life ??= feed.life);
  const isNotices = name === "notices";
  const events = new OwnEvents(storage.sql, (type) => type.startsWith("webhook.") === isNotices);
  return {
    ...subscriptionPorts(env, alarm),
    kv: isNotices ? prefixed(storage.kv, NOTICES) : storage.kv,
    subscriptionId: isNotices ? organizationId + NOTICE_SUBSCRIPTION : organizationId,
    exists,
    newest: () => feed.newestOwn,
    matching: (range, filter, limit) => events.matching(range, filter, limit),
    count: (range, filter) => events.count(range, filter),
    eventId: (number) => eventId(organizationId, lifeOf(), number),
    // No message is in these events.
    redactions: () => 0,
    // These events have no number, so none is before them.
    async render(fact, payload) {
      const { data, ...event } = renderEvent(fact, { organizationId, chat: null }, lifeOf(), {}, payload);
      return JSON.stringify({ ...event, previous: null, data });
    },
    standBy: (at) => alarm.by(at),
  };
}

/** The values whose keys begin with a prefix, under the rest of their keys. */
function prefixed(kv: SyncKvStorage, prefix: string): SubscriptionHost["kv"] {
  return {
    get: <T>(key: string) => kv.get<T>(prefix + key),
    put: (key, value) => kv.put(prefix + key, value),
    delete: (key) => kv.delete(prefix + key),
    list: <T>({ prefix: within = "" } = {}) =>
      [...kv.list<T>({ prefix: prefix + within })].map(([key, value]): [string, T] => [
        key.slice(prefix.length),
        value,
      ]),
  };
}
