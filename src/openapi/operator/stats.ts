import * as z from "zod";
import { ownStatsQuery, statsQuery } from "../../management/stats.ts";
import { historyQuery } from "../../management/stats-history.ts";
import { examples } from "../examples.ts";
import { jsonResponse, type OperationSpec, tagged } from "../operation.ts";
import { paginationSchema } from "../resources.ts";
import { pages } from "./lists.ts";
import type { Side } from "./side.ts";
import {
  channelHistorySchema,
  channelStatsSchema,
  keyHistorySchema,
  keyStatsSchema,
  labelStatsSchema,
  memberHistorySchema,
  memberStatsSchema,
} from "./stats-resources.ts";

const { channelStats, keyHistory, keyStats, labelStats, memberStats, pagination } = examples;

const descriptions = {
  ...pages.descriptions,
  label:
    "A label's id. The response has a `label` too: how many chats have the label now, and what is counted of these chats since each of them began, also from before it got the label. The chats are read at once, so more than 10,000 are not counted. The other numbers stay the same.",
};

export function statsOperations({ isOperator, whose }: Side): readonly OperationSpec[] {
  return tagged("Statistics", [
    {
      route: "GET /stats",
      id: "readStats",
      summary: "Read statistics",
      description: `Returns the waiting messages, the unanswered chats and the delivery attempts of each of ${whose} channels, the accepted and refused requests of each key, and the chats of each member, oldest first. The request costs one call of one object, so you can call it often. A channel's numbers are about 5 seconds old, a key's about a minute; under heavy load, a channel's are about a minute old too. A crash can lose the counts of the last few seconds. A member's numbers are as old as the channels'. \`page\` and \`limit\` apply to each list, and \`pagination\` describes the longest one.`,
      query: isOperator
        ? { schema: statsQuery, descriptions: { ...descriptions, organization: "The organization's id." } }
        : { schema: ownStatsQuery, descriptions },
      responses: [
        jsonResponse(
          200,
          "The statistics of channels, keys and members.",
          z.object({
            label: z.optional(labelStatsSchema),
            channels: z.array(channelStatsSchema),
            keys: z.array(keyStatsSchema),
            members: z.array(memberStatsSchema),
            pagination: paginationSchema,
          }),
          { label: labelStats, channels: [channelStats], keys: [keyStats], members: [memberStats], pagination },
        ),
      ],
      errors: isOperator ? ["missing_field", "organization_not_found", "label_not_found"] : ["label_not_found"],
    },
    {
      route: "GET /stats/history",
      id: "readStatsHistory",
      summary: "Read statistics over time",
      description:
        "Returns the accepted and refused requests of a key, what happened in the chats of a channel, or what a member did in chats, for each of the last 48 hours or 92 days, with zeros if nothing happened. A response time runs from the first message that nobody has answered to the next message to the contact. It is not counted if the chat is marked as answered before. Hours and days are in UTC, and the last one is not over. Numbers count in the bucket in which they were reported: up to a minute after they happened, or later if the service was disturbed. The counts have the names that `GET /stats` uses.",
      query: {
        schema: historyQuery,
        descriptions: {
          of: "The id of a key, a channel or a member.",
          by: "The length of a bucket: `hour` or `day`.",
          last: "Only the newest buckets, this many: at most 48 hours or 92 days. Default: all of them. `responseTimes` beside `buckets` are of all answers in these buckets.",
        },
      },
      responses: [
        jsonResponse(
          200,
          "The numbers over time.",
          z.object({ history: z.union([keyHistorySchema, channelHistorySchema, memberHistorySchema]) }),
          { history: keyHistory },
        ),
      ],
      errors: ["missing_field", "key_not_found", "channel_not_found", "member_not_found"],
    },
  ]);
}
