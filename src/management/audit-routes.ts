import { Hono } from "hono/quick";
import { validQuery } from "../http/validation.ts";
import type { Access } from "../keys/access.ts";
import type { AdminEnv } from "../keys/operator-guard.ts";
import { auditQuery, listEntries } from "./audit-entries.ts";
import { findOrganization } from "./organizations.ts";

export function auditRoutesFor({ prefix, needs, actorOf, organizationOf }: Access): Hono<AdminEnv> {
  return new Hono<AdminEnv>().get(`${prefix}/audit`, needs("audit:read"), validQuery(auditQuery), async (c) => {
    const { scope } = actorOf(c);
    const id = organizationOf(c);
    if (scope === "any") await findOrganization(c.env, scope, id);
    return c.json(await listEntries(c.env, id, c.req.valid("query")));
  }) as Hono<AdminEnv>;
}
