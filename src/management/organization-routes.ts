import { Hono } from "hono";
import { directory } from "../db/client.ts";
import { listRows } from "../db/rows.ts";
import { organizations } from "../db/schema.ts";
import { pageQuery } from "../http/pagination.ts";
import { noQuery, validQuery } from "../http/validation.ts";
import { operatorAccess } from "../keys/access.ts";
import type { AdminEnv } from "../keys/operator-guard.ts";
import { eraseOrganization } from "./erase.ts";
import {
  createOrganization,
  findOrganization,
  newOrganizationBody,
  organizationPatch,
  patchOrganization,
  presentOrganization,
} from "./organizations.ts";

const { acts } = operatorAccess;
const page = validQuery(pageQuery);

export const organizationRoutes = new Hono<AdminEnv>()
  .post("/organizations", acts("organization.create", { body: newOrganizationBody }), async (c) => {
    return c.json(await createOrganization(c.env, c.var.act, c.req.valid("json")), 201);
  })
  .get("/organizations", page, async (c) => {
    const { rows, pagination } = await listRows(directory(c.env), "any", organizations, c.req.valid("query"));
    return c.json({ organizations: rows.map(presentOrganization), pagination });
  })
  .get("/organizations/:id", noQuery, async (c) => {
    return c.json({ organization: presentOrganization(await findOrganization(c.env, "any", c.req.param("id"))) });
  })
  .patch("/organizations/:id", acts("organization.update", { body: organizationPatch }), async (c) => {
    return c.json({ organization: await patchOrganization(c.env, "any", c.req.param("id"), c.req.valid("json")) });
  })
  .delete("/organizations/:id", acts("organization.delete"), async (c) => {
    return c.json({ organization: await eraseOrganization(c.env, c.req.param("id")) });
  });
