import * as z from "zod/mini";
import type { JsonWithETag } from "../http/etag.ts";
import { type ListPosition, positionOf, positionParameters } from "../http/pagination.ts";
import { fault, readQuery } from "../http/validation.ts";
import type { Caller } from "../keys/key-object.ts";
import { SingleFlight } from "../platform/batched-calls.ts";
import { perIsolate } from "../platform/per-isolate.ts";
import { callChat } from "./call-chat.ts";
import type { ChatsContext } from "./context.ts";
import { PageCache } from "./page-cache.ts";
import { finishReadAhead, startReadAhead } from "./read-ahead.ts";

/** The query of `GET /chats/{id}/messages`. */
export const messagesQuery = z.object(positionParameters);

const state = perIsolate(() => ({
  calls: new SingleFlight<JsonWithETag>(),
  /** At most 16 MB of pages. */
  pages: new PageCache({ maxPages: 512, maxPageBytes: 32_768 }),
}));

/** Reads the page that a request asks for. @throws ApiError as `listMessages`; `validation_failed` for its query */
export function readMessages(c: ChatsContext, chatId: string): Promise<JsonWithETag> {
  return finishReadAhead(c, chatId, (caller) => sharedPage(c, caller, chatId));
}

export function readMessagesAhead(c: ChatsContext): void {
  const chatId = c.req.param("id") ?? "";
  startReadAhead(c, chatId, (caller) => sharedPage(c, caller, chatId));
}

/** Concurrent requests for the same page share one call. */
async function sharedPage(c: ChatsContext, caller: Caller, chatId: string): Promise<JsonWithETag> {
  const position = positionOf(readQuery(c, messagesQuery));
  const name = JSON.stringify([caller.organizationId, chatId, position]);
  return state(c.env).calls.ask(c.executionCtx, name, () => listMessages(c.env, caller, chatId, position));
}

/**
 * A page of a chat's messages. Each call asks the chat's object, which sends a cached first page only if it changed.
 * @throws ApiError `chat_not_found`; `validation_failed` if the cursor is not a message of the chat
 */
async function listMessages(env: Env, caller: Caller, chatId: string, position: ListPosition): Promise<JsonWithETag> {
  const name = "page" in position && position.page === 1 ? JSON.stringify([chatId, position.limit]) : null;
  const page = await state(env).pages.read(name, (cachedVersion) =>
    callChat(env, caller, chatId, (chat, knownIdentity) =>
      chat.list(caller.organizationId, position, knownIdentity, cachedVersion),
    ),
  );
  if (!page) throw fault("before" in position ? "before" : "after", "is no message of this chat");
  return page;
}
