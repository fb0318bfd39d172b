import { EVENT_TYPES, type EventType, type TYPING } from "./event.ts";
import type { WebhookFilter } from "./webhook.ts";

/** The families of types, such as `message.*`. A family has the types that begin with its name, also future ones. */
const FAMILIES = [
  ...new Set(EVENT_TYPES.filter((type) => type.includes(".")).map((type) => `${type.split(".")[0]}.*`)),
];

/** What a filter of types may have. */
export const TYPE_PATTERNS: readonly string[] = [...EVENT_TYPES.filter((type) => type !== "ping"), ...FAMILIES];

/** What a list or a stream shows: types or families, and channels; null for all. */
export interface FeedFilter extends Pick<WebhookFilter, "types" | "channels"> {
  /** The id of the only chat; absent for all. */
  chat?: string | undefined;
}

/**
 * Whether a filter lets an event through. An event without a channel passes a filter of channels.
 * @param channelId the channel of the event's chat; for an event of the organization, see `ownChannelId`
 */
export function matches(
  { types, channels }: FeedFilter,
  type: EventType | typeof TYPING,
  channelId: string | null,
): boolean {
  const isOfType = types === null || types.some((pattern) => pattern === type || isFamilyOf(pattern, type));
  return isOfType && (channels === null || channelId === null || channels.includes(channelId));
}

function isFamilyOf(pattern: string, type: string): boolean {
  return pattern.endsWith(".*") && type.startsWith(pattern.slice(0, -1));
}
