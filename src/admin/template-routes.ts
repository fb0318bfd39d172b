import { Hono } from "hono";
import { directory } from "../db/client.ts";
import { templates } from "../db/schema.ts";
import { pageQuery } from "../http/pagination.ts";
import { noQuery, validBody, validQuery } from "../http/validation.ts";
import { type AdminEnv, audit } from "./guard.ts";
import { listOf } from "./rows.ts";
import {
  createTemplate,
  deleteTemplate,
  newTemplateBody,
  patchTemplate,
  presentTemplate,
  readTemplate,
  templatePatch,
} from "./templates.ts";

/** Templates. */
export const templateRoutes = new Hono<AdminEnv>()
  .post("/organizations/:id/templates", noQuery, validBody(newTemplateBody), async (c) => {
    const template = await createTemplate(c.env, c.req.param("id"), c.req.valid("json"));
    audit(c, template.id);
    return c.json({ template }, 201);
  })
  .get("/organizations/:id/templates", validQuery(pageQuery), async (c) => {
    const { rows, pagination } = await listOf(directory(c.env), templates, c.req.param("id"), c.req.valid("query"));
    return c.json({ templates: rows.map(presentTemplate), pagination });
  })
  .get("/templates/:id", noQuery, async (c) => {
    return c.json({ template: await readTemplate(c.env, c.req.param("id")) });
  })
  .patch("/templates/:id", noQuery, validBody(templatePatch), async (c) => {
    const template = await patchTemplate(c.env, c.req.param("id"), c.req.valid("json"));
    audit(c, template.id);
    return c.json({ template });
  })
  .delete("/templates/:id", noQuery, async (c) => {
    const template = await deleteTemplate(c.env, c.req.param("id"));
    audit(c, template.id);
    return c.json({ template });
  });
