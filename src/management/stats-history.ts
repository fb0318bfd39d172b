import * as z from "zod/mini";
import { callOrganization } from "../calls/call-organization.ts";
import { directory } from "../db/client.ts";
import { rowOf } from "../db/rows.ts";
import { apiKeys, channels, members } from "../db/schema.ts";
import { fault } from "../http/validation.ts";
import type { Scope } from "../model/caller.ts";
import type { ConversationCounts } from "../model/conversation-counts.ts";
import { addCounts, type Counts } from "../model/counts.ts";
import { atMost, queryInteger } from "../model/field.ts";
import { BUCKETS, type BucketLength, bucketsOf, type History } from "../model/history.ts";
import { isId } from "../model/id.ts";
import type { CountedRefusal } from "../model/key.ts";
import type { ChannelCounts } from "../model/organization.ts";
import { responseTimes } from "../model/response-time.ts";
import { attemptsOf, conversation, handoversOf, heldOf, NO_REFUSALS } from "./stats.ts";

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
  last: z.optional(queryInteger(1, BUCKETS.day.kept)),
});

/**
 * The numbers of a key, a channel or a member over time, in one call of its organization's object.
 * @throws ApiError `key_not_found`, `channel_not_found`, `member_not_found`; `validation_failed` for more than are kept
 */
export async function readHistory(env: Env, scope: Scope, { of, by, last }: z.output<typeof historyQuery>) {
  const { kept } = BUCKETS[by];
  if ((last ?? 1) > kept) throw fault("last", `must be at most ${kept}, because by is ${by}`);
  const db = directory(env);
  const [row, present] = isId("key", of)
    ? ([await rowOf(db, scope, apiKeys, of, "key_not_found"), keyHistory] as const)
    : isId("chn", of)
      ? ([await rowOf(db, scope, channels, of, "channel_not_found"), channelHistory] as const)
      : ([await rowOf(db, scope, members, of, "member_not_found"), memberHistory] as const);
  const history = await callOrganization(env, row.organizationId, (organization) => organization.history(of));
  return present(row, history, by, Date.now(), last);
}

interface Owner {
  id: string;
  organizationId: string;
  name: string;
}

/**
 * What shows a history at `now` as the API does: its newest `last` buckets.
 * @param shown shows the counts of a bucket
 * @param whole shows the counts of all these buckets together
 */
function presenter<Name extends string, Shown extends object, Whole extends object>(
  shown: (counts: Counts<Name>) => Shown,
  whole: (counts: Counts<Name>) => Whole,
) {
  return (
    { id, organizationId, name }: Owner,
    history: History<Name> | null,
    by: BucketLength,
    now: number,
    last: number = BUCKETS[by].kept,
  ) => {
    const kept = bucketsOf(history, by, now).slice(-last);
    const buckets = kept.map(({ start, counts }) => ({ start: new Date(start).toISOString(), ...shown(counts) }));
    const all = kept.reduce<Counts<Name>>((sum, { counts }) => addCounts(sum, counts), {});
    return { id, organizationId, name, by, ...whole(all), buckets };
  };
}

const ofAnswers = (counts: ConversationCounts) => ({ responseTimes: responseTimes(counts) });

export const keyHistory = presenter(
  ({ admitted = 0, ...refused }: Counts<"admitted" | CountedRefusal>) => ({
    admitted,
    refused: { ...NO_REFUSALS, ...(refused as Counts<CountedRefusal>) },
  }),
  () => ({}),
);

export const channelHistory = presenter(
  (counts: ChannelCounts) => ({
    attempts: attemptsOf(counts),
    ...conversation(counts),
    newChats: counts.newChats ?? 0,
    prices: pricesIn(counts),
    handovers: handoversOf(counts),
    held: heldOf(counts),
  }),
  ofAnswers,
);

/** Messages by the category of their price. */
function pricesIn(counts: ChannelCounts): Record<string, number> {
  const prices = Object.entries(counts).filter(([name]) => name.startsWith("price."));
  return Object.fromEntries(prices.map(([name, count = 0]) => [name.slice("price.".length), count]));
}

export const memberHistory = presenter(conversation, ofAnswers);
