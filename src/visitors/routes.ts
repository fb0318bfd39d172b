import type { Context, MiddlewareHandler } from "hono";
import { accepts } from "hono/accepts";
import { Hono } from "hono/quick";
import { callObject } from "../calls/call-object.ts";
import { isGoodLink } from "../channels/web/file-link.ts";
import { PROTOCOL, parseClaim } from "../channels/web/identity.ts";
import { isAllowedOrigin } from "../channels/web/origin.ts";
import { SOCKET_REFUSALS, type SocketRefusal } from "../channels/web/socket-policy.ts";
import { readIdempotencyKey } from "../chats/idempotency.ts";
import { readLinkedMedia } from "../chats/media.ts";
import { uploadQuery } from "../chats/upload-media.ts";
import { isOverAbuseLimit, tooManyRequests } from "../http/abuse-limit.ts";
import { bearerToken } from "../http/bearer.ts";
import { created } from "../http/etag.ts";
import type { RequestVariables } from "../http/request-log.ts";
import { fault, readQuery } from "../http/validation.ts";
import { ApiError, type ErrorCode } from "../model/error.ts";
import { appearanceOf, pageFactsOf } from "../model/page-facts.ts";
import { visitorHeaders } from "../model/visitor.ts";
import { configured } from "../platform/config.ts";
import { PLAIN_PAGE_HEADERS } from "../platform/html.ts";
import { causeOf } from "../platform/log.ts";
import {
  type Admitted,
  admitSocket,
  admitVisitor,
  admitVisitorAgain,
  type VisitorRefusal,
  webChannel,
} from "./admit.ts";
import { chatPage, chatPageHeaders, NO_CHANNEL_PAGE } from "./page.ts";
import { uploadOfVisitor } from "./upload.ts";

/**
 * Any site may read the response, so that its widget can tell "not available here" from a lost connection. The response
 * is not a secret: the page's security policy and the socket reveal the same.
 */
const AVAILABILITY_HEADERS = {
  "Access-Control-Allow-Origin": "*",
  "Cache-Control": "private, max-age=60",
  "Cross-Origin-Resource-Policy": "cross-origin",
  Vary: "Origin",
};

/** Who may not upload a file, by why a visitor is not let in. */
const UPLOAD_REFUSALS: Record<VisitorRefusal, ErrorCode> = {
  no_channel: "channel_not_found",
  wrong_origin: "wrong_origin",
  wrong_identity: "wrong_identity",
};

/** A page of any site may upload, if the channel allows its origin: that is checked here, and not by the browser. */
const UPLOAD_PREFLIGHT = {
  "Access-Control-Allow-Headers": "Authorization, Content-Type, Idempotency-Key",
  "Access-Control-Allow-Methods": "POST",
  "Access-Control-Max-Age": "86400",
};

type WebEnv = { Bindings: Env; Variables: RequestVariables };
type WebContext = Context<WebEnv>;

/** Lets pages of any site read the answers, refusals too. */
const readableAnywhere: MiddlewareHandler<WebEnv> = async (c, next) => {
  await next();
  c.res.headers.set("Access-Control-Allow-Origin", "*");
  c.res.headers.set("Access-Control-Expose-Headers", "Idempotent-Replayed, Retry-After");
};

/**
 * The visitors' routes under /web: the page, its socket, its uploads, the files that it shows, and whether a widget may
 * show the chat on the calling site (`{ available: boolean }`, with the look of the launcher). None requires a key.
 */
