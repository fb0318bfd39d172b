import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { type EventFact, parseEventId } from "../../../../src/model/event.ts";
import type { Subscription } from "../../../../src/webhooks/subscription/subscription.ts";
import { runAlarm, workIsDone } from "../../../support/alarms.ts";
import { admin, newChat, newOrganization } from "../../../support/harness.ts";
import { until } from "../../../support/until.ts";
import { addWebhook, type Received } from "../receiver.ts";

export const SECOND = 1_000;
/** The types of the organization's own events. */
export const OWN = { types: ["chat.deleted", "channel.health", "webhook.*"] };

/** The object of an organization. */
export const objectOf = (organizationId: string) => env.ORGANIZATIONS.getByName(organizationId);

/** Rings the organization's alarm. */
export const ring = (organizationId: string) => runAlarm(objectOf(organizationId));

/** The subscription of a webhook to the events of the organization that are no notices. */
export function subscriptionOf(organizationId: string, webhookId: string): Promise<Subscription | undefined> {
  return runInDurableObject(objectOf(organizationId), (_object, { storage }) =>
    storage.kv.get<Subscription>(`line ${webhookId}`),
  );
}

function noticeSubscriptionOf(organizationId: string, webhookId: string): Promise<Subscription | undefined> {
  return runInDurableObject(objectOf(organizationId), (_object, { storage }) =>
    storage.kv.get<Subscription>(`notices line ${webhookId}`),
  );
}

/**
 * Resolves when the two subscriptions of a webhook have made this many attempts, and have reported them: until then,
 * they make the next one without an alarm if the clock passes its time.
 */
export async function attempted(organizationId: string, webhookId: string, count: number): Promise<void> {
  await until(
    `${count} attempts are made`,
    async () => {
      const subscriptions = [
        await subscriptionOf(organizationId, webhookId),
        await noticeSubscriptionOf(organizationId, webhookId),
      ];
      return subscriptions.flatMap((subscription) => subscription?.recent ?? []);
    },
    ({ length }) => length === count,
  );
  await workIsDone(objectOf(organizationId));
}

/** The organization's own events that are stored. */
export async function ownEvents(organizationId: string): Promise<EventFact[]> {
  const read = (await objectOf(organizationId).ownEvents(1, 100)) as { events: EventFact[] } | null;
  return read?.events ?? [];
}

/** The number in the event's id. */
export const numberOf = ({ event }: Received) => parseEventId(event.id)?.number;

let contacts = 4_711;

/** Creates a chat and deletes it, which is an event of the organization. @returns the chat's id */
export async function deleteChat({
  api,
  channelId,
}: Pick<Awaited<ReturnType<typeof newOrganization>>, "api" | "channelId">) {
  const { id } = await newChat(api, channelId, String(++contacts));
  expect((await admin("DELETE", `/chats/${id}`)).status).toBe(200);
  return id;
}

/** An organization whose webhook was told of a chat's deletion. */
export async function toldOrganization() {
  const organization = await newOrganization();
  const { organizationId } = organization;
  const webhookId = await addWebhook(organizationId, OWN);
  await deleteChat(organization);
  await attempted(organizationId, webhookId, 1);
  return { ...organization, organization, webhookId };
}
