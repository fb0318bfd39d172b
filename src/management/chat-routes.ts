import { Hono } from "hono/quick";
import { callChat } from "../calls/call-chat.ts";
import { ownerOf } from "../calls/chat-owner.ts";
import { createChat, newChatBody } from "../chats/create-chat.ts";
import { readChat } from "../chats/get-chat.ts";
import { chatsQuery, listChats } from "../chats/list-chats.ts";
import { directory } from "../db/client.ts";
import { json } from "../http/etag.ts";
import { noQuery, validQuery } from "../http/validation.ts";
import { type Access, operatorAccess } from "../keys/access.ts";
import { auditedSearch, type ManagementContext } from "../keys/audited.ts";
import type { AdminEnv } from "../keys/operator-guard.ts";
import { ApiError, unavailable } from "../model/error.ts";
import { PERMISSIONS } from "../model/permission.ts";
import { type Reader, shownChat, shownMessage } from "../model/withheld.ts";
import { chatOwnerOf, eraseChat } from "./erase.ts";
import { activeOrganization, findOrganization } from "./organizations.ts";

const searchOfChats = auditedSearch(operatorAccess, "chat.search", chatsQuery);

/** Chats of any organization, for the operator. */
export const operatorChatRoutes = new Hono<AdminEnv>()
  .post("/organizations/:id/chats", operatorAccess.acts("chat.create", { body: newChatBody }), async (c) => {
    const { id, region } = await activeOrganization(directory(c.env), "any", c.req.param("id"));
    const { chat, created } = await createChat(c.env, { organizationId: id, region }, c.req.valid("json"));
    c.var.act.target = chat.id;
    return c.json({ chat }, created ? 201 : 200);
  })
  .get("/organizations/:id/chats", validQuery(chatsQuery), searchOfChats, async (c) => {
    const { id, region } = await findOrganization(c.env, "any", c.req.param("id"));
    return json(c, (await listChats(c.env, { organizationId: id, region }, c.req.valid("query"), true)).body);
  })
  .get("/chats/:id", noQuery, async (c) => {
    const id = c.req.param("id");
    return c.json(await readChat(c.env, await ownerOf(c.env, id), id));
  });

/** Deletes chats, and redacts messages. */
export function chatErasureRoutesFor({ acts, actorOf, isAllowed }: Access): Hono<AdminEnv> {
  const readerOf = (c: ManagementContext): Reader => ({ permissions: PERMISSIONS.filter((one) => isAllowed(c, one)) });
  return new Hono<AdminEnv>()
    .delete("/chats/:id", acts("chat.delete"), async (c) => {
      const chat = await eraseChat(c.env, actorOf(c).scope, c.req.param("id"));
      return c.json({ chat: shownChat(readerOf(c), chat) });
    })
    .post("/chats/:id/messages/:messageId/redact", acts("message.redact"), async (c) => {
      const { id, messageId } = c.req.param();
      const owner = await chatOwnerOf(c.env, actorOf(c).scope, id);
      const answer = await callChat(c.env, owner, id, (chat, as) => chat.redact(as, messageId, c.var.requestId));
      if (answer.outcome === "no_message") throw new ApiError("message_not_found");
      if (answer.outcome === "not_reported") {
        throw unavailable("The message is redacted, and the list of chats may still show it");
      }
      return json(c, `{"message":${shownMessage(readerOf(c), answer.doc)}}`);
    }) as Hono<AdminEnv>;
}
