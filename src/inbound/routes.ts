import { type Context, Hono, type MiddlewareHandler } from "hono";
import type { Adapter } from "../channels/adapter.ts";
import { channelRecord, isKnownChannel, verifyChannel } from "../channels/record.ts";
import { ADAPTERS } from "../channels/registry.ts";
import { needs } from "../config.ts";
import { blockStrangers } from "../http/abuse-limit.ts";
import { readBytes } from "../http/body.ts";
import { ApiError } from "../http/errors.ts";
import type { RequestVariables } from "../http/request-log.ts";
import { storeWebhook } from "./store-webhook.ts";

type HookEnv = { Bindings: Env; Variables: RequestVariables };
type HookContext = Context<HookEnv, `/${string}/:channelId`>;

const MAX_BODY = 4 * 1_024 * 1_024;

// A network calls for all customers from few addresses: what one of them has wrong must not hold the others up.
const hold = blockStrangers(({ env, req }) => isKnownChannel(env, req.param("channelId") ?? ""));

/**
 * The webhooks of the networks, `/<kind>/:channelId`. What is genuine is stored before the 200; what could not be
 * stored is a 503, so that the network sends it again. A call that is not genuine leaves no trace.
 */
export const hookRoutes = new Hono<HookEnv>().use(needs("CREDENTIALS_KEY", "CREDENTIALS_KEY_PREVIOUS"));

for (const [kind, adapter] of Object.entries(ADAPTERS)) {
  const { handshake } = adapter;
  hookRoutes.post(`/${kind}/:channelId`, hold, ofChannel(kind), (c) => receive(c, adapter));
  if (handshake) hookRoutes.get(`/${kind}/:channelId`, hold, (c) => greet(c, kind, handshake));
}

/** A stranger's call, for no channel or one of another kind, is refused before its body takes any memory. */
function ofChannel(kind: string): MiddlewareHandler<HookEnv, `/${string}/:channelId`> {
  return async function checkChannel(c, next) {
    const channel = await channelRecord(c.env, c.req.param("channelId"));
    if (channel?.kind !== kind) throw new ApiError("webhook_not_genuine");
    await next();
  };
}

async function receive(c: HookContext, adapter: Adapter): Promise<Response> {
  const request = { headers: c.req.raw.headers, body: await readBytes(c.req.raw, MAX_BODY) };
  const found = await verifyChannel(c.env, c.req.param("channelId"), async (channel) => {
    const receipt = await adapter.receive(request, channel.credentials, channel.verifyToken ?? "");
    return receipt.genuine ? receipt : null;
  });
  if (!found?.verified) throw new ApiError("webhook_not_genuine");
  const { origin } = new URL(c.req.url);
  await storeWebhook(c.env, { channel: found.record, origin, requestId: c.var.requestId }, found.verified);
  return c.json({ ok: true });
}

/** Answers a network that asks whether the address is ours. */
async function greet(c: HookContext, kind: string, handshake: NonNullable<Adapter["handshake"]>): Promise<Response> {
  const query = new URL(c.req.url).searchParams;
  const found = await verifyChannel(c.env, c.req.param("channelId"), async (channel) =>
    channel.kind === kind ? handshake(query, channel.verifyToken ?? "") : null,
  );
  if (!found || found.verified === null) throw new ApiError("handshake_refused");
  return c.text(found.verified);
}
