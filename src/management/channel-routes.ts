import type { Context } from "hono";
import { Hono } from "hono/quick";
import type * as z from "zod/mini";
import { callOrganization } from "../calls/call-organization.ts";
import { KINDS } from "../channels/kinds.ts";
import { directory } from "../db/client.ts";
import { listOf } from "../db/rows.ts";
import { channels } from "../db/schema.ts";
import { publicOrigin } from "../http/hosts.ts";
import { pageQuery } from "../http/pagination.ts";
import { noQuery, validQuery, warnWithin } from "../http/validation.ts";
import type { Access } from "../keys/access.ts";
import type { ManagementContext } from "../keys/audited.ts";
import type { AdminEnv } from "../keys/operator-guard.ts";
import type { Actor } from "../model/caller.ts";
import type { ChannelKind } from "../model/channel-kind.ts";
import { ApiError } from "../model/error.ts";
import { neededPermissions } from "../model/permission.ts";
import { checkChannel } from "./channel-checks.ts";
import {
  channelPatch,
  createChannel,
  newChannelBody,
  patchChannel,
  readChannel,
  rotateIdentitySecret,
} from "./channels.ts";
import { eraseChannel } from "./erase.ts";
import { overlapBody } from "./overlap.ts";
import { type ChannelView, presentChannel } from "./present-channel.ts";
import { registerChannel } from "./register-webhook.ts";
import { checkRetention } from "./retention.ts";

export function channelRoutesFor(access: Access): Hono<AdminEnv> {
  const { prefix, needs, acts, actorOf, organizationOf, isAllowed, isBound } = access;
  const reads = needs("channels:read");
  // Secrets of a channel outlast a key, and let their owner pose as a contact.
  const canKnowSecrets = (c: ManagementContext): boolean =>
    neededPermissions("channels:identity").every((permission) => isAllowed(c, permission)) && !isBound(c);
  const viewOf = (c: ManagementContext): ChannelView => ({
    scope: actorOf(c).scope,
    actor: actorOf(c),
    origin: publicOrigin(c.env, c.req.url),
    hasTokens: canKnowSecrets(c),
  });
  return new Hono<AdminEnv>()
    .post(`${prefix}/channels`, acts("channel.create", { body: newChannelBody }), async (c) => {
      const body = c.req.valid("json");
      checkLimits(actorOf(c), body.limits ?? undefined);
      checkRetention(actorOf(c), isAllowed(c, "chats:erase"), body.retentionDays ?? undefined);
      const { identitySecret, ...created } = await createChannel(c.env, viewOf(c), c.var.act, body);
      warnOfKind(c, body.kind, body);
      return c.json({ ...created, ...(identitySecret && canKnowSecrets(c) && { identitySecret }) }, 201);
    })
    .get(`${prefix}/channels`, reads, validQuery(pageQuery), async (c) => {
      const [view, id] = [viewOf(c), organizationOf(c)];
      const { rows, pagination } = await listOf(directory(c.env), view.scope, channels, id, c.req.valid("query"));
      const ids = rows.map((row) => row.id);
      const numbers = await callOrganization(c.env, id, (organization) => organization.numbers(ids, []));
      const known = new Map(numbers.channels.map((channel) => [channel.id, channel]));
      return c.json({
        channels: await Promise.all(rows.map((row) => presentChannel(c.env, view, row, known.get(row.id)))),
        pagination,
      });
    })
    .get("/channels/:id", reads, noQuery, async (c) => {
      return c.json({ channel: await readChannel(c.env, viewOf(c), c.req.param("id")) });
    })
    .patch("/channels/:id", acts("channel.update", { body: channelPatch }), async (c) => {
      const patch = c.req.valid("json");
      checkLimits(actorOf(c), patch.limits);
      checkRetention(actorOf(c), isAllowed(c, "chats:erase"), patch.retentionDays);
      const channel = await patchChannel(c.env, viewOf(c), c.req.param("id"), patch);
      warnOfKind(c, channel.kind, patch);
      return c.json({ channel });
    })
    .delete("/channels/:id", acts("channel.delete"), async (c) => {
      return c.json({ channel: await eraseChannel(c.env, viewOf(c), c.req.param("id")) });
    })
    .post("/channels/:id/webhook", acts("channel.register"), async (c) => {
      return c.json(await registerChannel(c.env, viewOf(c), c.req.param("id")));
    })
    .post("/channels/:id/check", acts("channel.check"), async (c) => {
      const checks = await checkChannel(c.env, viewOf(c), c.req.param("id"));
      return c.json({ checks });
    })
    .post(
      "/channels/:id/identity-secret",
      acts("channel.rotate", { body: overlapBody, mayBeEmpty: true }),
      async (c) => {
        return c.json(await rotateIdentitySecret(c.env, actorOf(c), c.req.param("id"), c.req.valid("json")), 201);
      },
    ) as Hono<AdminEnv>;
}

type KindBody = Pick<z.output<typeof newChannelBody>, "credentials" | "settings">;

/** Warns about the fields of a body that its kind of channel does not have. */
function warnOfKind(c: Context, kind: ChannelKind, { credentials, settings }: KindBody): void {
  warnWithin(c, KINDS[kind].credentials, "credentials", credentials);
  warnWithin(c, KINDS[kind].settings, "settings", settings);
}

/** The limits of a channel are the operator's. Null would remove them. @throws ApiError `permission_denied` */
function checkLimits({ type }: Actor, limits: object | null | undefined): void {
  if (type === "operator" || limits === undefined) return;
  throw new ApiError("permission_denied", {
    text: "Only the operator can set limits. Leave them out, or ask the operator",
  });
}
