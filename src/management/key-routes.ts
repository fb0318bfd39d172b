import { Hono } from "hono/quick";
import { directory } from "../db/client.ts";
import { listOf } from "../db/rows.ts";
import { apiKeys } from "../db/schema.ts";
import { pageQuery } from "../http/pagination.ts";
import { noQuery, validQuery } from "../http/validation.ts";
import type { Access } from "../keys/access.ts";
import type { AdminEnv } from "../keys/operator-guard.ts";
import { presentKey } from "../model/key.ts";
import { rotateKey } from "./key-rotation.ts";
import { keyPatch, newKeyBody } from "./key-settings.ts";
import { createKey, patchKey, readKey, readUsage, revokeKey } from "./keys.ts";
import { overlapBody } from "./overlap.ts";

export function keyRoutesFor({ prefix, needs, acts, actorOf, organizationOf }: Access): Hono<AdminEnv> {
  const reads = needs("keys:read");
  return new Hono<AdminEnv>()
    .post(`${prefix}/keys`, acts("key.create", { body: newKeyBody }), async (c) => {
      return c.json(await createKey(c.env, actorOf(c), c.var.act, c.req.valid("json")), 201);
    })
    .get(`${prefix}/keys`, reads, validQuery(pageQuery), async (c) => {
      const page = await listOf(directory(c.env), actorOf(c).scope, apiKeys, organizationOf(c), c.req.valid("query"));
      return c.json({ keys: page.rows.map((row) => presentKey(row, Date.now())), pagination: page.pagination });
    })
    .get("/keys/:id", reads, noQuery, async (c) => {
      return c.json({ key: await readKey(c.env, actorOf(c).scope, c.req.param("id")) });
    })
    .patch("/keys/:id", acts("key.update", { body: keyPatch }), async (c) => {
      return c.json(await patchKey(c.env, actorOf(c), c.req.param("id"), c.req.valid("json")));
    })
    .delete("/keys/:id", acts("key.revoke"), async (c) => {
      return c.json(await revokeKey(c.env, actorOf(c), c.var.act, c.req.param("id")));
    })
    .post("/keys/:id/rotate", acts("key.rotate", { body: overlapBody, mayBeEmpty: true }), async (c) => {
      return c.json(await rotateKey(c.env, actorOf(c), c.req.param("id"), c.req.valid("json")), 201);
    })
    .get("/keys/:id/usage", reads, noQuery, async (c) => {
      return c.json({ usage: await readUsage(c.env, actorOf(c).scope, c.req.param("id")) });
    }) as Hono<AdminEnv>;
}
