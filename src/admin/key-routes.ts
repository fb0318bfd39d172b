import { Hono } from "hono";
import { directory } from "../db/client.ts";
import { apiKeys } from "../db/schema.ts";
import { pageQuery } from "../http/pagination.ts";
import { noQuery, validBody, validQuery } from "../http/validation.ts";
import { presentKey } from "../keys/key-record.ts";
import type { Access } from "./access.ts";
import type { AdminEnv } from "./guard.ts";
import { createKey, keyPatch, newKeyBody, patchKey, readKey, readUsage, revokeKey, rotateKey } from "./keys.ts";
import { overlapBody } from "./overlap.ts";
import { listOf } from "./rows.ts";

/** API keys. */
export function keyRoutesFor({ prefix, needs, actorOf, organizationOf, onChange }: Access): Hono<AdminEnv> {
  const [reads, writes] = [needs("keys:read"), needs("keys:write")];
  return new Hono<AdminEnv>()
    .post(`${prefix}/keys`, writes, noQuery, validBody(newKeyBody), async (c) => {
      const created = await createKey(c.env, actorOf(c), organizationOf(c), c.req.valid("json"));
      onChange(c, created.key.id);
      return c.json(created, 201);
    })
    .get(`${prefix}/keys`, reads, validQuery(pageQuery), async (c) => {
      const { scope } = actorOf(c);
      const page = await listOf(directory(c.env), scope, apiKeys, organizationOf(c), c.req.valid("query"));
      return c.json({ keys: page.rows.map((row) => presentKey(row, Date.now())), pagination: page.pagination });
    })
    .get("/keys/:id", reads, noQuery, async (c) => {
      return c.json({ key: await readKey(c.env, actorOf(c).scope, c.req.param("id")) });
    })
    .patch("/keys/:id", writes, noQuery, validBody(keyPatch), async (c) => {
      const key = await patchKey(c.env, actorOf(c), c.req.param("id"), c.req.valid("json"));
      onChange(c, key.id);
      return c.json({ key });
    })
    .delete("/keys/:id", writes, noQuery, async (c) => {
      const key = await revokeKey(c.env, actorOf(c), c.req.param("id"));
      onChange(c, key.id);
      return c.json({ key });
    })
    .post("/keys/:id/rotate", writes, noQuery, validBody(overlapBody, { mayBeEmpty: true }), async (c) => {
      const rotated = await rotateKey(c.env, actorOf(c), c.req.param("id"), c.req.valid("json"));
      onChange(c, rotated.key.id);
      return c.json(rotated, 201);
    })
    .get("/keys/:id/usage", reads, noQuery, async (c) => {
      return c.json({ usage: await readUsage(c.env, actorOf(c).scope, c.req.param("id")) });
    }) as Hono<AdminEnv>;
}
