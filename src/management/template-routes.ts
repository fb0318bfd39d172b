import { Hono } from "hono/quick";
import { directory } from "../db/client.ts";
import { listOf } from "../db/rows.ts";
import { templates } from "../db/schema.ts";
import { pageQuery } from "../http/pagination.ts";
import { noQuery, validQuery } from "../http/validation.ts";
import type { Access } from "../keys/access.ts";
import type { AdminEnv } from "../keys/operator-guard.ts";
import {
  createTemplate,
  deleteTemplate,
  newTemplateBody,
  patchTemplate,
  presentTemplate,
  readTemplate,
  syncOf,
  templatePatch,
} from "./templates.ts";

export function templateRoutesFor({ prefix, needs, acts, actorOf, organizationOf }: Access): Hono<AdminEnv> {
  const reads = needs("templates:read");
  return new Hono<AdminEnv>()
    .post(`${prefix}/templates`, acts("template.create", { body: newTemplateBody }), async (c) => {
      return c.json({ template: await createTemplate(c.env, actorOf(c).scope, c.var.act, c.req.valid("json")) }, 201);
    })
    .get(`${prefix}/templates`, reads, validQuery(pageQuery), async (c) => {
      const page = await listOf(directory(c.env), actorOf(c).scope, templates, organizationOf(c), c.req.valid("query"));
      return c.json({ templates: page.rows.map(presentTemplate), pagination: page.pagination });
    })
    .get("/templates/:id", reads, noQuery, async (c) => {
      return c.json({ template: await readTemplate(c.env, actorOf(c).scope, c.req.param("id")) });
    })
    .patch("/templates/:id", acts("template.update", { body: templatePatch }), async (c) => {
      const template = await patchTemplate(c.env, actorOf(c).scope, c.req.param("id"), c.req.valid("json"));
      return c.json({ template });
    })
    .post("/channels/:id/templates/sync", acts("template.sync"), async (c) => {
      return c.json(await syncOf(c.env, actorOf(c).scope, c.req.param("id")));
    })
    .delete("/templates/:id", acts("template.delete"), async (c) => {
      return c.json({ template: await deleteTemplate(c.env, actorOf(c).scope, c.req.param("id")) });
    }) as Hono<AdminEnv>;
}
