import * as z from "zod/mini";
import { positionParameters } from "../http/pagination.ts";
import { TYPING } from "../model/event.ts";
import { type FeedFilter, TYPE_PATTERNS } from "../model/event-filter.ts";
import { queryInteger, queryText } from "../model/field.ts";
import { isId } from "../model/id.ts";
import { MAX_CURSOR } from "./cursor.ts";

/** How long a poll may wait, in seconds. */
export const MAX_WAIT = 30;

const after = queryText(MAX_CURSOR);
const wait = z._default(z.optional(queryInteger(0, MAX_WAIT)), 0);
const { limit } = positionParameters;

/** No list has `chat.typing`. A client that follows a stream gives the list the same filter. */
const areTypes = (text: string) => text.split(",").every((type) => type === TYPING || TYPE_PATTERNS.includes(type));

const filter = {
  types: z.optional(z.string().check(z.refine(areTypes, "must be types of events, separated by commas"))),
  channel: z.optional(z.string().check(z.refine((text) => isId("chn", text), "must be a channel's id"))),
};

export interface FilterQuery {
  types?: string | undefined;
  channel?: string | undefined;
  /** Only this chat's events, by its id. */
  chat?: string | undefined;
}

export function filterOf({ types, channel, chat }: FilterQuery): FeedFilter {
  return { types: types?.split(",") ?? null, channels: channel === undefined ? null : [channel], chat };
}

/** The query of `GET /events`. */
export const eventsQuery = z.object({
  after,
  from: z.optional(z.enum(["oldest", "now"])),
  limit,
  wait,
  ...filter,
});

/** The query of `GET /events/stream`. */
export const streamQuery = z.object({ after, ...filter });

/** The query of `GET /chats/{id}/events`. `after` is the number of an event. */
export const chatEventsQuery = z.object({
  after: z._default(z.optional(queryInteger(0, 999_999_999_999_999)), 0),
  limit,
  wait,
});
