import { type Context, Hono } from "hono";
import type { Access } from "../admin/access.ts";
import type { AdminEnv } from "../admin/guard.ts";
import { noQuery, validBody, validQuery } from "../http/validation.ts";
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
  webhooksQuery,
} from "./fields.ts";
import {
  disableWebhook,
  enableWebhook,
  listAttempts,
  readLine,
  readReplay,
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

/** The webhooks of an organization. */
export function webhookRoutesFor(access: Access): Hono<AdminEnv> {
  const { prefix, needs, actorOf, organizationOf, onChange } = access;
  const [reads, writes] = [needs("webhooks:read"), needs("webhooks:write")];
  const list = `${prefix}/webhooks` as const;
  const scopeOf = (c: Context<AdminEnv>): WebhookScope => {
    const { scope, id } = actorOf(c);
    return { scope, actor: id, ownHost: new URL(c.req.url).host };
  };
  return new Hono<AdminEnv>()
    .post(list, writes, noQuery, validBody(newWebhookBody), async (c) => {
      const created = await createWebhook(c.env, scopeOf(c), organizationOf(c), c.req.valid("json"));
      onChange(c, created.webhook.id);
      return c.json(created, 201);
    })
    .get(list, reads, validQuery(webhooksQuery), async (c) => {
      return c.json(await listWebhooks(c.env, scopeOf(c), organizationOf(c), c.req.valid("query")));
    })
    .get("/webhooks/:id", reads, noQuery, async (c) => {
      const webhook = await findWebhook(c.env, scopeOf(c), c.req.param("id"));
      return c.json({ webhook: await describeWebhook(c.env, webhook) });
    })
    .patch("/webhooks/:id", writes, noQuery, validBody(webhookPatch), async (c) => {
      const webhook = await patchWebhook(c.env, scopeOf(c), c.req.param("id"), c.req.valid("json"));
      onChange(c, webhook.id);
      return c.json({ webhook });
    })
    .delete("/webhooks/:id", writes, noQuery, async (c) => {
      const id = c.req.param("id");
      const webhook = await deleteWebhook(c.env, scopeOf(c), id, () => onChange(c, id));
      return c.json({ webhook });
    })
    .post("/webhooks/:id/rotate", writes, noQuery, validBody(webhookRotation, { mayBeEmpty: true }), async (c) => {
      const { overlapSeconds } = c.req.valid("json");
      const rotated = await rotateWebhook(c.env, scopeOf(c), c.req.param("id"), overlapSeconds);
      onChange(c, rotated.webhook.id);
      return c.json(rotated, 201);
    })
    .post("/webhooks/:id/ping", writes, noQuery, validBody(pingBody, { mayBeEmpty: true }), async (c) => {
      const id = c.req.param("id");
      const attempt = await sendPing(c.env, scopeOf(c), id, c.req.valid("json").type);
      onChange(c, id);
      return c.json({ attempt });
    })
    .post("/webhooks/:id/enable", writes, noQuery, validBody(enableBody, { mayBeEmpty: true }), async (c) => {
      const webhook = await enableWebhook(c.env, scopeOf(c), c.req.param("id"), c.req.valid("json"));
      onChange(c, webhook.id);
      return c.json({ webhook });
    })
    .post("/webhooks/:id/disable", writes, noQuery, async (c) => {
      const webhook = await disableWebhook(c.env, scopeOf(c), c.req.param("id"));
      onChange(c, webhook.id);
      return c.json({ webhook });
    })
    .get("/webhooks/:id/attempts", reads, validQuery(attemptsQuery), async (c) => {
      return c.json(await listAttempts(c.env, scopeOf(c), c.req.param("id"), c.req.valid("query")));
    })
    .get("/webhooks/:id/chats/:chatId", reads, noQuery, async (c) => {
      const { id, chatId } = c.req.param();
      return c.json(await readLine(c.env, scopeOf(c), id, chatId));
    })
    .post("/webhooks/:id/chats/:chatId/skip", writes, noQuery, validBody(skipBody), async (c) => {
      const { id, chatId } = c.req.param();
      const line = await skipEvent(c.env, scopeOf(c), id, chatId, c.req.valid("json").eventId);
      onChange(c, id);
      return c.json(line);
    })
    .post("/webhooks/:id/replays", writes, noQuery, validBody(replayBody), async (c) => {
      const id = c.req.param("id");
      const replay = await startReplay(c.env, scopeOf(c), id, replayRequest(c.req.valid("json")));
      onChange(c, id);
      return c.json({ replay }, 202);
    })
    .get("/webhooks/:id/replays/:replayId", reads, noQuery, async (c) => {
      return c.json({ replay: await readReplay(c.env, scopeOf(c), c.req.param("id"), c.req.param("replayId")) });
    }) as Hono<AdminEnv>;
}
