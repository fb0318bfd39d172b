import { Hono } from "hono/quick";
import { afterQuery } from "../http/pagination.ts";
import { validQuery } from "../http/validation.ts";
import type { Access } from "../keys/access.ts";
import type { AdminEnv } from "../keys/operator-guard.ts";
import { createReply, deleteReply, listReplies, newReplyBody, patchReply, replyPatch } from "./replies.ts";

export function replyRoutesFor({ prefix, needs, acts, actorOf, organizationOf }: Access): Hono<AdminEnv> {
  return new Hono<AdminEnv>()
    .get(`${prefix}/replies`, needs("messages:send"), validQuery(afterQuery), async (c) => {
      return c.json(await listReplies(c.env, actorOf(c).scope, organizationOf(c), c.req.valid("query")));
    })
    .post(`${prefix}/replies`, acts("reply.create", { body: newReplyBody }), async (c) => {
      return c.json({ reply: await createReply(c.env, actorOf(c), c.var.act, c.req.valid("json")) }, 201);
    })
    .patch("/replies/:id", acts("reply.update", { body: replyPatch }), async (c) => {
      const reply = await patchReply(c.env, actorOf(c).scope, c.req.param("id"), c.req.valid("json"));
      return c.json({ reply });
    })
    .delete("/replies/:id", acts("reply.delete"), async (c) => {
      return c.json({ reply: await deleteReply(c.env, actorOf(c).scope, c.req.param("id")) });
    }) as Hono<AdminEnv>;
}
