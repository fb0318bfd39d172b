import type { Context, MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import { configured } from "../config.ts";
import { bearerToken } from "../http/bearer.ts";
import { ApiError } from "../http/errors.ts";
import type { RequestVariables } from "../http/request-log.ts";
import type { KeyVariables } from "../keys/guard.ts";
import { isSameSecret } from "../secrets/compare.ts";

/** `caller` is absent in the operator's routes. */
export type AdminEnv = {
  Bindings: Env;
  Variables: RequestVariables & Partial<KeyVariables> & { isAudited?: boolean };
};

/** Middleware for the whole prefix: checks the operator's token in constant time. */
export function authenticateOperator(): MiddlewareHandler<AdminEnv> {
  return async function authenticateAdmin(c, next) {
    const isOperator = await isSameSecret(bearerToken(c), configured(c.env, "ADMIN_TOKEN"));
    if (!isOperator) throw new ApiError("invalid_api_key");
    await next();
  };
}

/** Logs a write of the operator, of a key or of a member: its route and the id of the changed resource. Each write has one such line. */
export function audit(c: Context<AdminEnv>, id: string | null): void {
  writeLine(c, id);
  c.set("isAudited", true);
}

/**
 * Middleware for the whole prefix: logs a write that fails with a 5xx with the outcome `unknown`, because it may have
 * been made. The id is then the one in the path.
 */
export function auditFailures(): MiddlewareHandler<AdminEnv> {
  return async function auditFailure(c, next) {
    await next();
    const isRead = c.req.method === "GET" || c.req.method === "HEAD";
    if (isRead || c.res.status < 500 || c.var.isAudited) return;
    writeLine(c, c.req.param("messageId") ?? c.req.param("id") ?? null, "unknown");
  };
}

function writeLine(c: Context<AdminEnv>, id: string | null, outcome?: "unknown"): void {
  const { requestId } = c.var;
  const { type, id: who } = c.var.caller?.principal ?? {};
  const maker = { ...(type === "key" && { keyId: who }), ...(type === "member" && { memberId: who }) };
  const line = { event: "audit", requestId, method: c.req.method, route: routePath(c), id, ...maker };
  console.log(outcome ? { ...line, outcome } : line);
}
