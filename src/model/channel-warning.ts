import { isoTime } from "./time.ts";

/** What a network reports about a channel. A warning says what is wrong while the channel still works. */
export const WARNING_CODES = [
  "groups_not_supported",
  "unknown_fields",
  "quality",
  "limit",
  "limited",
  "name",
  "account",
  "alert",
] as const;
export type WarningCode = (typeof WARNING_CODES)[number];

/** `since`: when it came, Unix milliseconds. `count`: how often it was reported since. */
export interface ChannelWarning {
  code: WarningCode;
  since: number;
  count: number;
  text: string;
}

/** The warnings as clients see them. */
export function shownWarnings(warnings: ChannelWarning[] = []) {
  return warnings.map((warning) => ({ ...warning, since: isoTime(warning.since) }));
}

/** How many names of unknown fields a channel counts. */
export const MAX_UNKNOWN_NAMES = 50;

/** What a network says of a channel, in a webhook or when it is asked. Absent: nothing of that. */
export interface ChannelNews {
  /**
   * `broken`: why the network refuses the channel from now on. `mended`: it no longer does. `available`: the network says
   * that messages can be sent, which ends only what it said itself, because only a message proves it.
   */
  state?: { broken: string } | "mended" | "available";
  warnings?: { code: WarningCode; text: string; count?: number }[];
  /** The warnings that have ended. */
  ended?: WarningCode[];
  /** How often names were met that the service does not know. */
  unknown?: Record<string, number>;
  /** How many contacts may get a template a day; null for no limit. */
  dailyLimit?: number | null;
  /** The network should be asked soon, because its report does not give the state. */
  isAskWorthy?: true;
}
