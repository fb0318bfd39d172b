import { Hono } from "hono";
import { directory } from "../db/client.ts";
import { organizations } from "../db/schema.ts";
import { pageQuery } from "../http/pagination.ts";
import { noQuery, validBody, validQuery } from "../http/validation.ts";
import { eraseOrganization } from "./erase.ts";
import { type AdminEnv, audit } from "./guard.ts";
import {
  createOrganization,
  findOrganization,
  newOrganizationBody,
  organizationPatch,
  patchOrganization,
  presentOrganization,
} from "./organizations.ts";
import { listRows } from "./rows.ts";

const page = validQuery(pageQuery);

/** Organizations, for the operator. */
export const organizationRoutes = new Hono<AdminEnv>()
  .post("/organizations", noQuery, validBody(newOrganizationBody), async (c) => {
    const created = await createOrganization(c.env, c.req.valid("json"));
    audit(c, created.organization.id);
    return c.json(created, 201);
  })
  .get("/organizations", page, async (c) => {
    const { rows, pagination } = await listRows(directory(c.env), "any", organizations, c.req.valid("query"));
    return c.json({ organizations: rows.map(presentOrganization), pagination });
  })
  .get("/organizations/:id", noQuery, async (c) => {
    return c.json({ organization: presentOrganization(await findOrganization(c.env, "any", c.req.param("id"))) });
  })
  .patch("/organizations/:id", noQuery, validBody(organizationPatch), async (c) => {
    const organization = await patchOrganization(c.env, c.req.param("id"), c.req.valid("json"));
    audit(c, organization.id);
    return c.json({ organization });
  })
  .delete("/organizations/:id", noQuery, async (c) => {
    const id = c.req.param("id");
    const organization = await eraseOrganization(c.env, id, () => audit(c, id));
    return c.json({ organization });
  });
