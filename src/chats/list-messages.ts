import * as z from "zod/mini";
import { SingleFlight } from "../calls/batched-calls.ts";
import { callChat } from "../calls/call-chat.ts";
import { type JsonWithETag, withETag } from "../http/etag.ts";
import { positionOf, positionParameters } from "../http/pagination.ts";
import { fault, readQuery } from "../http/validation.ts";
import type { Caller } from "../model/caller.ts";
import type { MessageFilter } from "../model/chat-answers.ts";
import { MESSAGE_TYPES } from "../model/content.ts";
import type { ListPosition } from "../model/list-page.ts";
import { DIRECTIONS, MESSAGE_STATUSES } from "../model/message.ts";
import { searchText } from "../model/search-text.ts";
import { fromText } from "../platform/answer-text.ts";
import { perIsolate } from "../platform/per-isolate.ts";
import type { ChatsContext } from "./context.ts";
import { PageCache } from "./page-cache.ts";
import { finishReadAhead, startReadAhead } from "./read-ahead.ts";
import { withinBudget } from "./search-budget.ts";

const FILTERS = ["status", "direction", "type", "search"];
/** A scheduled message has no place in the chat, so it is in no list of the chat's messages. */
const listedStatus = z.enum(
  MESSAGE_STATUSES.filter((status) => status !== "SCHEDULED"),
  { error: ({ input }) => (input === "SCHEDULED" ? "can't be SCHEDULED; read /chats/{id}/scheduled" : undefined) },
);

/** The query of `GET /chats/{id}/messages`. */
export const messagesQuery = z.object({
  ...positionParameters,
  status: z.optional(listedStatus),
  direction: z.optional(z.enum(DIRECTIONS)),
  type: z.optional(z.enum(MESSAGE_TYPES)),
  search: z.optional(searchText),
});

const state = perIsolate(() => ({
  calls: new SingleFlight<JsonWithETag>(),
  pages: new PageCache({ maxBytes: 16_777_216, maxPageBytes: 32_768 }),
}));

/** Reads the page that a request asks for. @throws ApiError as `listMessages`; `validation_failed` for its query */
export function readMessages(c: ChatsContext, chatId: string): Promise<JsonWithETag> {
  return finishReadAhead(c, chatId, (caller) => sharedPage(c, caller, chatId));
}

export function readMessagesAhead(c: ChatsContext): void {
  // A filter spends the caller's budget, and the key may be over its limit.
  if (FILTERS.some((name) => c.req.query(name) !== undefined)) return;
  const chatId = c.req.param("id") ?? "";
  startReadAhead(c, chatId, (caller) => sharedPage(c, caller, chatId));
}

/** Concurrent requests for the same page share one call. */
async function sharedPage(c: ChatsContext, caller: Caller, chatId: string): Promise<JsonWithETag> {
  const { status, direction, type, search, ...query } = readQuery(c, messagesQuery);
  const { calls } = state(c.env);
  if ([status, direction, type, search].every((value) => value === undefined)) {
    const position = positionOf(query);
    const name = JSON.stringify([caller.organizationId, chatId, position]);
    return calls.ask(c.executionCtx, name, () => listMessages(c.env, caller, chatId, position));
  }
  const other = query.page === undefined ? query.after && "after" : "page";
  if (other)
    throw fault(other, "can't be given with a filter; to continue, pass before with the previous page's cursor");
  const filter = { status, direction, type, search };
  const position = { before: query.before ?? null, limit: query.limit };
  const name = JSON.stringify([caller.organizationId, chatId, filter, position]);
  return calls.ask(c.executionCtx, name, () => listMatching(c.env, caller, chatId, filter, position));
}

/**
 * A page of those messages that a filter selects. It is not cached.
 * @throws ApiError as `listMessages`; `rate_limited` if the caller's searches examined too much text
 */
async function listMatching(
  env: Env,
  caller: Caller,
  chatId: string,
  filter: MessageFilter,
  position: { before: string | null; limit: number },
): Promise<JsonWithETag> {
  const answer = await withinBudget(env, caller, () =>
    callChat(env, caller, chatId, (chat, as) => chat.listMatching(as, filter, position)),
  );
  if (answer.outcome !== "ok") throw fault("before", "is not a message in this chat");
  return withETag(answer.body);
}

/**
 * A page of a chat's messages. Each call asks the chat's object, which sends a cached first page only if it changed.
 * @throws ApiError `chat_not_found`; `validation_failed` if the cursor is not a message of the chat
 */
async function listMessages(env: Env, caller: Caller, chatId: string, position: ListPosition): Promise<JsonWithETag> {
  const name = "page" in position && position.page === 1 ? JSON.stringify([chatId, position.limit]) : null;
  const page = await state(env).pages.read(name, async (cachedVersion) =>
    fromText(await callChat(env, caller, chatId, (chat, as) => chat.list(as, position, cachedVersion))),
  );
  if (!page) throw fault("before" in position ? "before" : "after", "is not a message in this chat");
  return page;
}
