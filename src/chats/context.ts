import type { Context } from "hono";
import type { JsonWithETag } from "../http/etag.ts";
import type { RequestVariables } from "../http/request-log.ts";
import type { KeyVariables } from "../keys/guard.ts";
import type { Permission } from "../model/permission.ts";

/** A read that started before the key was checked. Its result is used only if the key is accepted. */
interface ReadAheadVariables {
  readAhead?: { answer: Promise<JsonWithETag>; permissions: readonly Permission[] };
}

export type ChatsEnv = { Bindings: Env; Variables: RequestVariables & KeyVariables & ReadAheadVariables };
export type ChatsContext = Context<ChatsEnv>;
