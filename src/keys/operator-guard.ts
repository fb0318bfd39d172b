import type { MiddlewareHandler } from "hono";
import { bearerToken } from "../http/bearer.ts";
import type { RequestVariables } from "../http/request-log.ts";
import { ApiError } from "../model/error.ts";
import { configured } from "../platform/config.ts";
import { isSameSecret } from "../secrets/compare.ts";
import type { KeyVariables } from "./guard.ts";

/** `caller` is absent in the operator's routes. */
export type AdminEnv = {
  Bindings: Env;
  Variables: RequestVariables & Partial<KeyVariables>;
};

/** Middleware for the whole prefix: checks the operator's token in constant time. */
export function authenticateOperator(): MiddlewareHandler<AdminEnv> {
  return async function authenticateAdmin(c, next) {
    const isOperator = await isSameSecret(bearerToken(c), configured(c.env, "ADMIN_TOKEN"));
    if (!isOperator) throw new ApiError("invalid_api_key");
    await next();
  };
}
