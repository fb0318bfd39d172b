import { eq } from "drizzle-orm";
import { Hono } from "hono/quick";
import * as z from "zod/mini";
import { directory } from "../db/client.ts";
import { listRows } from "../db/rows.ts";
import { organizations } from "../db/schema.ts";
import { pageQuery } from "../http/pagination.ts";
import { noQuery, validQuery } from "../http/validation.ts";
import { operatorAccess } from "../keys/access.ts";
import type { AdminEnv } from "../keys/operator-guard.ts";
import { onlyTrue } from "../model/field.ts";
import { eraseOrganization } from "./erase.ts";
import {
  createOrganization,
  findOrganization,
  newOrganizationBody,
  organizationPatch,
  patchOrganization,
  presentOrganization,
} from "./organizations.ts";
import { withSearch } from "./search-setting.ts";

const { acts } = operatorAccess;
/** The query of `GET /organizations`. */
export const organizationsQuery = z.extend(pageQuery, { temporary: z.optional(onlyTrue) });

export const organizationRoutes = new Hono<AdminEnv>()
  .post("/organizations", acts("organization.create", { body: newOrganizationBody }), async (c) => {
    return c.json(await createOrganization(c.env, c.var.act, c.req.valid("json")), 201);
  })
  .get("/organizations", validQuery(organizationsQuery), async (c) => {
    const { temporary, ...page } = c.req.valid("query");
    const filter = temporary && eq(organizations.temporary, true);
    const { rows, pagination } = await listRows(directory(c.env), "any", organizations, page, filter);
    return c.json({ organizations: rows.map(presentOrganization), pagination });
  })
  .get("/organizations/:id", noQuery, async (c) => {
    const organization = await findOrganization(c.env, "any", c.req.param("id"));
    return c.json({ organization: await withSearch(c.env, presentOrganization(organization)) });
  })
  .patch("/organizations/:id", acts("organization.update", { body: organizationPatch }), async (c) => {
    return c.json({ organization: await patchOrganization(c.env, "any", c.req.param("id"), c.req.valid("json")) });
  })
  .delete("/organizations/:id", acts("organization.delete"), async (c) => {
    return c.json({ organization: await eraseOrganization(c.env, c.req.param("id")) });
  });
