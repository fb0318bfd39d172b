import type { RequestCounts } from "./key.ts";
import type { ChannelNumbers } from "./organization.ts";
import type { WebhookCounts } from "./webhook.ts";

/**
 * The numbers of an organization that monitoring reads, as its object has them. After a release, only add optional
 * fields: during a deploy the Worker and the object run different versions for minutes.
 */
export interface OrganizationMetrics {
  /** The channels that are not being deleted. */
  channels: ChannelNumbers[];
  /** The requests of all keys, also of those that were deleted. */
  requests: RequestCounts;
  /** The requests that were accepted in the current month in UTC, by the id of the key. */
  usedThisMonth: Record<string, number>;
  webhooks: WebhookCounts;
}
