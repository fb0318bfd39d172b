import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { Receipt, Received } from "../channels/adapter.ts";
import { type ChannelRecord, verifyChannel } from "../channels/record.ts";
import { ADAPTERS, type NetworkKind } from "../channels/registry.ts";
import { handshake } from "../channels/whatsapp/webhook.ts";
import { takeIn } from "../chats/inbound.ts";
import { needs } from "../config.ts";
import { isOutage } from "../db/client.ts";
import { ApiError, unavailable } from "../http/errors.ts";
import type { RequestVariables } from "../http/request-log.ts";
import { causeOf } from "../log.ts";
import { findAccount } from "./account.ts";

type HookEnv = { Bindings: Env; Variables: RequestVariables };
type HookContext = Context<HookEnv, "/:channelId">;

const limit = bodyLimit({
  maxSize: 4 * 1_024 * 1_024,
  onError: () => {
    throw new ApiError("body_too_large");
  },
});

/**
 * The webhooks of the networks. What is genuine is stored before the 200; what could not be stored is a 503, so that
 * the network sends it again. A call that is not genuine leaves no trace.
 */
export const hookRoutes = new Hono<HookEnv>()
  .use(needs("CREDENTIALS_KEY", "CREDENTIALS_KEY_PREVIOUS"))
  .post("/telegram/:channelId", limit, (c) => receive(c, "telegram"))
  .post("/whatsapp/:channelId", limit, (c) => receive(c, "whatsapp"))
  .get("/whatsapp/:channelId", async (c) => {
    const found = await verifyChannel(c.env, c.req.param("channelId"), async ({ kind, verifyToken }) =>
      kind === "whatsapp" ? handshake(new URL(c.req.url).searchParams, verifyToken ?? "") : null,
    );
    if (!found || found.verified === null) throw new ApiError("handshake_refused");
    return c.text(found.verified, 200, { "X-Content-Type-Options": "nosniff" });
  });

async function receive(c: HookContext, kind: NetworkKind): Promise<Response> {
  const request = { headers: c.req.raw.headers, body: new Uint8Array(await c.req.arrayBuffer()) };
  const found = await verifyChannel(c.env, c.req.param("channelId"), async (channel) => {
    if (channel.kind !== kind) return null;
    const receipt = await ADAPTERS[kind].receive(request, channel.credentials, channel.verifyToken ?? "");
    return receipt.genuine ? receipt : null;
  });
  if (!found?.verified) throw new ApiError("webhook_not_genuine");
  await takeAll(c, found.record, found.verified);
  return c.json({ ok: true });
}

/** Stores each item by itself; those of one contact in their order. */
async function takeAll(c: HookContext, channel: ChannelRecord, receipt: Receipt & { genuine: true }): Promise<void> {
  for (const note of receipt.notes) log(c, channel, note);
  const accounts = Map.groupBy(receipt.received, ({ account }) => account);
  await allOf([...accounts].map(([account, received]) => takeAccount(c, channel, account, received)));
}

async function takeAccount(c: HookContext, channel: ChannelRecord, account: string | null, received: Received[]) {
  const to = await findAccount(c.env, channel, account);
  if (!to) return log(c, channel, `unknown_account, ${received.length} items`);
  const items = received.map(({ item }) => item);
  const ofContacts = Map.groupBy(items, (item) => (item.kind === "address" ? item.from : item.address));
  await allOf([...ofContacts.values()].map((line) => takeLine(c, to, line)));
}

/** Lets all come to their end, and fails if one of them failed. */
async function allOf(lines: Promise<void>[]): Promise<void> {
  const taken = await Promise.allSettled(lines);
  const failed = taken.find((result) => result.status === "rejected");
  if (failed) throw failed.reason;
}

async function takeLine(c: HookContext, channel: ChannelRecord, line: Received["item"][]): Promise<void> {
  const { origin } = new URL(c.req.url);
  for (const item of line) {
    try {
      log(c, channel, `${item.kind} ${await takeIn(c.env, channel, origin, item)}`);
    } catch (error) {
      if (isOutage(error)) throw unavailable(error);
      if (error instanceof ApiError) throw error;
      // A fault of ours would be the same each time: repeated for days, it would hold up all that comes behind it.
      console.error({ event: "webhook_item_failed", requestId: c.var.requestId, cause: causeOf(error) });
    }
  }
}

function log(c: HookContext, channel: ChannelRecord, what: string): void {
  console.log({ event: "webhook", requestId: c.var.requestId, channelId: channel.id, what });
}
