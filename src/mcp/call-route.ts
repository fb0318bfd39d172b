import { Hono } from "hono/quick";
import type { ChatsContext, ChatsEnv } from "../chats/context.ts";
import { chatRoutes } from "../chats/routes.ts";
import { asApiError } from "../db/error-for-client.ts";
import { before } from "../http/before.ts";
import { keyAccess } from "../keys/access.ts";
import { templateRoutesFor } from "../management/template-routes.ts";
import { searchRoutes } from "../search/routes.ts";

/** A request to one of the API's own routes. */
export interface RouteRequest {
  method: "GET" | "POST" | "PATCH";
  /** Below `/api/v1`. */
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  body?: object;
  idempotencyKey?: string | undefined;
}

/** The requests under way: for whom each is made, and the error with which it ended. */
const asked = new WeakMap<Request, { by: ChatsContext; error?: unknown }>();

/** The routes that tools call. They are those of the API, with its permissions, checks and entries in the audit log. */
const routes = new Hono<ChatsEnv>()
  .use(
    before<ChatsEnv>((c) => {
      const { by } = asked.get(c.req.raw) ?? {};
      if (!by) throw new Error("a route was called for nobody");
      const { key, caller, requestId, responseHeaders } = by.var;
      if (key) c.set("key", key);
      c.set("admitted", caller);
      c.set("requestId", requestId);
      c.set("responseHeaders", { ...responseHeaders, own: {} });
      return undefined;
    }),
  )
  .route("/", chatRoutes)
  .route("/", searchRoutes)
  .route("/", templateRoutesFor(keyAccess))
  .onError((error, c) => {
    const request = asked.get(c.req.raw);
    if (request) request.error = error;
    // The audit log has the status.
    return new Response(null, { status: asApiError(error).status });
  });

/**
 * Calls a route for the key of a request, which was admitted and counted once.
 * @returns the JSON of its response
 * @throws what the route throws
 */
export async function callRoute(c: ChatsContext, { method, path, query = {}, body, idempotencyKey }: RouteRequest) {
  const url = new URL(path, c.req.url);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  const headers = idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey };
  const request = new Request(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const call: { by: ChatsContext; error?: unknown } = { by: c };
  asked.set(request, call);
  const response = await routes.fetch(request, c.env, c.executionCtx);
  if (call.error !== undefined) throw call.error;
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}`);
  return response.json();
}
