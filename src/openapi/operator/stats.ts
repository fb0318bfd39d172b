import * as z from "zod";
import { statsQuery } from "../../admin/stats.ts";
import { examples } from "../examples.ts";
import { jsonResponse, type OperationSpec } from "../operation.ts";
import { paginationSchema } from "../resources.ts";
import { pages } from "./lists.ts";
import { channelStatsSchema, keyStatsSchema } from "./resources.ts";
import type { Side } from "./side.ts";

const { channelStats, keyStats, pagination } = examples;

/** The statistics. */
export function statsOperations({ isOperator, needs, whose }: Side): readonly OperationSpec[] {
  return [
    {
      method: "get",
      path: "/stats",
      id: "readStats",
      tag: "Statistics",
      ...needs("stats:read"),
      summary: "Read statistics",
      description: `Returns the waiting messages and the delivery attempts of each of ${whose} channels, and the accepted and refused requests of each key, oldest first. The request costs one call of one object, so you can call it often. A channel's numbers are about 5 seconds old, a key's about a minute; under heavy load, a channel's are about a minute old too. A crash can lose the counts of the last few seconds. \`page\` and \`limit\` apply to both lists, and \`pagination\` describes the longer one.`,
      query: isOperator
        ? { schema: statsQuery, descriptions: { ...pages.descriptions, organization: "The organization's id." } }
        : pages,
      responses: [
        jsonResponse(
          200,
          "The statistics of channels and keys.",
          z.object({
            channels: z.array(channelStatsSchema),
            keys: z.array(keyStatsSchema),
            pagination: paginationSchema,
          }),
          { channels: [channelStats], keys: [keyStats], pagination },
        ),
      ],
      errors: isOperator ? ["missing_field", "organization_not_found"] : [],
    },
  ];
}
