import { Hono } from "hono/quick";
import { directory } from "../db/client.ts";
import { listOf } from "../db/rows.ts";
import { members } from "../db/schema.ts";
import { consoleOrigin } from "../http/hosts.ts";
import { pageQuery } from "../http/pagination.ts";
import { validQuery } from "../http/validation.ts";
import type { Access } from "../keys/access.ts";
import type { AdminEnv } from "../keys/operator-guard.ts";
import { createMember, deleteMember, memberPatch, newMemberBody, patchMember, presentMember } from "./members.ts";
import { createSignInLink, endSessions } from "./sign-in-link.ts";

export function memberRoutesFor({ prefix, needs, acts, actorOf, organizationOf }: Access): Hono<AdminEnv> {
  const reads = needs("members:read");
  return new Hono<AdminEnv>()
    .post(`${prefix}/members`, acts("member.create", { body: newMemberBody }), async (c) => {
      return c.json({ member: await createMember(c.env, actorOf(c), c.var.act, c.req.valid("json")) }, 201);
    })
    .get(`${prefix}/members`, reads, validQuery(pageQuery), async (c) => {
      const page = await listOf(directory(c.env), actorOf(c).scope, members, organizationOf(c), c.req.valid("query"));
      return c.json({ members: page.rows.map(presentMember), pagination: page.pagination });
    })
    .patch("/members/:id", acts("member.update", { body: memberPatch }), async (c) => {
      return c.json(await patchMember(c.env, actorOf(c), c.req.param("id"), c.req.valid("json")));
    })
    .post("/members/:id/sign-in-link", acts("member.sign_in_link"), async (c) => {
      const origin = consoleOrigin(c.env, c.req.url);
      return c.json(await createSignInLink(c.env, actorOf(c), c.req.param("id"), origin), 201);
    })
    .delete("/members/:id/sessions", acts("member.end_sessions"), async (c) => {
      return c.json({ member: presentMember(await endSessions(c.env, actorOf(c), c.var.act, c.req.param("id"))) });
    })
    .delete("/members/:id", acts("member.delete"), async (c) => {
      return c.json(await deleteMember(c.env, actorOf(c), c.var.act, c.req.param("id")));
    }) as Hono<AdminEnv>;
}
