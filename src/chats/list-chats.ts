import * as z from "zod/mini";
import { CHANNEL_KINDS } from "../channels/kinds.ts";
import { directory } from "../db/client.ts";
import { type JsonWithETag, withETag } from "../http/etag.ts";
import { queryText } from "../http/fields.ts";
import { positionOf, positionParameters } from "../http/pagination.ts";
import { fault, readQuery } from "../http/validation.ts";
import { isId } from "../ids.ts";
import type { Caller } from "../keys/key-object.ts";
import { SingleFlight } from "../platform/batched-calls.ts";
import { perIsolate } from "../platform/per-isolate.ts";
import type { ChatsContext } from "./context.ts";
import { listChats } from "./directory.ts";
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

const calls = perIsolate(() => new SingleFlight<JsonWithETag>());

/** Reads the list that a request asks for. @throws ApiError as `listChatsBy`; `validation_failed` for its query */
export function readChats(c: ChatsContext): Promise<JsonWithETag> {
  return finishReadAhead(c, "chats", (caller) => sharedList(c, caller));
}

export function readChatsAhead(c: ChatsContext): void {
  startReadAhead(c, "chats", (caller) => sharedList(c, caller));
}

/** Concurrent requests for the same list share one round trip. */
async function sharedList(c: ChatsContext, { organizationId }: Caller): Promise<JsonWithETag> {
  const query = readQuery(c, chatsQuery);
  return calls(c.env).ask(c.executionCtx, JSON.stringify([organizationId, query]), async () =>
    withETag(JSON.stringify(await listChatsBy(c.env, organizationId, query))),
  );
}

/**
 * An organization's chats, latest activity first.
 * @throws ApiError `validation_failed` for `after`, which this order does not support; and for a page past 10,000 chats,
 *   because the cost of a page grows with its number, while `before` costs the same everywhere
 */
export async function listChatsBy(env: Env, organizationId: string, query: z.output<typeof chatsQuery>) {
  const { page, limit, before, after, channel, contact } = query;
  if (after !== undefined) throw fault("after", "is no place in a list of chats; walk with before, or read page 1");
  const position = positionOf({ page, limit, before });
  if ("page" in position && (position.page - 1) * position.limit >= MAX_OFFSET) {
    throw fault("page", `begins past ${MAX_OFFSET} chats; walk with before, the id of the last chat that you have`);
  }
  return listChats(directory(env), organizationId, { channel, contact }, position);
}