export const webRoutes = new Hono<WebEnv>()
  .get("/:channelId", async (c) => {
    if (await isOverAbuseLimit(c)) throw tooManyRequests();
    const record = await webChannel(c.env, c.req.param("channelId"));
    if (!record) return noChannel(c);
    const headers = chatPageHeaders(new URL(c.req.url), record.settings.allowedOrigins ?? []);
    return c.body(chatPage(record.id, pageFactsOf(record, Date.now())), 200, headers);
  })
  .get("/:channelId/availability", async (c) => {
    if (await isOverAbuseLimit(c)) throw tooManyRequests();
    const record = await webChannel(c.env, c.req.param("channelId"));
    const ownOrigin = new URL(c.req.url).origin;
    // A browser sends no `Origin` header from the service's own pages.
    const origin = c.req.header("Origin") ?? ownOrigin;
    const available = record !== null && isAllowedOrigin(origin, ownOrigin, record.settings.allowedOrigins);
    return c.json({ available, ...(available && appearanceOf(record, Date.now())) }, 200, AVAILABILITY_HEADERS);
  })
  .get("/:channelId/socket", async (c) => {
    // Hono routes HEAD requests here too, and the response to HEAD can't be a socket.
    const isUpgrade = c.req.method === "GET" && c.req.header("Upgrade")?.toLowerCase() === "websocket";
    if (!isUpgrade) throw fault("Upgrade", "must be websocket");
    const socket = await openSocket(c, c.req.param("channelId"));
    return new Response(null, { status: 101, webSocket: socket, headers: protocolHeader(c) });
  })
  .get("/:channelId/media/:chatId/:messageId", async (c) => {
    if (await isOverAbuseLimit(c)) throw tooManyRequests();
    const file = c.req.param();
    const keys = [configured(c.env, "KEY_SECRET"), configured(c.env, "KEY_SECRET_PREVIOUS") ?? []].flat();
    const isGood = isGoodLink(keys, file, new URL(c.req.url).searchParams, Date.now());
    const record = isGood ? await webChannel(c.env, file.channelId) : null;
    if (!record) throw new ApiError("media_not_found");
    return readLinkedMedia(c.env, record, file, c.req.raw);
  })
  .options("/:channelId/media", readableAnywhere, (c) => c.body(null, 204, UPLOAD_PREFLIGHT))
  .post("/:channelId/media", readableAnywhere, async (c) => {
    if (await isOverAbuseLimit(c)) throw tooManyRequests();
    const claim = parseClaim(bearerToken(c));
    if (!claim) throw new ApiError("wrong_identity");
    const channelId = c.req.param("channelId");
    const admitted = uploader(await admitVisitor(c.env, channelId, c.req.raw, claim));
    if (admitted instanceof ApiError) throw admitted;
    const { fileName = null } = readQuery(c, uploadQuery);
    const given = { fileName, idempotencyKey: readIdempotencyKey(c) };
    const refusal = async () => {
      const again = uploader(await admitVisitorAgain(c.env, channelId, c.req.raw, claim));
      return again instanceof ApiError ? again : null;
    };
    const waitUntil = (work: Promise<unknown>) => c.executionCtx.waitUntil(work);
    const { doc, replayed } = await uploadOfVisitor(c.env, admitted, c.req.raw, given, refusal, waitUntil);
    return created(c, `{"media":${doc}}`, replayed);
  });

/** Who uploads, or why nobody does. */
function uploader(admitted: Admitted | VisitorRefusal): Admitted | ApiError {
  if (typeof admitted === "string") return new ApiError(UPLOAD_REFUSALS[admitted]);
  return admitted.visitor.hasUploads ? admitted : new ApiError("uploads_off");
}

/** A 404: a page for browsers, a JSON error for programs. */
function noChannel(c: WebContext): Response {
  const supports = ["application/json", "text/html"];
  const type = accepts(c, { header: "Accept", supports, default: "application/json" });
  if (type !== "text/html") throw new ApiError("channel_not_found", { headers: { Vary: "Accept" } });
  return c.body(NO_CHANNEL_PAGE, 404, PLAIN_PAGE_HEADERS);
}

/** The visitor's end of a socket: to the chat's object, or to a socket that is closed immediately with a reason. */
async function openSocket(c: WebContext, channelId: string): Promise<WebSocket> {
  try {
    if (await isOverAbuseLimit(c)) return refusedSocket("try_later");
    const admitted = await admitSocket(c.env, channelId, c.req.raw);
    if (typeof admitted === "string") return refusedSocket(admitted);
    const { visitor, region } = admitted;
    // A new request, so that no header of the visitor can pass for a verified one, and no token is forwarded.
    const headers = visitorHeaders(visitor);
    const upgrade = (chat: Fetcher) => chat.fetch("https://chat/socket", { headers });
    const { webSocket } = await callObject(c.env.CHATS, visitor.chatId, upgrade, region);
    if (!webSocket) throw new Error("The chat object did not open a socket");
    return webSocket;
  } catch (error) {
    console.error({ event: "socket_not_opened", channelId, error: causeOf(error) });
    return refusedSocket("try_later");
  }
}

function refusedSocket(refusal: SocketRefusal): WebSocket {
  const { 0: page, 1: socket } = new WebSocketPair();
  const { code, reason } = SOCKET_REFUSALS[refusal];
  socket.accept();
  socket.close(code, reason);
  return page;
}

/** A browser closes a socket if the server selects a subprotocol that the browser did not offer. */
function protocolHeader(c: WebContext): Record<string, string> {
  const offered = c.req
    .header("Sec-WebSocket-Protocol")
    ?.split(",")
    .map((protocol) => protocol.trim());
  return offered?.includes(PROTOCOL) ? { "Sec-WebSocket-Protocol": PROTOCOL } : {};
}
