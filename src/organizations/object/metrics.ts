import type { OrganizationMetrics } from "../../model/metrics.ts";
import type { OrganizationParts } from "./organization-parts.ts";

/** What monitoring reads. It writes nothing. @param keyIds the keys whose use of the month is asked for */
export function metricsOf(
  { channels, keys, webhookStates }: Pick<OrganizationParts, "channels" | "keys" | "webhookStates">,
  keyIds: string[],
  now: number,
): OrganizationMetrics {
  const open = [...channels.all().values()].filter(({ isClosed }) => !isClosed);
  const date = new Date(now);
  return {
    channels: channels.numbers(open.map(({ id }) => id)),
    requests: keys.total(),
    usedThisMonth: keys.admittedSince(keyIds, Date.UTC(date.getUTCFullYear(), date.getUTCMonth())),
    webhooks: webhookStates.counts(),
  };
}
