import { type Context, Hono, type MiddlewareHandler } from "hono";
import type { RequestVariables } from "../http/request-log.ts";
import { noQuery, validBody, validQuery } from "../http/validation.ts";
import { type KeyVariables, requirePermission } from "../keys/guard.ts";
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

/** The context of the routes of webhooks. `caller` is absent in the operator's routes. */
export type WebhookEnv = {
  Bindings: Env;
  Variables: RequestVariables & Partial<KeyVariables> & { isAudited?: boolean };
};

type WebhookContext = Context<WebhookEnv>;

/** What differs between the routes of keys and those of the operator. */
export interface WebhookAccess {
  /** The path of the list of an organization's webhooks. */
  list: "/webhooks" | "/organizations/:id/webhooks";
  reads: MiddlewareHandler<WebhookEnv>;
  writes: MiddlewareHandler<WebhookEnv>;
  scopeOf: (c: WebhookContext) => WebhookScope;
  /** The organization of a request to `list`. */
  organizationOf: (c: WebhookContext) => string;
  /** Called after a change, with the id of the webhook. */
  onChange: (c: WebhookContext, id: string) => void;
}

/** The routes of webhooks, for keys or for the operator. */
export function webhookRoutesFor(access: WebhookAccess): Hono<WebhookEnv> {
  const { list, reads, writes, scopeOf, organizationOf, onChange } = access;
  return new Hono<WebhookEnv>()
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
    }) as Hono<WebhookEnv>;
}

/** The host of this service, as the client called it. */
export function ownHostOf(c: WebhookContext): string {
  return new URL(c.req.url).host;
}

/** The routes of webhooks for the clients of an organization. */
export const ownWebhookRoutes = webhookRoutesFor({
  list: "/webhooks",
  reads: requirePermission("webhooks:read") as MiddlewareHandler,
  writes: requirePermission("webhooks:write") as MiddlewareHandler,
  scopeOf: (c) => ({
    scope: { organizationId: callerOf(c).organizationId },
    actor: callerOf(c).principal.id,
    ownHost: ownHostOf(c),
  }),
  organizationOf: (c) => callerOf(c).organizationId,
  onChange: () => {},
});

function callerOf(c: WebhookContext): KeyVariables["caller"] {
  const { caller } = c.var;
  if (!caller) throw new Error("a route of webhooks has no permission line");
  return caller;
}
