import { type Context, Hono } from "hono";
import { directory } from "../db/client.ts";
import { channels } from "../db/schema.ts";
import { ApiError } from "../http/errors.ts";
import { pageQuery } from "../http/pagination.ts";
import { noQuery, validBody, validQuery } from "../http/validation.ts";
import { callOrganization } from "../organizations/call-organization.ts";
import type { Access } from "./access.ts";
import { checkChannel } from "./channel-checks.ts";
import {
  type ChannelView,
  channelPatch,
  createChannel,
  newChannelBody,
  patchChannel,
  presentChannel,
  readChannel,
  rotateIdentitySecret,
} from "./channels.ts";
import { eraseChannel } from "./erase.ts";
import type { AdminEnv } from "./guard.ts";
import { overlapBody } from "./overlap.ts";
import { registerChannel } from "./register-webhook.ts";
import { checkRetention } from "./retention.ts";
import { listOf } from "./rows.ts";
import type { Actor } from "./scope.ts";

/** Channels and their secrets. */
export function channelRoutesFor(access: Access): Hono<AdminEnv> {
  const { prefix, needs, actorOf, organizationOf, isAllowed, onChange } = access;
  const [reads, writes] = [needs("channels:read"), needs("channels:write")];
  const viewOf = (c: Context<AdminEnv>): ChannelView => ({
    scope: actorOf(c).scope,
    origin: new URL(c.req.url).origin,
    hasTokens: isAllowed(c, "channels:write"),
  });
  return new Hono<AdminEnv>()
    .post(`${prefix}/channels`, writes, noQuery, validBody(newChannelBody), async (c) => {
      const body = c.req.valid("json");
      checkLimits(actorOf(c), body.limits ?? undefined);
      checkRetention(actorOf(c), isAllowed(c, "chats:erase"), body.retentionDays ?? undefined);
      const created = await createChannel(c.env, viewOf(c), organizationOf(c), body);
      onChange(c, created.channel.id);
      return c.json(created, 201);
    })
    .get(`${prefix}/channels`, reads, validQuery(pageQuery), async (c) => {
      const [view, id] = [viewOf(c), organizationOf(c)];
      const { rows, pagination } = await listOf(directory(c.env), view.scope, channels, id, c.req.valid("query"));
      const ids = rows.map((row) => row.id);
      const numbers = await callOrganization(c.env, id, (organization) => organization.numbers(ids, []));
      const health = new Map(numbers.channels.map((channel) => [channel.id, channel.health]));
      return c.json({
        channels: await Promise.all(rows.map((row) => presentChannel(c.env, view, row, health.get(row.id) ?? null))),
        pagination,
      });
    })
    .get("/channels/:id", reads, noQuery, async (c) => {
      return c.json({ channel: await readChannel(c.env, viewOf(c), c.req.param("id")) });
    })
    .patch("/channels/:id", writes, noQuery, validBody(channelPatch), async (c) => {
      const patch = c.req.valid("json");
      checkLimits(actorOf(c), patch.limits);
      checkRetention(actorOf(c), isAllowed(c, "chats:erase"), patch.retentionDays);
      const channel = await patchChannel(c.env, viewOf(c), c.req.param("id"), patch);
      onChange(c, channel.id);
      return c.json({ channel });
    })
    .delete("/channels/:id", needs("channels:delete"), noQuery, async (c) => {
      const id = c.req.param("id");
      const channel = await eraseChannel(c.env, viewOf(c), id, () => onChange(c, id));
      return c.json({ channel });
    })
    .post("/channels/:id/webhook", writes, noQuery, async (c) => {
      const registered = await registerChannel(c.env, viewOf(c), c.req.param("id"));
      onChange(c, c.req.param("id"));
      return c.json(registered);
    })
    .post("/channels/:id/check", writes, noQuery, async (c) => {
      const checks = await checkChannel(c.env, viewOf(c), c.req.param("id"));
      onChange(c, c.req.param("id"));
      return c.json({ checks });
    })
    .post(
      "/channels/:id/identity-secret",
      needs("channels:identity"),
      noQuery,
      validBody(overlapBody, { mayBeEmpty: true }),
      async (c) => {
        const { scope } = actorOf(c);
        const created = await rotateIdentitySecret(c.env, scope, c.req.param("id"), c.req.valid("json"));
        onChange(c, c.req.param("id"));
        return c.json(created, 201);
      },
    ) as Hono<AdminEnv>;
}

/** The limits of a channel are the operator's. Null would remove them. @throws ApiError `permission_denied` */
function checkLimits({ type }: Actor, limits: object | null | undefined): void {
  if (type === "operator" || limits === undefined) return;
  throw new ApiError("permission_denied", { text: "Only the operator can set limits" });
}
