import type { Context, MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import { configured } from "../config.ts";
import { bearerToken } from "../http/bearer.ts";
import { ApiError } from "../http/errors.ts";
import type { RequestVariables } from "../http/request-log.ts";
import { isSameSecret } from "../same-secret.ts";

export type AdminEnv = { Bindings: Env; Variables: RequestVariables };

/** For the whole prefix: the operator's token, compared in constant time. */
export function authenticateOperator(): MiddlewareHandler<AdminEnv> {
  return async function authenticateAdmin(c, next) {
    const isOperator = await isSameSecret(bearerToken(c), configured(c.env, "ADMIN_TOKEN"));
    if (!isOperator) throw new ApiError("invalid_api_key");
    await next();
  };
}

/** The one line that each write of the operator leaves in the log: which route, and the id of what it changed. */
export function audit(c: Context<AdminEnv>, id: string | null): void {
  console.log({ event: "audit", requestId: c.var.requestId, method: c.req.method, route: routePath(c), id });
}
