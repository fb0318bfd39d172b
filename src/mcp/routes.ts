import { Hono } from "hono/quick";
import type { ChatsContext, ChatsEnv } from "../chats/context.ts";
import { type Before, before } from "../http/before.ts";
import { json } from "../http/etag.ts";
import { noQuery } from "../http/validation.ts";
import { requirePermission } from "../keys/guard.ts";
import { ApiError } from "../model/error.ts";
import { callTool, toolsOf } from "./call-tool.ts";
import { type RequestId, RpcError, type RpcRequest, readRequest } from "./json-rpc.ts";
import { type Dialect, dialectOf, discovered, initialized, listed, written } from "./protocol.ts";

/** Refuses what a browser sends: a page must not use a key that its visitor has, or a server on its visitor's machine. */
export function refuseOrigin(): Before {
  return before((c) => {
    if (c.req.header("Origin") === undefined) return undefined;
    const text = "Browsers can't call this endpoint. An agent's program calls it, without the header Origin";
    throw new ApiError("cross_site", { text });
  });
}

/**
 * The endpoint for agents: JSON-RPC, one message a request, and nothing is kept between requests.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
export const mcpRoutes = new Hono<ChatsEnv>().post("/mcp", requirePermission(null), noQuery, async (c) => {
  let id: RequestId | undefined;
  try {
    const request = await readRequest(c.req.raw);
    id = request.id;
    const dialect = dialectOf(request, c.req.raw.headers);
    if (id === undefined) return c.body(null, 202);
    const result = written(await resultOf(c, request, dialect), dialect);
    return json(c, JSON.stringify({ jsonrpc: "2.0", id, result }));
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const { code, message, data, status } = error;
    const answer = { jsonrpc: "2.0", id, error: { code, message, ...(data !== undefined && { data }) } };
    return json(c, JSON.stringify(answer), status);
  }
});

async function resultOf(c: ChatsContext, { method, params }: RpcRequest, dialect: Dialect): Promise<object> {
  const { isModern } = dialect;
  if (method === "tools/list") return listed(params, toolsOf(c.var.caller), dialect);
  if (method === "tools/call") return callTool(c, params);
  if (method === "server/discover" && isModern) return discovered();
  if (method === "initialize" && !isModern) return initialized(params);
  if (method === "ping" && !isModern) return {};
  throw new RpcError("methodNotFound", `Method not found: ${method}`, { status: isModern ? 404 : 200 });
}
