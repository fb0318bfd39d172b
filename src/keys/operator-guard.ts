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

/**
 * Middleware for a prefix: checks the operator's token in constant time.
 * @param other a variable with another token that is accepted too, if it is set
 */
export function authenticateOperator(other?: "METRICS_TOKEN"): MiddlewareHandler<AdminEnv> {
  return async function authenticateAdmin(c, next) {
    const token = bearerToken(c);
    const another = other && configured(c.env, other);
    const isAccepted =
      (await isSameSecret(token, configured(c.env, "ADMIN_TOKEN"))) ||
      (another !== undefined && (await isSameSecret(token, another)));
    if (!isAccepted) throw new ApiError("invalid_api_key");
    await next();
  };
}
