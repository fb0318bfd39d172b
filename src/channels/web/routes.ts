import { type Context, Hono } from "hono";
import { accepts } from "hono/accepts";
import { isOverAbuseLimit, tooManyRequests } from "../../http/abuse-limit.ts";
import { ApiError } from "../../http/errors.ts";
import { fault } from "../../http/validation.ts";
import { causeOf } from "../../log.ts";
import { callObject } from "../../platform/call-object.ts";
import { admitVisitor, SOCKET_REFUSALS, type SocketRefusal, webChannel } from "./admit.ts";
import { PROTOCOL } from "./identity.ts";
import { isAllowedOrigin } from "./origin.ts";
import { chatPage, chatPageHeaders, NO_CHANNEL_PAGE, NO_CHANNEL_PAGE_HEADERS } from "./page.ts";
import { visitorHeaders } from "./visitor.ts";

/**
 * Any site may read the answer, so that its widget can tell "not here" from a lost connection. The answer is no secret:
 * the page's own policy and the socket say the same.
 */
const AVAILABILITY_HEADERS = {
  "Access-Control-Allow-Origin": "*",
  "Cache-Control": "private, max-age=60",
  "Cross-Origin-Resource-Policy": "cross-origin",
  Vary: "Origin",
};

type WebContext = Context<{ Bindings: Env }>;

/**
 * The visitors' routes under /web. None of them needs a key: the page, its socket, and whether a widget may show the
 * chat on the site that asks (`{ available: boolean }`).
 */
export const webRoutes = new Hono<{ Bindings: Env }>()
  .get("/:channelId", async (c) => {
    if (await isOverAbuseLimit(c)) throw tooManyRequests();
    const record = await webChannel(c.env, c.req.param("channelId"));
    if (!record) return noChannel(c);
    const headers = chatPageHeaders(new URL(c.req.url), record.settings.allowedOrigins ?? []);
    return c.body(chatPage({ channelId: record.id, name: record.name }), 200, headers);
  })
  .get("/:channelId/availability", async (c) => {
    if (await isOverAbuseLimit(c)) throw tooManyRequests();
    const record = await webChannel(c.env, c.req.param("channelId"));
    const own = new URL(c.req.url).origin;
    // A browser names no origin when a page of our own asks.
    const origin = c.req.header("Origin") ?? own;
    const available = record !== null && isAllowedOrigin(origin, own, record.settings.allowedOrigins);
    return c.json({ available }, 200, AVAILABILITY_HEADERS);
  })
  .get("/:channelId/socket", async (c) => {
    // A HEAD comes here too, and its answer can't be a socket.
    const isUpgrade = c.req.method === "GET" && c.req.header("Upgrade")?.toLowerCase() === "websocket";
    if (!isUpgrade) throw fault("Upgrade", "must be websocket");
    const socket = await openSocket(c, c.req.param("channelId"));
    return new Response(null, { status: 101, webSocket: socket, headers: protocolHeader(c) });
  });

/** A page for people, and the error as JSON for programs. */
function noChannel(c: WebContext): Response {
  const supports = ["application/json", "text/html"];
  const wanted = accepts(c, { header: "Accept", supports, default: "application/json" });
  if (wanted !== "text/html") throw new ApiError("channel_not_found", { headers: { Vary: "Accept" } });
  return c.body(NO_CHANNEL_PAGE, 404, NO_CHANNEL_PAGE_HEADERS);
}

/** The visitor's end of a socket: of the chat's own object, or of one that is closed at once and says why. */
async function openSocket(c: WebContext, channelId: string): Promise<WebSocket> {
  try {
    if (await isOverAbuseLimit(c)) return refusedSocket("try_later");
    const admitted = await admitVisitor(c.env, channelId, c.req.raw);
    if (typeof admitted === "string") return refusedSocket(admitted);
    const { visitor, region } = admitted;
    // A request of our own: no header of the visitor's can pass for what was found out here, and no token goes on.
    const headers = visitorHeaders(visitor);
    const upgrade = (chat: Fetcher) => chat.fetch("https://chat/socket", { headers });
    const { webSocket } = await callObject(c.env.CHATS, visitor.chatId, upgrade, region);
    if (!webSocket) throw new Error("The chat's object opened no socket");
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

/** A browser gives up a socket whose server names a subprotocol that was not offered. */
function protocolHeader(c: WebContext): Record<string, string> {
  const offered = c.req
    .header("Sec-WebSocket-Protocol")
    ?.split(",")
    .map((protocol) => protocol.trim());
  return offered?.includes(PROTOCOL) ? { "Sec-WebSocket-Protocol": PROTOCOL } : {};
}
