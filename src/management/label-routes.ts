import { Hono } from "hono/quick";
import { noQuery } from "../http/validation.ts";
import type { Access } from "../keys/access.ts";
import type { AdminEnv } from "../keys/operator-guard.ts";
import { createLabel, deleteLabel, labelPatch, listLabels, newLabelBody, patchLabel } from "./labels.ts";

/** The labels of chats. They are in the organization's object, so the operator names the organization with each. */
export function labelRoutesFor({ prefix, needs, acts, actorOf, organizationOf }: Access): Hono<AdminEnv> {
  return new Hono<AdminEnv>()
    .get(`${prefix}/labels`, needs("chats:read"), noQuery, async (c) => {
      return c.json({ labels: await listLabels(c.env, actorOf(c).scope, organizationOf(c)) });
    })
    .post(`${prefix}/labels`, acts("label.create", { body: newLabelBody }), async (c) => {
      return c.json({ label: await createLabel(c.env, actorOf(c).scope, c.var.act, c.req.valid("json")) }, 201);
    })
    .patch(`${prefix}/labels/:labelId`, acts("label.update", { body: labelPatch }), async (c) => {
      const { scope } = actorOf(c);
      const label = await patchLabel(c.env, scope, c.var.act, c.req.param("labelId"), c.req.valid("json"));
      return c.json({ label });
    })
    .delete(`${prefix}/labels/:labelId`, acts("label.delete"), async (c) => {
      const { scope } = actorOf(c);
      return c.json({ label: await deleteLabel(c.env, scope, c.var.act, c.req.param("labelId")) });
    }) as Hono<AdminEnv>;
}
