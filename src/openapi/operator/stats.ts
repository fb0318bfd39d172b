import * as z from "zod";
import { statsQuery } from "../../admin/stats.ts";
import * as schemas from "../answers.ts";
import * as examples from "../examples.ts";
import { answered, type Operation } from "../operation.ts";
import { pages } from "./lists.ts";

const { channelStats, keyStats, pagination } = examples;

/** What an operator watches. */
export const statsOperations: readonly Operation[] = [
  {
    method: "get",
    path: "/stats",
    id: "readStats",
    tag: "Stats",
    summary: "Watch channels and keys",
    description:
      "What waits and what became of it for each channel, what was admitted and refused for each key, oldest first. It reads rows of the directory alone, so it may be asked often. Those of a channel are some 10 seconds old at most, those of a key about a minute; a crash of an object may cost what it had counted in the last seconds. `page` and `limit` count for both lists, and `pagination` is that of the longer one.",
    query: {
      schema: statsQuery,
      descriptions: { ...pages.descriptions, organization: "The channels and keys of this organization alone." },
    },
    answers: [
      answered(
        200,
        "The numbers.",
        z.object({
          channels: z.array(schemas.channelStats),
          keys: z.array(schemas.keyStats),
          pagination: schemas.pagination,
        }),
        { channels: [channelStats], keys: [keyStats], pagination },
      ),
    ],
    errors: ["organization_not_found"],
  },
];
