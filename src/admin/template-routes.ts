import { Hono } from "hono";
import { directory } from "../db/client.ts";
import { templates } from "../db/schema.ts";
import { pageQuery } from "../http/pagination.ts";
import { noQuery, validBody, validQuery } from "../http/validation.ts";
import type { Access } from "./access.ts";
import type { AdminEnv } from "./guard.ts";
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
export function templateRoutesFor({ prefix, needs, actorOf, organizationOf, onChange }: Access): Hono<AdminEnv> {
  const [reads, writes] = [needs("templates:read"), needs("templates:write")];
  return new Hono<AdminEnv>()
    .post(`${prefix}/templates`, writes, noQuery, validBody(newTemplateBody), async (c) => {
      const template = await createTemplate(c.env, actorOf(c).scope, organizationOf(c), c.req.valid("json"));
      onChange(c, template.id);
      return c.json({ template }, 201);
    })
    .get(`${prefix}/templates`, reads, validQuery(pageQuery), async (c) => {
      const { scope } = actorOf(c);
      const page = await listOf(directory(c.env), scope, templates, organizationOf(c), c.req.valid("query"));
      return c.json({ templates: page.rows.map(presentTemplate), pagination: page.pagination });
    })
    .get("/templates/:id", reads, noQuery, async (c) => {
      return c.json({ template: await readTemplate(c.env, actorOf(c).scope, c.req.param("id")) });
    })
    .patch("/templates/:id", writes, noQuery, validBody(templatePatch), async (c) => {
      const template = await patchTemplate(c.env, actorOf(c).scope, c.req.param("id"), c.req.valid("json"));
      onChange(c, template.id);
      return c.json({ template });
    })
    .delete("/templates/:id", writes, noQuery, async (c) => {
      const template = await deleteTemplate(c.env, actorOf(c).scope, c.req.param("id"));
      onChange(c, template.id);
      return c.json({ template });
    }) as Hono<AdminEnv>;
}
