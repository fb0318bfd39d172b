import { Hono } from "hono";
import { directory } from "../db/client.ts";
import { members } from "../db/schema.ts";
import { pageQuery } from "../http/pagination.ts";
import { noQuery, validBody, validQuery } from "../http/validation.ts";
import type { Access } from "./access.ts";
import type { AdminEnv } from "./guard.ts";
import { createMember, deleteMember, memberPatch, newMemberBody, patchMember, presentMember } from "./members.ts";
import { listOf } from "./rows.ts";
import { createSignInLink, endSessions } from "./sign-in-link.ts";

/** Members. */
export function memberRoutesFor({ prefix, needs, actorOf, organizationOf, onChange }: Access): Hono<AdminEnv> {
  const [reads, writes] = [needs("members:read"), needs("members:write")];
  return new Hono<AdminEnv>()
    .post(`${prefix}/members`, writes, noQuery, validBody(newMemberBody), async (c) => {
      const member = await createMember(c.env, actorOf(c), organizationOf(c), c.req.valid("json"));
      onChange(c, member.id);
      return c.json({ member }, 201);
    })
    .get(`${prefix}/members`, reads, validQuery(pageQuery), async (c) => {
      const { scope } = actorOf(c);
      const page = await listOf(directory(c.env), scope, members, organizationOf(c), c.req.valid("query"));
      return c.json({ members: page.rows.map(presentMember), pagination: page.pagination });
    })
    .patch("/members/:id", writes, noQuery, validBody(memberPatch), async (c) => {
      const member = await patchMember(c.env, actorOf(c), c.req.param("id"), c.req.valid("json"));
      onChange(c, member.id);
      return c.json({ member });
    })
    .post("/members/:id/sign-in-link", writes, noQuery, async (c) => {
      const id = c.req.param("id");
      const link = await createSignInLink(c.env, actorOf(c), id, new URL(c.req.url).origin);
      onChange(c, id);
      return c.json(link, 201);
    })
    .delete("/members/:id/sessions", writes, noQuery, async (c) => {
      const member = await endSessions(c.env, actorOf(c), c.req.param("id"));
      onChange(c, member.id);
      return c.json({ member: presentMember(member) });
    })
    .delete("/members/:id", writes, noQuery, async (c) => {
      const member = await deleteMember(c.env, actorOf(c).scope, c.req.param("id"));
      onChange(c, member.id);
      return c.json({ member });
    }) as Hono<AdminEnv>;
}
