import { Hono } from "hono";
import { callChat } from "../chats/call-chat.ts";
import { createChat, newChatBody } from "../chats/create-chat.ts";
import { readChat } from "../chats/get-chat.ts";
import { chatsQuery, listChats } from "../chats/list-chats.ts";
import { ownerOf } from "../chats/owner.ts";
import { directory } from "../db/client.ts";
import { ApiError, unavailable } from "../http/errors.ts";
import { json } from "../http/etag.ts";
import { noQuery, validBody, validQuery } from "../http/validation.ts";
import type { Access } from "./access.ts";
import { chatOwnerOf, eraseChat } from "./erase.ts";
import { type AdminEnv, audit } from "./guard.ts";
import { activeOrganization, findOrganization } from "./organizations.ts";

/** Chats of any organization, for the operator. */
export const operatorChatRoutes = new Hono<AdminEnv>()
  .post("/organizations/:id/chats", noQuery, validBody(newChatBody), async (c) => {
    const { id, region } = await activeOrganization(directory(c.env), "any", c.req.param("id"));
    const { chat, created } = await createChat(c.env, { organizationId: id, region }, c.req.valid("json"));
    audit(c, chat.id);
    return c.json({ chat }, created ? 201 : 200);
  })
  .get("/organizations/:id/chats", validQuery(chatsQuery), async (c) => {
    const { id, region } = await findOrganization(c.env, "any", c.req.param("id"));
    return json(c, (await listChats(c.env, { organizationId: id, region }, c.req.valid("query"), true)).body);
  })
  .get("/chats/:id", noQuery, async (c) => {
    const id = c.req.param("id");
    return c.json(await readChat(c.env, await ownerOf(c.env, id), id));
  });

/** What erases chats and messages. */
export function chatErasureRoutesFor({ needs, actorOf, isAllowed, onChange }: Access): Hono<AdminEnv> {
  const erases = needs("chats:erase");
  return new Hono<AdminEnv>()
    .delete("/chats/:id", erases, noQuery, async (c) => {
      const id = c.req.param("id");
      const chat = await eraseChat(c.env, actorOf(c).scope, id);
      onChange(c, id);
      return c.json({ chat: isAllowed(c, "messages:read") ? chat : { ...chat, lastMessage: null } });
    })
    .post("/chats/:id/messages/:messageId/redact", erases, noQuery, async (c) => {
      const { id, messageId } = c.req.param();
      const owner = await chatOwnerOf(c.env, actorOf(c).scope, id);
      const answer = await callChat(c.env, owner, id, (chat, adoption) =>
        chat.redact(owner.organizationId, messageId, adoption, c.var.requestId),
      );
      if (answer.outcome === "no_message") throw new ApiError("message_not_found");
      if (answer.outcome === "not_reported") {
        throw unavailable("The message is redacted, and the list of chats may still show it");
      }
      onChange(c, messageId);
      return c.json({ message: JSON.parse(answer.doc) });
    }) as Hono<AdminEnv>;
}
