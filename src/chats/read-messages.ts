import * as z from "zod/mini";
import { BoundedMap } from "../bounded-map.ts";
import { type TaggedJson, tagged } from "../http/json.ts";
import { type Place, placeOf, placeParameters } from "../http/pagination.ts";
import { fault, readQuery } from "../http/validation.ts";
import { JoinedCalls } from "../joined-calls.ts";
import { keptPerEnv } from "../kept.ts";
import type { Caller } from "../keys/key-object.ts";
import { callChat } from "./access.ts";
import type { ChatsContext } from "./context.ts";

/** The query of `GET /chats/{id}/messages`. */
export const messagesQuery = z.object(placeParameters);

/** A first page that this isolate has, and the chat's own name of the state that it shows. */
type HeldPage = TaggedJson & { version: string };

const MAX_HELD_BYTES = 32_768;

const kept = keptPerEnv(() => ({
  calls: new JoinedCalls<null, TaggedJson>(),
  /** At most 16 MB of pages. */
  pages: new BoundedMap<string, HeldPage>(512),
  /** Which keys have read which chats here, and for whom: such a pair's next page is begun while the key is asked. */
  readers: new BoundedMap<string, Caller>(10_000),
}));

/** The page that a request asks for. @throws ApiError as `listMessages`, and for a query that names no place */
export async function readMessages(c: ChatsContext, chatId: string): Promise<TaggedJson> {
  const caller = c.get("caller");
  const page = await (c.get("page") ?? joinedPage(c, caller, chatId));
  kept(c.env).readers.set(`${c.get("key").hash} ${chatId}`, caller);
  return page;
}

/** Begins the page of a key that has read this chat here: one hop beside the other, not after it. */
export function beginMessages(c: ChatsContext): void {
  const chatId = c.req.param("id") ?? "";
  const caller = kept(c.env).readers.get(`${c.get("key").hash} ${chatId}`);
  if (!caller) return;
  const page = joinedPage(c, caller, chatId);
  // Its failure is the request's own, and is met where the page is awaited; a key that is refused never gets there.
  page.catch(() => {});
  c.set("page", page);
}

/** Requests for the same page that wait at the same time share one call. */
async function joinedPage(c: ChatsContext, caller: Caller, chatId: string): Promise<TaggedJson> {
  const place = placeOf(readQuery(c, messagesQuery));
  const name = `${caller.organizationId} ${chatId} ${JSON.stringify(place)}`;
  return kept(c.env).calls.ask(c.executionCtx, name, null, async (all) => {
    const page = await listMessages(c.env, caller, chatId, place);
    return all.map(() => page);
  });
}

/**
 * A page of a chat's messages. The chat is asked each time; a first page that this isolate has is not sent again.
 * @throws ApiError `chat_not_found`; `validation_failed` for a cursor that is no message of the chat
 */
async function listMessages(env: Env, caller: Caller, chatId: string, place: Place): Promise<TaggedJson> {
  const { pages } = kept(env);
  const name = "page" in place && place.page === 1 ? `${chatId} ${place.limit}` : null;
  const held = name === null ? undefined : pages.get(name);
  const answer = await callChat(env, caller, chatId, (chat, adoption) =>
    chat.list(caller.organizationId, place, adoption, held?.version),
  );
  if (answer.outcome === "unchanged" && held) return held;
  if (answer.outcome !== "ok") throw fault("before" in place ? "before" : "after", "is no message of this chat");
  const page = await tagged(answer.body);
  const { version } = answer;
  if (name !== null && page.body.byteLength <= MAX_HELD_BYTES) pages.set(name, { ...page, version });
  return page;
}
