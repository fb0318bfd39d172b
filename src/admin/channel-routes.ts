import { type Context, Hono } from "hono";
import { directory } from "../db/client.ts";
import { channels } from "../db/schema.ts";
import { pageQuery } from "../http/pagination.ts";
import { noQuery, validBody, validQuery } from "../http/validation.ts";
import { callOrganization } from "../organizations/call-organization.ts";
import {
  channelPatch,
  createChannel,
  newChannelBody,
  patchChannel,
  presentChannel,
  readChannel,
  rotateIdentitySecret,
} from "./channels.ts";
import { eraseChannel } from "./erase.ts";
import { type AdminEnv, audit } from "./guard.ts";
import { overlapBody } from "./overlap.ts";
import { registerChannel } from "./register-webhook.ts";
import { resealAll } from "./reseal.ts";
import { listOf } from "./rows.ts";

/** Channels and their secrets. */
export const channelRoutes = new Hono<AdminEnv>()
  .post("/organizations/:id/channels", noQuery, validBody(newChannelBody), async (c) => {
    const created = await createChannel(c.env, originOf(c), c.req.param("id"), c.req.valid("json"));
    audit(c, created.channel.id);
    return c.json(created, 201);
  })
  .get("/organizations/:id/channels", validQuery(pageQuery), async (c) => {
    const id = c.req.param("id");
    const { rows, pagination } = await listOf(directory(c.env), channels, id, c.req.valid("query"));
    const ids = rows.map((row) => row.id);
    const numbers = await callOrganization(c.env, id, (organization) => organization.numbers(ids, []));
    const health = new Map(numbers.channels.map((channel) => [channel.id, channel.health]));
    return c.json({
      channels: await Promise.all(
        rows.map((row) => presentChannel(c.env, originOf(c), row, health.get(row.id) ?? null)),
      ),
      pagination,
    });
  })
  .get("/channels/:id", noQuery, async (c) => {
    return c.json({ channel: await readChannel(c.env, originOf(c), c.req.param("id")) });
  })
  .patch("/channels/:id", noQuery, validBody(channelPatch), async (c) => {
    const channel = await patchChannel(c.env, originOf(c), c.req.param("id"), c.req.valid("json"));
    audit(c, channel.id);
    return c.json({ channel });
  })
  .delete("/channels/:id", noQuery, async (c) => {
    const id = c.req.param("id");
    const channel = await eraseChannel(c.env, originOf(c), id, () => audit(c, id));
    return c.json({ channel });
  })
  .post("/channels/:id/webhook", noQuery, async (c) => {
    const registered = await registerChannel(c.env, originOf(c), c.req.param("id"));
    audit(c, c.req.param("id"));
    return c.json(registered);
  })
  .post("/channels/:id/identity-secret", noQuery, validBody(overlapBody, { mayBeEmpty: true }), async (c) => {
    const created = await rotateIdentitySecret(c.env, c.req.param("id"), c.req.valid("json"));
    audit(c, c.req.param("id"));
    return c.json(created, 201);
  })
  .post("/reseal", noQuery, async (c) => {
    // Logged first: a reseal that fails has also changed channels.
    audit(c, null);
    return c.json(await resealAll(c.env));
  });

/** The origin of webhook URLs: the one that the operator called. */
function originOf(c: Context<AdminEnv>): string {
  return new URL(c.req.url).origin;
}
