import type { Context } from "hono";
import type { TaggedJson } from "../http/etag.ts";
import type { RequestVariables } from "../http/request-log.ts";
import type { KeyVariables } from "../keys/guard.ts";

/** What was begun for a request before its key was admitted; nothing of it leaves unless the key is. */
interface BegunVariables {
  begun?: Promise<TaggedJson>;
}

/** The context of the routes of chats. */
export type ChatsEnv = { Bindings: Env; Variables: RequestVariables & KeyVariables & BegunVariables };
export type ChatsContext = Context<ChatsEnv>;
