import { Hono } from "hono/quick";
import type { ChatsEnv } from "../chats/context.ts";
import { json } from "../http/etag.ts";
import { validQuery } from "../http/validation.ts";
import { keyAccess } from "../keys/access.ts";
import { auditedSearch } from "../keys/audited.ts";
import { requirePermission } from "../keys/guard.ts";
import { searchMessages, searchQuery } from "./search-messages.ts";

const audited = auditedSearch(keyAccess, "message.search", searchQuery);

/** The search over all messages of an organization. */
export const searchRoutes = new Hono<ChatsEnv>().get(
  "/messages",
  requirePermission("search:read"),
  audited,
  validQuery(searchQuery),
  async (c) => json(c, await searchMessages(c.env, c.var.caller, c.req.valid("query"))),
);
