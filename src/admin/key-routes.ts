import { Hono } from "hono";
import { directory } from "../db/client.ts";
import { apiKeys } from "../db/schema.ts";
import { pageQuery } from "../http/pagination.ts";
import { noQuery, validBody, validQuery } from "../http/validation.ts";
import { presentKey } from "../keys/key-record.ts";
import { type AdminEnv, audit } from "./guard.ts";
import { createKey, keyPatch, newKeyBody, patchKey, readKey, readUsage, revokeKey, rotateKey } from "./keys.ts";
import { overlapBody } from "./overlap.ts";
import { listOf } from "./rows.ts";

/** API keys. */
export const keyRoutes = new Hono<AdminEnv>()
  .post("/organizations/:id/keys", noQuery, validBody(newKeyBody), async (c) => {
    const created = await createKey(c.env, c.req.param("id"), c.req.valid("json"));
    audit(c, created.key.id);
    return c.json(created, 201);
  })
  .get("/organizations/:id/keys", validQuery(pageQuery), async (c) => {
    const { rows, pagination } = await listOf(directory(c.env), apiKeys, c.req.param("id"), c.req.valid("query"));
    return c.json({ keys: rows.map((row) => presentKey(row, Date.now())), pagination });
  })
  .get("/keys/:id", noQuery, async (c) => {
    return c.json({ key: await readKey(c.env, c.req.param("id")) });
  })
  .patch("/keys/:id", noQuery, validBody(keyPatch), async (c) => {
    const key = await patchKey(c.env, c.req.param("id"), c.req.valid("json"));
    audit(c, key.id);
    return c.json({ key });
  })
  .delete("/keys/:id", noQuery, async (c) => {
    const key = await revokeKey(c.env, c.req.param("id"));
    audit(c, key.id);
    return c.json({ key });
  })
  .post("/keys/:id/rotate", noQuery, validBody(overlapBody, { mayBeEmpty: true }), async (c) => {
    const rotated = await rotateKey(c.env, c.req.param("id"), c.req.valid("json"));
    audit(c, rotated.key.id);
    return c.json(rotated, 201);
  })
  .get("/keys/:id/usage", noQuery, async (c) => {
    return c.json({ usage: await readUsage(c.env, c.req.param("id")) });
  });
