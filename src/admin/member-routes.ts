import { Hono } from "hono";
import { directory } from "../db/client.ts";
import { members } from "../db/schema.ts";
import { pageQuery } from "../http/pagination.ts";
import { noQuery, validBody, validQuery } from "../http/validation.ts";
import type { Access } from "./access.ts";
import type { AdminEnv } from "./guard.ts";
import { createMember, deleteMember, newMemberBody, presentMember } from "./organizations.ts";
import { listOf } from "./rows.ts";

/** Members. */
export function memberRoutesFor({ prefix, needs, actorOf, organizationOf, onChange }: Access): Hono<AdminEnv> {
  const [reads, writes] = [needs("members:read"), needs("members:write")];
  return new Hono<AdminEnv>()
    .post(`${prefix}/members`, writes, noQuery, validBody(newMemberBody), async (c) => {
      const member = await createMember(c.env, actorOf(c).scope, organizationOf(c), c.req.valid("json"));
      onChange(c, member.id);
      return c.json({ member }, 201);
    })
    .get(`${prefix}/members`, reads, validQuery(pageQuery), async (c) => {
      const { scope } = actorOf(c);
      const page = await listOf(directory(c.env), scope, members, organizationOf(c), c.req.valid("query"));
      return c.json({ members: page.rows.map(presentMember), pagination: page.pagination });
    })
    .delete("/members/:id", writes, noQuery, async (c) => {
      const member = await deleteMember(c.env, actorOf(c).scope, c.req.param("id"));
      onChange(c, member.id);
      return c.json({ member });
    }) as Hono<AdminEnv>;
}
