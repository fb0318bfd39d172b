import * as z from "zod/mini";
import { callOrganization } from "../calls/call-organization.ts";
import { directory } from "../db/client.ts";
import { rowOf } from "../db/rows.ts";
import { apiKeys, channels, members } from "../db/schema.ts";
import type { Scope } from "../model/caller.ts";
import { type ConversationCounts, RESPONSE_CLASSES, type ResponseClass } from "../model/conversation-counts.ts";
import type { Counts } from "../model/counts.ts";
import { atMost } from "../model/field.ts";
import { BUCKETS, type BucketLength, bucketsOf, type History } from "../model/history.ts";
import { isId } from "../model/id.ts";
import type { RefusalReason } from "../model/key.ts";
import type { ChannelCounts } from "../model/organization.ts";
import { attemptsOf, NO_REFUSALS, withZeros } from "./stats.ts";

/** The query of `GET /stats/history`. */
export const historyQuery = z.object({
  of: z.string().check(
    ...atMost(64),
    z.refine(
      (id) => isId("key", id) || isId("chn", id) || isId("mbr", id),
      "must be the id of a key, a channel or a member",
    ),
  ),
  by: z._default(z.enum(Object.keys(BUCKETS) as [BucketLength, ...BucketLength[]]), "hour"),
});

/**
 * The numbers of a key, a channel or a member over time, in one call of its organization's object.
 * @throws ApiError `key_not_found`, `channel_not_found`, `member_not_found`
 */
export async function readHistory(env: Env, scope: Scope, { of, by }: z.output<typeof historyQuery>) {
  const db = directory(env);
  const [row, present] = isId("key", of)
    ? ([await rowOf(db, scope, apiKeys, of, "key_not_found"), keyHistory] as const)
    : isId("chn", of)
      ? ([await rowOf(db, scope, channels, of, "channel_not_found"), channelHistory] as const)
      : ([await rowOf(db, scope, members, of, "member_not_found"), memberHistory] as const);
  const history = await callOrganization(env, row.organizationId, (organization) => organization.history(of));
  return present(row, history, by, Date.now());
}

interface Owner {
  id: string;
  organizationId: string;
  name: string;
}

/** What shows a history at `now` as the API does. @param shown shows the counts of a bucket */
function presenter<Name extends string, Shown extends object>(shown: (counts: Counts<Name>) => Shown) {
  return ({ id, organizationId, name }: Owner, history: History<Name> | null, by: BucketLength, now: number) => {
    const buckets = bucketsOf(history, by, now).map(({ start, counts }) => ({
      start: new Date(start).toISOString(),
      ...shown(counts),
    }));
    return { id, organizationId, name, by, buckets };
  };
}

export const keyHistory = presenter(({ admitted = 0, ...refused }: Counts<"admitted" | RefusalReason>) => ({
  admitted,
  refused: { ...NO_REFUSALS, ...(refused as Counts<RefusalReason>) },
}));

export const channelHistory = presenter((counts: ChannelCounts) => ({
  attempts: attemptsOf(counts),
  ...conversation(counts),
  newChats: counts.newChats ?? 0,
  prices: pricesIn(counts),
}));

/** Messages by the category of their price. */
function pricesIn(counts: ChannelCounts): Record<string, number> {
  const prices = Object.entries(counts).filter(([name]) => name.startsWith("price."));
  return Object.fromEntries(prices.map(([name, count = 0]) => [name.slice("price.".length), count]));
}

export const memberHistory = presenter(conversation);

const NO_CLASSES = Object.fromEntries(Object.keys(RESPONSE_CLASSES).map((name) => [name, 0])) as Record<
  ResponseClass,
  number
>;

/** The messages, and the answers by their response times. */
function conversation(counts: ConversationCounts) {
  const { received = 0, messages: sent = 0 } = counts;
  const classes = withZeros(NO_CLASSES, counts);
  const answers = Object.values(classes).reduce((sum, count) => sum + count, 0);
  return { received, sent, answers, classes };
}
