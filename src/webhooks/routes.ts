import { Hono } from "hono/quick";
import { ownHosts } from "../http/hosts.ts";
import { afterQuery } from "../http/pagination.ts";
import { noQuery, validQuery } from "../http/validation.ts";
import type { Access } from "../keys/access.ts";
import type { ManagementContext } from "../keys/audited.ts";
import type { AdminEnv } from "../keys/operator-guard.ts";
import {
  attemptsQuery,
  enableBody,
  newWebhookBody,
  pingBody,
  replayBody,
  replayRequest,
  skipBody,
  webhookPatch,
  webhookRotation,
} from "./fields.ts";
import {
  disableWebhook,
  enableWebhook,
  listAttempts,
  readReplay,
  readSubscription,
  retryEvent,
  retryWebhook,
  sendPing,
  skipEvent,
  startReplay,
} from "./webhook-actions.ts";
import { findWebhook, type WebhookScope } from "./webhook-rows.ts";
import {
  createWebhook,
  deleteWebhook,
  describeWebhook,
  listWebhooks,
  patchWebhook,
  rotateWebhook,
} from "./webhooks.ts";

export function webhookRoutesFor(access: Access): Hono<AdminEnv> {
  const { prefix, needs, acts, actorOf, organizationOf } = access;
  const reads = needs("webhooks:read");
  const list = `${prefix}/webhooks` as const;
  const scopeOf = (c: ManagementContext): WebhookScope => {
    const actor = actorOf(c);
    return { scope: actor.scope, actor, ownHosts: ownHosts(c.env, c.req.url) };
  };
  return new Hono<AdminEnv>()
    .post(list, acts("webhook.create", { body: newWebhookBody }), async (c) => {
      return c.json(await createWebhook(c.env, scopeOf(c), c.var.act, c.req.valid("json")), 201);
    })
    .get(list, reads, validQuery(afterQuery), async (c) => {
      return c.json(await listWebhooks(c.env, scopeOf(c), organizationOf(c), c.req.valid("query")));
    })
    .get("/webhooks/:id", reads, noQuery, async (c) => {
      const webhook = await findWebhook(c.env, scopeOf(c), c.req.param("id"));
      return c.json({ webhook: await describeWebhook(c.env, webhook) });
    })
    .patch("/webhooks/:id", acts("webhook.update", { body: webhookPatch }), async (c) => {
      const webhook = await patchWebhook(c.env, scopeOf(c), c.req.param("id"), c.req.valid("json"));
      return c.json({ webhook });
    })
    .delete("/webhooks/:id", acts("webhook.delete"), async (c) => {
      return c.json({ webhook: await deleteWebhook(c.env, scopeOf(c), c.req.param("id")) });
    })
    .post("/webhooks/:id/rotate", acts("webhook.rotate", { body: webhookRotation, mayBeEmpty: true }), async (c) => {
      const { overlapSeconds } = c.req.valid("json");
      return c.json(await rotateWebhook(c.env, scopeOf(c), c.req.param("id"), overlapSeconds), 201);
    })
    .post("/webhooks/:id/ping", acts("webhook.ping", { body: pingBody, mayBeEmpty: true }), async (c) => {
      return c.json({ attempt: await sendPing(c.env, scopeOf(c), c.req.param("id"), c.req.valid("json").type) });
    })
    .post("/webhooks/:id/enable", acts("webhook.enable", { body: enableBody, mayBeEmpty: true }), async (c) => {
      const webhook = await enableWebhook(c.env, scopeOf(c), c.req.param("id"), c.req.valid("json"));
      return c.json({ webhook });
    })
    .post("/webhooks/:id/disable", acts("webhook.disable"), async (c) => {
      const webhook = await disableWebhook(c.env, scopeOf(c), c.var.act, c.req.param("id"));
      return c.json({ webhook });
    })
    .post("/webhooks/:id/retry", acts("webhook.retry"), async (c) => {
      return c.json({ webhook: await retryWebhook(c.env, scopeOf(c), c.req.param("id")) });
    })
    .get("/webhooks/:id/attempts", reads, validQuery(attemptsQuery), async (c) => {
      return c.json(await listAttempts(c.env, scopeOf(c), c.req.param("id"), c.req.valid("query")));
    })
    .get("/webhooks/:id/chats/:chatId", reads, noQuery, async (c) => {
      return c.json(await readSubscription(c.env, scopeOf(c), c.req.param("id"), c.req.param("chatId")));
    })
    .post("/webhooks/:id/chats/:chatId/skip", acts("webhook.skip", { body: skipBody }), async (c) => {
      const { id, chatId } = c.req.param();
      return c.json(await skipEvent(c.env, scopeOf(c), id, chatId, c.req.valid("json").eventId));
    })
    .post("/webhooks/:id/chats/:chatId/retry", acts("webhook.retry"), async (c) => {
      return c.json(await retryEvent(c.env, scopeOf(c), c.req.param("id"), c.req.param("chatId")));
    })
    .post("/webhooks/:id/replays", acts("webhook.replay", { body: replayBody }), async (c) => {
      const replay = await startReplay(c.env, scopeOf(c), c.req.param("id"), replayRequest(c.req.valid("json")));
      return c.json({ replay }, 202);
    })
    .get("/webhooks/:id/replays/:replayId", reads, noQuery, async (c) => {
      return c.json({ replay: await readReplay(c.env, scopeOf(c), c.req.param("id"), c.req.param("replayId")) });
    }) as Hono<AdminEnv>;
}
