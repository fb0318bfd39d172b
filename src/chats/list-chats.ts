import * as z from "zod/mini";
import { CHANNEL_KINDS } from "../channels/kinds.ts";
import type { Region } from "../db/schema.ts";
import type { JsonWithETag } from "../http/etag.ts";
import { queryText } from "../http/fields.ts";
import { positionOf, positionParameters } from "../http/pagination.ts";
import { fault, readQuery } from "../http/validation.ts";
import { isId } from "../ids.ts";
import type { Caller } from "../keys/key-object.ts";
import { callOrganization } from "../organizations/call-organization.ts";
import { SingleFlight } from "../platform/batched-calls.ts";
import { perIsolate } from "../platform/per-isolate.ts";
import type { ChatsContext } from "./context.ts";
import { PageCache } from "./page-cache.ts";
import { finishReadAhead, startReadAhead } from "./read-ahead.ts";

export const MAX_OFFSET = 10_000;

const isChannel = (text: string) => CHANNEL_KINDS.some((kind) => kind === text) || isId("chn", text);

const channelFilter = z
  .string()
  .check(z.refine((text) => text !== "", { error: "must not be empty", abort: true }))
  .check(z.refine(isChannel, "must be a channel's id or kind"));

/** The query of `GET /chats`. */
export const chatsQuery = z.object({
  ...positionParameters,
  channel: z.optional(channelFilter),
  contact: z.optional(queryText(256)),
});

type Owner = { organizationId: string; region?: Region | null };

const state = perIsolate(() => ({
  calls: new SingleFlight<JsonWithETag>(),
  /** At most 16 MB of pages. */
  pages: new PageCache({ maxPages: 256, maxPageBytes: 65_536 }),
}));

/** Reads the list that a request asks for. @throws ApiError as `listChats`; `validation_failed` for its query */
export function readChats(c: ChatsContext): Promise<JsonWithETag> {
  return finishReadAhead(c, "chats", (caller) => sharedList(c, caller));
}

export function readChatsAhead(c: ChatsContext): void {
  startReadAhead(c, "chats", (caller) => sharedList(c, caller));
}

/** Concurrent requests for the same list share one call. */
async function sharedList(c: ChatsContext, caller: Caller): Promise<JsonWithETag> {
  const query = readQuery(c, chatsQuery);
  const name = JSON.stringify([caller.organizationId, query]);
  return state(c.env).calls.ask(c.executionCtx, name, () => listChats(c.env, caller, query));
}

/**
 * An organization's chats, latest activity first, in one call of its object, which sends a cached first page only if
 * something changed.
 * @throws ApiError `validation_failed` for `after`, which this order does not support; for a page past 10,000 chats,
 *   because the cost of a page grows with its number, while `before` costs the same everywhere; and for a cursor that
 *   is not a chat of the organization
 */
export async function listChats(
  env: Env,
  { organizationId, region }: Owner,
  query: z.output<typeof chatsQuery>,
): Promise<JsonWithETag> {
  const { page, limit, before, after, channel, contact } = query;
  if (after !== undefined) throw fault("after", "is no place in a list of chats; walk with before, or read page 1");
  const position = positionOf({ page, limit, before });
  if ("page" in position && (position.page - 1) * position.limit >= MAX_OFFSET) {
    throw fault("page", `begins past ${MAX_OFFSET} chats; walk with before, the id of the last chat that you have`);
  }
  const isFirst = "page" in position && position.page === 1 && contact === undefined;
  const name = isFirst ? JSON.stringify([organizationId, limit, channel ?? null]) : null;
  const list = await state(env).pages.read(name, (cachedVersion) =>
    callOrganization(
      env,
      organizationId,
      (organization) => organization.list({ channel, contact }, position, cachedVersion),
      region,
    ),
  );
  if (!list) throw fault("before", "is no chat of this organization");
  return list;
}
