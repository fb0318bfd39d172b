import { Hono } from "hono";
import { callChat } from "../chats/call-chat.ts";
import { createChat, newChatBody } from "../chats/create-chat.ts";
import { findOwner } from "../chats/directory.ts";
import { readChat } from "../chats/get-chat.ts";
import { chatsQuery, listChatsBy } from "../chats/list-chats.ts";
import { directory } from "../db/client.ts";
import { ApiError } from "../http/errors.ts";
import { noQuery, validBody, validQuery } from "../http/validation.ts";
import { eraseChat } from "./erase.ts";
import { type AdminEnv, audit } from "./guard.ts";
import { activeOrganization, organizationOf } from "./organizations.ts";

/** Chats of any organization. */
export const operatorChatRoutes = new Hono<AdminEnv>()
  .post("/organizations/:id/chats", noQuery, validBody(newChatBody), async (c) => {
    const { id } = await activeOrganization(directory(c.env), c.req.param("id"));
    const { chat, created } = await createChat(c.env, id, c.req.valid("json"));
    audit(c, chat.id);
    return c.json({ chat }, created ? 201 : 200);
  })
  .get("/organizations/:id/chats", validQuery(chatsQuery), async (c) => {
    const { id } = await organizationOf(c.env, c.req.param("id"));
    return c.json(await listChatsBy(c.env, id, c.req.valid("query")));
  })
  .get("/chats/:id", noQuery, async (c) => {
    const id = c.req.param("id");
    return c.json(await readChat(c.env, await ownerOf(c.env, id), id));
  })
  .delete("/chats/:id", noQuery, async (c) => {
    const id = c.req.param("id");
    const chat = await eraseChat(c.env, id, () => audit(c, id));
    return c.json({ chat });
  })
  .post("/chats/:id/messages/:messageId/redact", noQuery, async (c) => {
    const id = c.req.param("id");
    const owner = await ownerOf(c.env, id);
    const answer = await callChat(c.env, owner, id, (chat, adoption) =>
      chat.redact(owner.organizationId, c.req.param("messageId"), adoption, c.var.requestId),
    );
    if (answer.outcome === "no_message") throw new ApiError("message_not_found");
    audit(c, c.req.param("messageId"));
    return c.json({ message: JSON.parse(answer.doc) });
  });

async function ownerOf(env: Env, chatId: string) {
  const owner = await findOwner(directory(env), chatId);
  if (!owner) throw new ApiError("chat_not_found");
  return owner;
}
