import type { Context, MiddlewareHandler } from "hono";
import { Hono } from "hono/quick";
import { channelRecord, isKnownChannel, verifyChannel } from "../calls/channel-record.ts";
import type { Adapter } from "../channels/network/adapter.ts";
import { ADAPTERS } from "../channels/registry.ts";
import { blockStrangers } from "../http/abuse-limit.ts";
import { readBytes } from "../http/body.ts";
import { needs } from "../http/needs.ts";
import type { RequestVariables } from "../http/request-log.ts";
import { ApiError } from "../model/error.ts";
import { storeWebhook } from "./store-webhook.ts";

type WebhookEnv = { Bindings: Env; Variables: RequestVariables };
type WebhookContext = Context<WebhookEnv, `/${string}/:channelId`>;

/** A call of a network. */
export const MAX_CALL_BODY = 4 * 1_024 * 1_024;

// A network calls for all its customers from a few addresses. One customer's wrong secret must not limit the others.
const limit = blockStrangers(({ env, req }) => isKnownChannel(env, req.param("channelId") ?? ""));

/**
 * The networks' webhooks, `/<kind>/:channelId`. A genuine call is stored before the 200. If storing fails, the answer is
 * a 503, and the network repeats the call. Nothing is stored of a call that is not genuine.
 */
export const webhookRoutes = new Hono<WebhookEnv>().use(needs("CREDENTIALS_KEY", "CREDENTIALS_KEY_PREVIOUS"));

for (const [kind, adapter] of Object.entries(ADAPTERS)) {
  const { handshake } = adapter;
  webhookRoutes.post(`/${kind}/:channelId`, limit, requireChannel(kind), (c) => receive(c, adapter));
  if (handshake) webhookRoutes.get(`/${kind}/:channelId`, limit, (c) => answerHandshake(c, kind, handshake));
}

/** Refuses a call for an unknown channel or a channel of another kind before the body is read into memory. */
function requireChannel(kind: string): MiddlewareHandler<WebhookEnv, `/${string}/:channelId`> {
  return async function checkChannel(c, next) {
    const channel = await channelRecord(c.env, c.req.param("channelId"));
    if (channel?.kind !== kind) throw new ApiError("webhook_not_genuine");
    await next();
  };
}

async function receive(c: WebhookContext, adapter: Adapter): Promise<Response> {
  const { raw } = c.req;
  let body: ReturnType<typeof readBytes> | undefined;
  // A call can be verified twice, with an older and a newer secret.
  const request = { headers: raw.headers, readBody: () => (body ??= readBytes(raw, MAX_CALL_BODY)) };
  const found = await verifyChannel(c.env, c.req.param("channelId"), async (channel) => {
    const receipt = await adapter.receive(request, channel.credentials, channel.verifyToken ?? "");
    return receipt.genuine ? receipt : null;
  });
  if (!found?.verified) throw new ApiError("webhook_not_genuine");
  const { origin } = new URL(c.req.url);
  const waitUntil = (work: Promise<void>) => c.executionCtx.waitUntil(work);
  const call = { channel: found.record, origin, requestId: c.var.requestId, waitUntil };
  await storeWebhook(c.env, call, found.verified);
  return c.json({ ok: true });
}

/** Answers a network's handshake, which proves that the URL is ours. */
async function answerHandshake(
  c: WebhookContext,
  kind: string,
  handshake: NonNullable<Adapter["handshake"]>,
): Promise<Response> {
  const query = new URL(c.req.url).searchParams;
  const found = await verifyChannel(c.env, c.req.param("channelId"), async (channel) =>
    channel.kind === kind ? handshake(query, channel.verifyToken ?? "") : null,
  );
  if (!found || found.verified === null) throw new ApiError("handshake_refused");
  return c.text(found.verified);
}
